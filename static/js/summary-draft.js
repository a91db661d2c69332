// A summary being corrected. What was typed is kept in this browser until it is saved or given up; for that version
// alone, for another one says something else.
import { draftOf, forgetDraft, keepDraft } from "./drafts.js";
import { isPart } from "./responses.js";

const LONGEST_PAUSE = 300;

class SummaryDraft extends HTMLElement {
  connectedCallback() {
    addEventListener("pagehide", this);
    if (this.text) return; // It was only moved.
    this.text = this.querySelector("textarea");
    this.restore();
    this.text.addEventListener("input", () => this.changed());
    this.querySelector("[data-gives-up]").addEventListener("click", () => this.giveUp());
    this.addEventListener("htmx:afterRequest", (event) => this.answered(event));
  }

  disconnectedCallback() {
    removeEventListener("pagehide", this);
    if (this.pausing) this.keep();
  }

  handleEvent() {
    if (this.pausing) this.keep();
  }

  restore() {
    const draft = draftOf(this.dataset.draft);
    if ("unsaved" in this.dataset) this.keep();
    else if (draft) this.type(draft.text);
  }

  // It is counted as what is typed.
  type(text) {
    this.text.value = text;
    setTimeout(() => this.text.dispatchEvent(new Event("input", { bubbles: true })));
  }

  keep() {
    clearTimeout(this.pausing);
    this.pausing = 0;
    keepDraft(this.dataset.draft, this.text.value);
  }

  changed() {
    clearTimeout(this.pausing);
    this.pausing = setTimeout(() => this.keep(), LONGEST_PAUSE);
  }

  answered({ detail }) {
    if (detail.elt.matches("form") && isPart(detail.xhr)) this.giveUp();
  }

  giveUp() {
    clearTimeout(this.pausing);
    this.pausing = 0;
    forgetDraft(this.dataset.draft);
  }
}

customElements.define("summary-draft", SummaryDraft);
