// Problems the server could not put into words itself: no connection, no session, a page where a part was expected.
function icon(name) {
  const svg = document.querySelector("svg.icon").cloneNode(true);
  const use = svg.querySelector("use");
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${name}`));
  return svg;
}

// Where it is said what went wrong with something: in the form of a question being edited, in the panel, which may cover
// all else, by the composer, or where the composer would be.
export function placeFor(near) {
  return (
    near?.closest("edit-question")?.querySelector(".edit-problem") ??
    near?.closest("#panel")?.querySelector(".seen-problem") ??
    document.querySelector(".composer-problem")
  );
}

function notice(text, kind) {
  const box = document.createElement("div");
  box.className = `notice notice-${kind}`;
  const words = document.createElement("p");
  words.className = "notice-text";
  words.textContent = text;
  box.append(icon("circle-alert"), words);
  return box;
}

// `action` is {label, href}; without an address it reloads the page. `near` is what it happened to.
export function report(text, { kind = "bad", action, near } = {}) {
  const box = notice(text, kind);
  if (action) {
    const link = document.createElement("a");
    link.className = "button button-small";
    link.textContent = action.label;
    link.href = action.href ?? location.href;
    link.toggleAttribute("data-reload", !action.href);
    box.append(link);
  }
  clearProblems(near);
  (placeFor(near) ?? document.querySelector("main")).prepend(box);
}

export function clearProblems(near) {
  placeFor(near)?.replaceChildren();
}

export function reportLoggedOut(near) {
  const back = encodeURIComponent(location.pathname + location.search);
  report("You are no longer logged in. What you have typed is kept in this browser.", {
    kind: "warn",
    near,
    action: { label: "Log in", href: `${document.body.dataset.login}?next=${back}` },
  });
}

export function reportGone({ isSending = false, near } = {}) {
  report(`This conversation no longer exists.${isSending ? " Nothing was sent." : ""}`, {
    near,
    action: { label: "New conversation", href: "/" },
  });
}

// A link to the page one stands on would only move to its anchor.
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-reload]")) return;
  event.preventDefault();
  location.hash = "newest";
  location.reload();
});
