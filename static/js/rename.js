// Renaming happens in the place of the title. Cancel and Escape put the title back as it was, without a request.
let title = null;

function focusEdit() {
  // The bar sticks to the top: the browser would scroll to where it stood before.
  document.querySelector("#conversation-title a")?.focus({ preventScroll: true });
}

function nameTab(heading) {
  document.title = `${heading.innerText.trim()} · PocketChat`;
}

function cancel(form) {
  const restored = title.cloneNode(true);
  form.replaceWith(restored);
  htmx.process(restored);
  focusEdit();
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.matches("div#conversation-title")) title = detail.target;
});

// A first question names its conversation.
document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
  if (detail.target.matches("div#conversation-title")) nameTab(document.querySelector("div#conversation-title"));
});

document.addEventListener("htmx:afterSettle", ({ detail }) => {
  const asked = detail.requestConfig?.elt;
  const input = document.querySelector(".rename-input");
  // A sent question brings a title, too, and leaves the focus where one types.
  if (detail.elt.matches("div#conversation-title")) {
    nameTab(detail.elt);
    if (asked?.matches(".rename, .rename button")) focusEdit();
  } else if (input && asked?.closest("#conversation-title, .bar-title")) {
    input.focus({ preventScroll: true });
    input.select();
  }
});

document.addEventListener("keydown", (event) => {
  const form = event.target.closest(".rename");
  if (event.key === "Escape" && form && title) cancel(form);
});

document.addEventListener("click", (event) => {
  const form = event.target.closest(".rename [data-cancel]")?.closest(".rename");
  if (!form || !title) return;
  event.preventDefault();
  cancel(form);
});
