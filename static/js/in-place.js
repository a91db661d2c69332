// What opens in the place it is about: a question being edited, the asking whether a version shall go. Cancel and
// Escape put things back as they were, without a request.
const before = new Map();

function closeEdit(edit) {
  const question = before.get(edit.dataset.draft);
  edit.replaceWith(question);
  htmx.process(question);
  question.querySelector("[data-edits]").focus({ preventScroll: true });
}

function closeConfirm(confirm) {
  confirm.replaceChildren();
  confirm.parentElement.querySelector("[data-opens-confirm]")?.focus({ preventScroll: true });
}

// True when there was something to close.
function close(element) {
  const edit = element.closest("edit-question");
  const confirm = element.closest(".confirm");
  if (edit && before.has(edit.dataset.draft)) closeEdit(edit);
  else if (confirm) closeConfirm(confirm);
  else return false;
  return true;
}

// The question whose place is taken is remembered under the name of the form that takes it.
let taken = null;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.requestConfig.elt.matches("[data-edits]")) taken = detail.target.cloneNode(true);
});
document.addEventListener("htmx:load", ({ detail }) => {
  if (taken && detail.elt.matches("edit-question")) {
    before.set(detail.elt.dataset.draft, taken);
    taken = null;
  }
});

document.addEventListener("click", (event) => {
  const cancel = event.target.closest("[data-cancel]");
  if (cancel && close(cancel)) event.preventDefault();
});

// Escape presses Cancel, so that both do the same.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  const cancel = event.target.closest("edit-question, .confirm")?.querySelector("[data-cancel]");
  if (!cancel) return;
  event.preventDefault();
  cancel.click();
});
