// Says something to people who listen to the page. One sentence at a time; never the words of a reply.
export function announce(sentence) {
  const announcer = document.querySelector("[data-announcer]");
  announcer.textContent = "";
  // A change that follows the emptying is read even when the sentence is the same as before.
  requestAnimationFrame(() => {
    announcer.textContent = sentence;
  });
}
