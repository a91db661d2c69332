// Light, dark, or as the system has it. The choice is a cookie, so that the server writes it into the page and no
// other colours flash first.
const YEAR = 365 * 24 * 3600;
const root = document.documentElement;

class ThemeSwitch extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", (event) => {
      const choice = event.target.closest("button")?.value;
      if (choice) this.choose(choice);
    });
    this.show();
  }

  choose(theme) {
    const isSystem = theme === "system";
    if (isSystem) delete root.dataset.theme;
    else root.dataset.theme = theme;
    document.cookie = `theme=${theme}; path=/; max-age=${isSystem ? 0 : YEAR}; samesite=lax`;
    this.show();
  }

  show() {
    const theme = root.dataset.theme ?? "system";
    for (const button of this.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.value === theme));
    }
  }
}

customElements.define("theme-switch", ThemeSwitch);
