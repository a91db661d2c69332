// Asks the server for a turn as it is stored and puts it in the place of the one shown.
import { reportGone, reportLoggedOut } from "./problems.js";

function untilNothingIsSelected(element) {
  const isSelecting = () => {
    const selection = getSelection();
    return !selection.isCollapsed && selection.containsNode(element, true);
  };
  if (!isSelecting()) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (isSelecting() && element.isConnected) return;
      document.removeEventListener("selectionchange", look);
      resolve();
    };
    document.addEventListener("selectionchange", look);
  });
}

async function ask(address) {
  try {
    return await fetch(address, { headers: { "HX-Request": "true" }, redirect: "manual" });
  } catch {
    return null; // No connection.
  }
}

// A call whose details somebody is reading stays open.
function swapKeepingOpen(article, turn) {
  const open = Array.from(article.querySelectorAll("details[data-call][open]"), (call) => call.dataset.call);
  const { id } = article;
  htmx.swap(article, turn, { swapStyle: "outerHTML" });
  for (const call of document.getElementById(id)?.querySelectorAll("details[data-call]") ?? []) {
    call.open = open.includes(call.dataset.call);
  }
}

// True when there is nothing left to ask for; false when it is worth trying again.
export async function fetchTurn(address, article) {
  const response = await ask(address);
  if (!response || response.status >= 500 || response.status === 429) return false;
  if (response.ok) {
    const turn = await response.text();
    // Whoever is copying from the reply keeps what is marked.
    await untilNothingIsSelected(article);
    if (article.isConnected) swapKeepingOpen(article, turn);
  } else if (response.status === 404 || response.status === 410) {
    reportGone();
  } else {
    reportLoggedOut();
  }
  return true;
}
