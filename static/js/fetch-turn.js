// Asks the server for a turn as it is stored and puts it in the place of the one shown.
import { report, reportLoggedOut } from "./problems.js";

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

// In the place of the turn shown, or where the server says: a reply that brought nothing leads back to a whole branch.
function put(turn, headers, article) {
  const edit = article.querySelector("edit-question");
  const isTyping = edit?.contains(document.activeElement);
  // A call whose details somebody is reading stays open.
  const open = Array.from(article.querySelectorAll("details[data-call][open]"), (call) => call.dataset.call);
  const reading = document.activeElement?.closest("details[data-call]")?.dataset.call;
  // Whoever is editing the question goes on, or waits for what they have just saved.
  edit?.remove();
  const swapStyle = headers.get("HX-Reswap")?.split(" ")[0] ?? "outerHTML";
  htmx.swap(headers.get("HX-Retarget") ?? article, turn, { swapStyle });
  const shown = document.getElementById(article.id);
  for (const call of shown?.querySelectorAll("details[data-call]") ?? []) {
    call.open = open.includes(call.dataset.call);
    if (call.dataset.call === reading) call.querySelector("summary").focus({ preventScroll: true });
  }
  if (edit) shown?.querySelector(".prompt").replaceWith(edit);
  if (isTyping) edit.querySelector("textarea").focus({ preventScroll: true });
}

// True when there is nothing left to ask for; false when it is worth trying again.
export async function fetchTurn(address, article) {
  const response = await ask(address);
  if (!response || response.status >= 500 || response.status === 429) return false;
  if (response.ok) {
    const turn = await response.text();
    // Whoever is copying from the reply keeps what is marked.
    await untilNothingIsSelected(article);
    if (article.isConnected) put(turn, response.headers, article);
  } else if (response.status === 404 || response.status === 410) {
    report("This reply no longer exists.", { action: { label: "Load the conversation" } });
  } else {
    reportLoggedOut();
  }
  return true;
}
