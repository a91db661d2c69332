// The line where the model's window begins. The server says with which question; the page knows where that stands, or
// that it is further up than the turns it shows.
function place() {
  const divider = document.querySelector("#divider");
  const turns = Array.from(document.querySelectorAll("#thread > .turn"));
  if (!divider || !turns.length) return;
  const start = Number(divider.dataset.start);
  const first = turns.find((turn) => start && Number(turn.dataset.question) >= start);
  const isFurtherUp = first === turns[0] && Number(first.dataset.question) !== start;
  divider.hidden = !("needed" in divider.dataset) || isFurtherUp;
  if (first && first.previousElementSibling !== divider) first.before(divider);
  if (!first && turns.at(-1).nextElementSibling !== divider) turns.at(-1).after(divider);
}

document.addEventListener("htmx:load", place);
