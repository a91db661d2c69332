// A menu is a <details>: here it also closes when one clicks elsewhere or presses Escape.
import { announce } from "./announce.js";

function closeAll(except) {
  for (const menu of document.querySelectorAll(".menu[open]")) {
    if (menu !== except) menu.open = false;
  }
}

// Where the click came from, though what was clicked may be gone by now.
function menuOf(event) {
  return event.composedPath().find((element) => element instanceof Element && element.matches(".menu"));
}

document.addEventListener("click", (event) => closeAll(menuOf(event)));
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector(".menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// What was chosen in the menu of a conversation brings the bar anew: the focus goes on from where it was.
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  if (!detail.requestConfig?.elt.matches("#conversation-menu .menu-form")) return;
  document.querySelector("#conversation-menu summary")?.focus({ preventScroll: true });
  announce(document.querySelector("#conversation-title [data-said]")?.textContent ?? "");
});
