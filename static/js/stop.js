// Stop is pressed once; only one that did not get through may be pressed again.
import { announce } from "./announce.js";

function allow(isAllowed) {
  for (const button of document.querySelectorAll("[data-stop]")) button.disabled = !isAllowed;
}

document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (!target.matches(".stop-form")) return;
  allow(false);
  announce("Stopping the reply.");
});

document.addEventListener("htmx:afterRequest", ({ target, detail }) => {
  if (target.matches(".stop-form") && !detail.successful) allow(true);
});

document.addEventListener("reply:ended", () => allow(true));
