// The panel of what the model sees: beside the thread where there is room, over it where there is none.
const panel = document.querySelector("#panel");
const beside = matchMedia("(width >= 72rem)");
let opener = null;

// The focus stays on what is there as before (htmx finds it by its id), else goes to what is to be typed or confirmed,
// else to the beginning.
function focusIn() {
  if (panel.contains(document.activeElement) && document.activeElement !== panel) return;
  const first = panel.querySelector("[autofocus]") ?? panel.querySelector("#panel-title");
  first.focus({ preventScroll: true });
}

// `element` is a link of the page, or of what the panel held before: then the panel was opened by another.
function open(element) {
  if (!panel.open || element.isConnected) opener = element;
  const { shows } = element.dataset;
  const isKept = panel.open && panel.contains(document.activeElement) && !shows;
  if (!panel.open) {
    if (beside.matches) panel.show();
    else panel.showModal();
  }
  if (!isKept) panel.scrollTop = 0;
  const part = shows && panel.querySelector(`#${shows}`);
  part?.scrollIntoView({ block: "start" });
  focusIn();
}

function close() {
  panel.close();
}

// The link that opened it may have been renewed meanwhile.
function closed() {
  panel.replaceChildren();
  const again = document.getElementById(opener?.id) ?? opener;
  if (again?.isConnected) again.focus({ preventScroll: true });
}

// A turn that the page shows is gone to; one further up is on a page of its own.
function jump(event, link) {
  const question = document.getElementById(new URL(link.href).hash.slice(1));
  if (!question) return;
  event.preventDefault();
  if (panel.matches(":modal")) close();
  location.hash = question.id;
  question.scrollIntoView({ block: "center" });
}

if (panel) {
  document.addEventListener("htmx:afterSwap", ({ target, detail }) => {
    if (target === panel && detail.requestConfig) open(detail.requestConfig.elt);
  });
  panel.addEventListener("close", closed);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-jumps]");
    if (link) jump(event, link);
    if (!panel.open) return;
    if (event.target.closest("[data-closes-panel]") || event.target === panel) {
      event.preventDefault();
      close();
    }
  });
  // A modal one closes by itself.
  panel.addEventListener("keydown", (event) => event.key === "Escape" && !panel.matches(":modal") && close());
  beside.addEventListener("change", () => panel.open && close());
}
