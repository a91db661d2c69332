// Going to another version, or deleting one, changes what follows on the page, never where the reader stands: the two
// buttons stay under the hand, and the focus on them. (Templates ask htmx not to wait before it settles what it swapped:
// a key pressed meanwhile would submit the form as without a script.)
import { announce } from "./announce.js";

const page = document.scrollingElement;
let place = null;

function fork(form) {
  return form.matches(".versions") ? form : form.closest(".confirm").parentElement.querySelector(".versions");
}

function focusOn(versions, direction) {
  const [previous, next] = versions.querySelectorAll("button");
  const wanted = direction === "next" ? [next, previous] : [previous, next];
  wanted.find((button) => !button.disabled)?.focus({ preventScroll: true });
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const form = detail.requestConfig.elt;
  if (!form.matches("[data-keeps-place]")) return;
  const versions = fork(form);
  const button = document.activeElement;
  const direction = button?.getAttribute("aria-label")?.startsWith("Next") ? "next" : "previous";
  place = { id: versions?.id, top: form.getBoundingClientRect().top, direction };
});

document.addEventListener("htmx:afterSwap", ({ target, detail }) => {
  if (!place || target.id !== "thread" || !detail.requestConfig?.elt.matches("[data-keeps-place]")) return;
  const versions = document.getElementById(place.id);
  if (versions) {
    page.scrollTop += versions.getBoundingClientRect().top - place.top;
    focusOn(versions, place.direction);
    announce(versions.querySelector(".versions-count .visually-hidden").textContent);
  } else {
    document.querySelector("main").focus({ preventScroll: true });
    announce("The version was deleted.");
  }
  place = null;
});
