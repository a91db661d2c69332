// In a list in which many are chosen together: one box for all of them, and how many there are.
function show(form) {
  const boxes = Array.from(form.querySelectorAll("input[name=id]"));
  const chosen = boxes.filter((box) => box.checked).length;
  const all = form.querySelector("[data-select-all]");
  all.checked = chosen === boxes.length;
  all.indeterminate = chosen > 0 && chosen < boxes.length;
  form.querySelector("[data-selected]").textContent = chosen ? `${chosen} selected` : "Select all";
  for (const button of form.querySelectorAll("button[name=action]:not([form])")) button.disabled = !chosen;
}

for (const form of document.querySelectorAll("form[data-selects]")) {
  form.addEventListener("change", ({ target }) => {
    if (target.matches("[data-select-all]")) {
      for (const box of form.querySelectorAll("input[name=id]")) box.checked = target.checked;
    }
    show(form);
  });
  addEventListener("pageshow", () => show(form));
}
