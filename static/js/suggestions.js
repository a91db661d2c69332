// A suggestion fills the composer and leaves the sending to the reader.
document.addEventListener("click", (event) => {
  const suggestion = event.target.closest("[data-fill]");
  if (!suggestion) return;
  const text = document.querySelector("#composer-text");
  text.value = suggestion.dataset.fill;
  text.dispatchEvent(new Event("input", { bubbles: true }));
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
});
