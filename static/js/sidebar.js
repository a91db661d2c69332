// The list of conversations: what one reads is in view, what one writes in goes to its place without a reload.
const list = document.querySelector(".sidebar-list");

function currentIntoView() {
  list?.querySelector(".entry-link[aria-current]")?.scrollIntoView({ block: "nearest" });
}

function order(entry) {
  return Number(entry.dataset.order);
}

function sectionFor(entry) {
  const section = document.createElement("section");
  section.className = "sidebar-group";
  const label = document.createElement("h2");
  label.className = "sidebar-label";
  label.textContent = entry.dataset.heading;
  const entries = document.createElement("ul");
  entries.className = "sidebar-entries";
  section.append(label, entries);
  return section;
}

// Above the first entry that comes after it, under its own heading. The last place of a list that goes on elsewhere is
// none: what belongs there comes with "More".
function put(entry) {
  const others = Array.from(list.querySelectorAll(".entry"));
  const next = others.find((other) => order(other) < order(entry));
  const previous = next ? others[others.indexOf(next) - 1] : others.at(-1);
  const more = list.querySelector(".sidebar-more");
  const isUnder = (other) => other?.dataset.heading === entry.dataset.heading;
  if (!next && more) return;
  if (isUnder(next)) next.before(entry);
  else if (isUnder(previous)) previous.after(entry);
  else {
    const section = sectionFor(entry);
    section.lastElementChild.append(entry);
    if (next) next.closest(".sidebar-group").before(section);
    else list.append(section);
  }
}

// A heading whose last entry has gone goes, too, or on to those that came with "More" and had none of their own.
function close(section) {
  if (!section || section.querySelector(".entry")) return;
  const next = section.nextElementSibling;
  const label = section.querySelector(".sidebar-label");
  if (label && next?.matches(".sidebar-group") && !next.querySelector(".sidebar-label")) next.prepend(label);
  section.remove();
}

function arrived(entry) {
  entry.classList.remove(htmx.config.addedClass);
  const known = list.querySelector(`[data-conversation="${entry.dataset.conversation}"]`);
  if (known?.isEqualNode(entry)) return;
  const isFocused = known?.contains(document.activeElement);
  const isReading = list.contains(document.activeElement) || list.matches(":hover");
  const section = known?.closest(".sidebar-group");
  if (entry.matches("[data-leaves]")) {
    known?.remove();
    close(section);
    return;
  }
  if (known && order(known) === order(entry)) {
    known.replaceWith(entry);
  } else {
    known?.remove();
    put(entry);
    close(section);
    list.querySelector(".sidebar-empty")?.remove();
  }
  if (isFocused) entry.querySelector("a").focus({ preventScroll: true });
  else if (!isReading) currentIntoView();
}

document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
  if (detail.target.id !== "sidebar-arrival") return;
  for (const entry of Array.from(detail.target.children)) arrived(entry);
  detail.target.replaceChildren();
});

currentIntoView();
