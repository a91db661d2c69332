// Keeps the newest words in view while the reader is at the end of the page, and never when they have scrolled away.
const NEAR = 48;
const AWAY = 240;

const page = document.scrollingElement;
let isFollowing = true;
let last = page.scrollTop;

function distance() {
  return page.scrollHeight - page.clientHeight - page.scrollTop;
}

export function goToNewest() {
  isFollowing = true;
  page.scrollTop = page.scrollHeight;
}

function looked() {
  const away = distance();
  // Growth alone moves the end, not the reader: only going up means leaving.
  if (away <= NEAR) isFollowing = true;
  else if (page.scrollTop < last - 1) isFollowing = false;
  last = page.scrollTop;
  offer(away);
}

function offer(away) {
  const jump = document.querySelector(".jump");
  if (jump) jump.hidden = isFollowing || away < AWAY;
}

function grown() {
  // Whoever edits an earlier question keeps it in view.
  if (document.activeElement?.closest("edit-question")) return;
  if (isFollowing) page.scrollTop = page.scrollHeight;
  offer(distance());
}

const thread = document.querySelector(".thread");
if (thread) {
  const arrival = performance.getEntriesByType("navigation")[0]?.type;
  if (arrival === "navigate" && !location.hash && !location.search) goToNewest();
  isFollowing = distance() <= NEAR;
  addEventListener("scroll", looked, { passive: true });
  new ResizeObserver(grown).observe(document.body);
  document.addEventListener("htmx:afterSwap", ({ target, detail }) => {
    if (target !== thread) return;
    if (detail.requestConfig?.elt.matches("[data-keeps-place]")) isFollowing = false;
    else goToNewest();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".jump")) return;
    event.preventDefault();
    goToNewest();
  });
}
