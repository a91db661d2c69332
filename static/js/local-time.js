// Times are written in the server's zone; shown in the reader's.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function showLocally(root) {
  for (const time of root.querySelectorAll("time[datetime]")) time.textContent = format.format(new Date(time.dateTime));
}

showLocally(document);
document.addEventListener("htmx:load", (event) => showLocally(event.target));
