// The panel of what the model sees: beside the thread where there is room, over it where there is none.
const panel = document.querySelector("#panel");
const beside = matchMedia("(width >= 72rem)");
let opener = null;

function open(element) {
  opener = element;
  if (!panel.open) {
    if (beside.matches) panel.show();
    else panel.showModal();
  }
  panel.scrollTop = 0;
  const part = element.dataset.shows && panel.querySelector(`#${element.dataset.shows}`);
  part?.scrollIntoView({ block: "start" });
  panel.querySelector("#panel-title").focus({ preventScroll: true });
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
