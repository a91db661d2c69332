// Unsent text, one draft for each conversation, in this browser. A draft that was sent remembers under which request
// key, so that sending it again after a lost connection or an expired session is the same attempt.
const PREFIX = "draft:";
const KEPT_FOR = 30 * 24 * 3600 * 1000;
const LOGGED_OUT = "logged-out";

let isForgetting = false;

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? null;
  } catch {
    return null; // No storage, or not ours.
  }
}

export function draftOf(conversation) {
  return read(PREFIX + conversation);
}

export function keepDraft(conversation, text, sentAs = "") {
  if (isForgetting && text) return;
  try {
    if (text) localStorage.setItem(PREFIX + conversation, JSON.stringify({ text, sentAs, at: Date.now() }));
    else localStorage.removeItem(PREFIX + conversation);
  } catch {
    // A full or forbidden storage costs the draft, not the page.
  }
}

export function forgetDraft(conversation) {
  keepDraft(conversation, "");
}

function forgetDrafts(isOver) {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(PREFIX) && isOver(read(name))) localStorage.removeItem(name);
    }
  } catch {
    // See above.
  }
}

// The same words, however the page shows their spaces.
function words(text) {
  return text.replace(/\s+/g, " ").trim();
}

// True when the page already shows the draft as the last question: it arrived, only the answer to that was lost.
export function hasArrived(draft) {
  const asked = Array.from(document.querySelectorAll(".prompt-text")).at(-1);
  return Boolean(draft?.sentAs && asked) && words(asked.textContent) === words(draft.text);
}

forgetDrafts((draft) => !draft || Date.now() - draft.at > KEPT_FOR);

// Pages write their words down once more as they go; after a log-out none does until somebody types or sends there anew.
function stopKeeping() {
  isForgetting = true;
  const goOn = () => {
    isForgetting = false;
  };
  for (const name of ["input", "submit"]) addEventListener(name, goOn, { once: true, capture: true });
}

// Whoever logs out leaves nothing behind, in no tab.
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-forgets-drafts]")) return;
  stopKeeping();
  forgetDrafts(() => true);
  try {
    localStorage.setItem(LOGGED_OUT, Date.now());
    localStorage.removeItem(LOGGED_OUT);
  } catch {
    // See above.
  }
});

addEventListener("storage", ({ key, newValue }) => {
  if (key === LOGGED_OUT && newValue) stopKeeping();
});
