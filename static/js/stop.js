// Stop is pressed once; only one that did not get through may be pressed again.
import { announce } from "./announce.js";

function allow(isAllowed) {
  for (const button of document.querySelectorAll("[data-stop]")) button.disabled = !isAllowed;
}

document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (!target.matches(".stop-form")) return;
  // A button that cannot be pressed keeps no focus; the next thing one does is to write.
  if (document.activeElement?.matches("[data-stop]")) {
    document.querySelector(".composer-text")?.focus({ preventScroll: true });
  }
  allow(false);
  announce("Stopping the reply.");
});

document.addEventListener("htmx:afterRequest", ({ target, detail }) => {
  if (target.matches(".stop-form") && !detail.successful) allow(true);
});

document.addEventListener("reply:ended", () => allow(true));
