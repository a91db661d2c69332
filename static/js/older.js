// Earlier turns are put above what one reads without moving it.
const page = document.scrollingElement;
let below = 0;

function isOlder(element) {
  return Boolean(element?.matches?.(".older"));
}

document.addEventListener("htmx:beforeSwap", ({ target }) => {
  if (isOlder(target)) below = page.scrollHeight - page.scrollTop;
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (!isOlder(detail.requestConfig?.target ?? detail.target)) return;
  page.scrollTop = page.scrollHeight - below;
  document.querySelector(".older a")?.focus({ preventScroll: true });
});
