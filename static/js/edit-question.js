// A question being asked in other words. What was typed is kept in this browser until it is saved or given up.
import { draftOf, forgetDraft, keepDraft } from "./drafts.js";
import { isPart } from "./responses.js";
import { newRequestKey } from "./request-key.js";
import { refuseHugePastes } from "./huge-pastes.js";
import { sends } from "./sending-key.js";
import { showCount } from "./count.js";

const LONGEST_PAUSE = 300;

class EditQuestion extends HTMLElement {
  connectedCallback() {
    addEventListener("pagehide", this);
    if (this.form) return; // It was only moved.
    this.form = this.querySelector("form");
    this.text = this.querySelector("textarea");
    this.key = this.form.elements.request_key;
    this.limit = Number(this.dataset.limit);
    this.restore();
    this.count();
    this.text.addEventListener("input", () => this.changed());
    refuseHugePastes(this.text, this.limit);
    this.text.addEventListener("keydown", (event) => sends(event) && this.send(event));
    this.form.addEventListener("submit", () => this.sent());
    // Under this key something else was asked.
    this.form.addEventListener("key_reused", () => this.changed());
    this.form.addEventListener("htmx:afterRequest", ({ detail }) => isPart(detail.xhr) && this.giveUp());
    this.querySelector("[data-cancel]").addEventListener("click", () => this.giveUp());
  }

  disconnectedCallback() {
    removeEventListener("pagehide", this);
    clearTimeout(this.keeping);
  }

  handleEvent() {
    if (this.text.value !== this.text.defaultValue) this.keep();
  }

  restore() {
    // What the server has just refused is in the form already, with a key under which it may come again.
    const draft = this.querySelector(".edit-problem .notice") ? null : draftOf(this.dataset.draft);
    if (draft) this.text.value = draft.text;
    if (draft?.sentAs) this.key.value = draft.sentAs;
    this.wasSent = Boolean(draft?.sentAs);
    this.text.setSelectionRange(this.text.value.length, this.text.value.length);
  }

  keep() {
    clearTimeout(this.keeping);
    keepDraft(this.dataset.draft, this.text.value, this.wasSent ? this.key.value : "");
  }

  count() {
    showCount(this.querySelector("[data-count]"), this.text.value, this.limit);
  }

  changed() {
    this.count();
    // Other words are another attempt.
    if (this.wasSent) this.key.value = newRequestKey();
    this.wasSent = false;
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), LONGEST_PAUSE);
  }

  send(event) {
    event.preventDefault();
    if (this.text.value.trim()) this.form.requestSubmit();
  }

  sent() {
    this.wasSent = true;
    this.keep();
  }

  giveUp() {
    removeEventListener("pagehide", this);
    clearTimeout(this.keeping);
    forgetDraft(this.dataset.draft);
  }
}

customElements.define("edit-question", EditQuestion);
