// The box one writes in. Enter sends, Shift+Enter breaks the line; while a reply is written, Send is Stop.
import { ComposerDraft } from "./composer-draft.js";
import { clearProblems, report } from "./problems.js";
import { keepFocus } from "./keep-focus.js";
import { refuseHugePastes } from "./huge-pastes.js";
import { isPart } from "./responses.js";
import { sends } from "./sending-key.js";
import { showCount } from "./count.js";

class ChatComposer extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    this.text = this.querySelector("textarea");
    this.draft = new ComposerDraft({
      conversation: this.dataset.draft,
      began: this.dataset.began,
      text: this.text,
      key: this.form.elements.request_key,
    });
    this.text.addEventListener("input", () => this.changed());
    refuseHugePastes(this.text, Number(this.dataset.limit));
    keepFocus(this.text);
    this.text.addEventListener("keydown", (event) => this.pressed(event));
    // Before htmx hears of it.
    this.addEventListener("submit", (event) => this.submitted(event), true);
    // What stands inside the form makes requests of its own, which send nothing.
    this.form.addEventListener("htmx:afterRequest", ({ target, detail }) => target === this.form && this.answered(detail));
    // Under this key something else was asked.
    this.form.addEventListener("key_reused", () => this.draft.changed());
    document.addEventListener("reply:started", () => this.show());
    document.addEventListener("reply:ended", () => this.ended());
    addEventListener("pageshow", (event) => event.persisted && this.setBusy(false));
    this.show();
  }

  get liveReply() {
    return document.querySelector("live-reply");
  }

  changed() {
    this.draft.changed();
    this.show();
  }

  show() {
    const [send, stop] = [this.querySelector("[data-send]"), this.querySelector("[data-stop]")];
    const live = this.liveReply;
    send.hidden = Boolean(live);
    stop.hidden = !live;
    send.disabled = this.isBusy || !this.text.value.trim();
    if (live) stop.setAttribute("form", `stop-${live.dataset.turn}`);
    showCount(this.querySelector("[data-count]"), this.text.value, Number(this.dataset.limit));
    if (!CSS.supports("field-sizing", "content")) {
      this.text.style.blockSize = "auto";
      this.text.style.blockSize = `${this.text.scrollHeight}px`;
    }
  }

  // "Wait until it is finished" is over when it is.
  ended() {
    this.querySelector(".composer-problem .notice-quiet")?.remove();
    this.show();
  }

  setBusy(isBusy) {
    this.isBusy = isBusy;
    this.text.readOnly = isBusy;
    this.form.setAttribute("aria-busy", String(Boolean(isBusy)));
    this.show();
  }

  pressed(event) {
    if (!sends(event)) return;
    event.preventDefault();
    if (this.text.value.trim()) this.form.requestSubmit();
  }

  submitted(event) {
    if (this.isBusy || this.liveReply) {
      event.preventDefault();
      event.stopPropagation();
      if (this.liveReply) report("Stop the reply, or wait until it is finished, then send.", { kind: "quiet" });
      return;
    }
    this.draft.sent();
    // Later, so that what is submitted is still complete.
    setTimeout(() => this.setBusy(true));
  }

  answered({ xhr }) {
    setTimeout(() => this.setBusy(false));
    if (!isPart(xhr)) return;
    this.draft.accepted();
    clearProblems();
    this.text.focus();
  }
}

customElements.define("chat-composer", ChatComposer);
