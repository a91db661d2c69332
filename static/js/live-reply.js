// A reply that is being written. The element owns its stream and its text: it opens the one when it enters the page
// and closes it when it leaves, so the words of one turn never reach another.
import { announce } from "./announce.js";
import { ReplyEvents } from "./reply-events.js";
import { ReplyParts } from "./reply-parts.js";
import { fetchTurn } from "./fetch-turn.js";

const AGAIN = 2000;
const PATIENCE = 1500;
const ENDINGS = {
  complete: "The reply is finished.",
  stopped: "The reply was stopped.",
  failed: "The reply failed.",
  interrupted: "The reply was interrupted.",
};

class LiveReply extends HTMLElement {
  connectedCallback() {
    const blank = this.querySelector("[data-blank-call]");
    this.parts = new ReplyParts(this.querySelector("[data-parts]"), blank, Number(this.dataset.shown));
    this.open();
    addEventListener("pagehide", this);
    addEventListener("pageshow", this);
    document.dispatchEvent(new CustomEvent("reply:started"));
    announce("A reply is being written.");
  }

  disconnectedCallback() {
    this.close();
    removeEventListener("pagehide", this);
    removeEventListener("pageshow", this);
    document.dispatchEvent(new CustomEvent("reply:ended"));
  }

  // Back from the browser's page cache, where a connection cannot live.
  handleEvent(event) {
    if (event.type === "pagehide") this.close();
    else if (event.persisted) this.finish();
  }

  open() {
    this.events = new ReplyEvents(this.dataset.events, {
      handlers: {
        delta: ({ text }) => this.parts.append(text),
        snapshot: ({ text }) => this.parts.replace(text),
        tool: (call) => {
          if (this.parts.tell(call)) announce(call.label);
        },
        done: ({ status }) => {
          announce(ENDINGS[status] ?? "");
          this.finish();
        },
      },
      opened: () => this.explain(""),
      lost: () => this.lost(),
    });
  }

  close() {
    this.events?.close();
    this.parts.stop();
    clearTimeout(this.waiting);
    clearTimeout(this.again);
  }

  // The browser resumes a broken stream by itself; one the server refused it gives up, and then the turn itself is asked.
  lost() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.explain("The connection was lost. Trying again…"), PATIENCE);
    if (this.events.isGivenUp) this.again = setTimeout(() => this.finish(), AGAIN);
  }

  explain(sentence) {
    clearTimeout(this.waiting);
    const trouble = this.querySelector("[data-trouble]");
    trouble.textContent = sentence;
    trouble.hidden = !sentence;
  }

  // Put the stored turn in the place of this one; if it is live still, its own element goes on from there.
  async finish() {
    this.close();
    const isSettled = await fetchTurn(this.dataset.finished, this.closest("article"));
    if (isSettled || !this.isConnected) return;
    this.explain("The connection was lost. Trying again…");
    this.again = setTimeout(() => this.finish(), AGAIN);
  }
}

customElements.define("live-reply", LiveReply);
