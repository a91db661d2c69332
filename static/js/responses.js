// What becomes of a response to htmx that is not the part it asked for.
import { clearProblems, placeFor, report, reportGone, reportLoggedOut } from "./problems.js";
import { newRequestKey } from "./request-key.js";

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

function explain(xhr, { isSending, near }) {
  if (isLogIn(xhr)) reportLoggedOut(near);
  else if (xhr.status === 404 || xhr.status === 410) reportGone({ isSending, near });
  else if (xhr.status === 413) report(xhr.responseText, { near });
  else if (xhr.status === 429) report("That was too fast. Wait a moment, then try again.", { near });
  else report("The server could not do that just now. Nothing is lost; try again.", { near });
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
  const near = detail.requestConfig.elt;
  const problem = placeFor(near);
  const isSending = near.matches("#composer");
  if (isPart(xhr)) {
    const shown = isSending && shownAlready(xhr);
    if (shown) Object.assign(detail, { target: shown, swapOverride: "outerHTML" });
  } else if (detail.target.id === "panel" && isRefusal(xhr)) {
    Object.assign(detail, { shouldSwap: true, isError: false }); // The form again, with what is wrong in it.
  } else if (problem && isRefusal(xhr)) {
    Object.assign(detail, { shouldSwap: true, target: problem, swapOverride: "innerHTML" });
  } else {
    detail.shouldSwap = false;
    explain(xhr, { isSending, near });
  }
});

// What was wrong with the branch that was shown is no longer what is shown.
document.addEventListener("htmx:afterSwap", ({ target }) => target.id === "thread" && clearProblems());

// A form whose key has named something else would be refused with it for ever.
document.addEventListener("key_reused", ({ target }) => {
  target.elements.request_key.value = newRequestKey();
});

for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, ({ target }) => {
    report("The server cannot be reached. Nothing is lost; try again when you are connected.", { near: target });
  });
}
