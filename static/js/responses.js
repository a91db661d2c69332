// What becomes of a response to htmx that is not the part it asked for.
import { report, reportGone, reportLoggedOut } from "./problems.js";

function isWholePage(xhr) {
  return /^\s*<(!doctype|html)/i.test(xhr.responseText);
}

function isLogIn(xhr) {
  if ([401, 403].includes(xhr.status)) return true;
  return Boolean(xhr.responseURL) && new URL(xhr.responseURL).pathname === document.body.dataset.login;
}

// True for the part of a page that was asked for, false for a refusal and for a page somewhere else.
export function isPart(xhr) {
  return xhr.status >= 200 && xhr.status < 300 && !isLogIn(xhr) && !isWholePage(xhr);
}

function explain(xhr, isSending) {
  if (isLogIn(xhr)) reportLoggedOut();
  else if (xhr.status === 404 || xhr.status === 410) reportGone({ isSending });
  else if (xhr.status === 413) report(xhr.responseText);
  else if (xhr.status === 429) report("That was too fast. Wait a moment, then try again.");
  else report("The server could not do that just now. Nothing is lost; try again.");
}

// The same turn may come twice, when the first answer to a send was lost on the way.
function shownAlready(xhr) {
  if (xhr.getResponseHeader("HX-Reswap")) return null; // A whole branch, which takes the place of all there is.
  const id = /<article[^>]* id="([^"]+)"/.exec(xhr.responseText)?.[1];
  return id && document.getElementById(id);
}

// The server's own sentence about what it refused.
function isRefusal(xhr) {
  const isHtml = xhr.getResponseHeader("Content-Type")?.startsWith("text/html");
  return xhr.status >= 400 && xhr.status < 500 && isHtml && !isLogIn(xhr) && !isWholePage(xhr) && xhr.responseText.trim();
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { xhr } = detail;
  const editing = detail.requestConfig.elt.closest("edit-question");
  const problem = (editing ?? document).querySelector(editing ? ".edit-problem" : ".composer-problem");
  const isSending = detail.requestConfig.elt.matches("#composer");
  if (isPart(xhr)) {
    const shown = isSending && shownAlready(xhr);
    if (shown) Object.assign(detail, { target: shown, swapOverride: "outerHTML" });
  } else if (problem && isRefusal(xhr)) {
    Object.assign(detail, { shouldSwap: true, target: problem, swapOverride: "innerHTML" });
  } else {
    detail.shouldSwap = false;
    explain(xhr, isSending);
  }
});

for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, () => {
    report("The server cannot be reached. Nothing is lost; try again when you are connected.");
  });
}
