// Times are written in the server's zone; shown in the reader's. From the next page on the server knows it, too: it
// says which conversations were "Today".
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function showLocally(root) {
  for (const time of root.querySelectorAll("time[datetime]")) time.textContent = format.format(new Date(time.dateTime));
}

const zone = format.resolvedOptions().timeZone;
const secure = location.protocol === "https:" ? "; secure" : "";
if (zone) document.cookie = `timezone=${zone}; path=/; max-age=31536000; samesite=lax${secure}`;

showLocally(document);
document.addEventListener("htmx:load", (event) => showLocally(event.target));
