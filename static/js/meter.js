// Keeps the meter, the divider and an open panel at what the next request would hold: while one types, when a reply
// begins or ends, when another branch is shown, when a summary is corrected.
const PAUSE = 400;

const form = document.querySelector("#composer");
let waiting = 0;
let asking = null;

function asked() {
  const fields = new FormData(form);
  // The panel is made along with the meter while it is open.
  if (document.querySelector("#panel[open] [data-follows]")) fields.set("panel", "open");
  return fields;
}

async function refresh() {
  const meter = document.querySelector("#meter");
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  try {
    const headers = { "HX-Request": "true" };
    const options = { method: "POST", body: asked(), headers, redirect: "manual", signal };
    const response = await fetch(meter.dataset.refresh, options);
    const parts = response.ok ? await response.text() : "";
    if (parts && !signal.aborted) htmx.swap("#meter", parts, { swapStyle: "outerHTML" });
  } catch {
    // No connection, or asked again meanwhile: it stays as it was, and sending says what is wrong.
  }
}

function refreshSoon(pause) {
  clearTimeout(waiting);
  waiting = setTimeout(refresh, pause);
}

if (form && document.querySelector("#meter")) {
  const text = form.elements.text;
  const refreshForDraft = () => text.value.trim() && refreshSoon(0);
  text.addEventListener("input", () => refreshSoon(PAUSE));
  document.addEventListener("reply:started", () => refreshSoon(0));
  document.addEventListener("reply:ended", () => refreshSoon(0));
  document.addEventListener("context:changed", () => refreshSoon(0));
  document.addEventListener("htmx:afterSwap", ({ target }) => target.id === "thread" && refreshForDraft());
  refreshForDraft(); // One that was kept from an earlier visit.
}
