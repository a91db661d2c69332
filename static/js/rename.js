// Renaming happens in the place of the title. Cancel and Escape put the title back as it was, without a request.
let title = null;

function focusEdit() {
  document.querySelector("#conversation-title a")?.focus();
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
  if (detail.requestConfig?.verb === "post" && detail.elt.matches("div#conversation-title")) {
    nameTab(detail.elt);
    focusEdit();
  } else document.querySelector(".rename-input")?.select();
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
