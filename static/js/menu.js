// A menu is a <details>: here it also closes when one clicks elsewhere or presses Escape.
function closeAll(except) {
  for (const menu of document.querySelectorAll(".menu[open]")) {
    if (menu !== except) menu.open = false;
  }
}

document.addEventListener("click", (event) => closeAll(event.target.closest(".menu")));
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector(".menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
