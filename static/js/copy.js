// Copy buttons: of a block of code, of a named element, and of a whole reply (as Markdown for editors, as formatted text
// for documents).
import { announce } from "./announce.js";

const SHOWN_FOR = 1600;

// Pages served over plain http from another machine have no clipboard interface.
function copyOldWay(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (!isCopied) throw new Error("The browser did not copy.");
}

async function copy(text, html = "") {
  if (!navigator.clipboard) {
    copyOldWay(text);
  } else if (html && window.ClipboardItem) {
    const types = { "text/plain": text, "text/html": html };
    const blobs = Object.entries(types).map(([type, data]) => [type, new Blob([data], { type })]);
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
  } else {
    await navigator.clipboard.writeText(text);
  }
}

function say(button, sentence) {
  const label = button.querySelector("[data-label]") ?? button;
  button.dataset.words ??= label.textContent;
  label.textContent = sentence;
  announce(sentence);
  setTimeout(() => {
    label.textContent = button.dataset.words;
  }, SHOWN_FOR);
}

function formatted(prose) {
  const copied = prose.cloneNode(true);
  for (const button of copied.querySelectorAll("button")) button.remove();
  return copied.innerHTML;
}

function wanted(button) {
  if (button.matches(".code-copy")) return [button.closest("figure").querySelector("pre").textContent];
  if (button.dataset.copies) return [document.getElementById(button.dataset.copies).textContent];
  const answer = button.closest(".answer");
  const prose = Array.from(answer.querySelectorAll(".prose"), formatted);
  return [answer.querySelector("[data-source]").content.textContent, prose.join("")];
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest(".code-copy, [data-copies], [data-copy-answer]");
  if (!button) return;
  try {
    await copy(...wanted(button));
    say(button, "Copied");
  } catch {
    say(button, "Not copied");
  }
});
