// Unsent text, one draft for each conversation, in this browser. A draft that was sent remembers under which request
// key, so that sending it again after a lost connection or an expired session is the same attempt.
const PREFIX = "draft:";
const KEPT_FOR = 30 * 24 * 3600 * 1000;

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

// Whoever logs out leaves nothing behind.
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-forgets-drafts]")) forgetDrafts(() => true);
});
