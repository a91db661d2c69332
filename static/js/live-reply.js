// A reply that is being written. The element owns its stream and its text: it opens the one when it enters the page
// and closes it when it leaves, so the words of one turn never reach another.
import { announce } from "./announce.js";
import { ReplyText } from "./reply-text.js";
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
    this.text = new ReplyText(this.querySelector("[data-text]"), Number(this.dataset.shown));
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
    const source = new EventSource(this.dataset.events);
    const on = (name, act) => source.addEventListener(name, (event) => act(JSON.parse(event.data)));
    on("delta", ({ text }) => this.text.append(text));
    on("snapshot", ({ text }) => this.text.replace(text));
    on("done", ({ status }) => {
      announce(ENDINGS[status] ?? "");
      this.finish();
    });
    source.onopen = () => this.explain("");
    source.onerror = () => this.lost();
    this.source = source;
  }

  close() {
    this.source?.close();
    this.text.stop();
    clearTimeout(this.waiting);
    clearTimeout(this.again);
  }

  // The browser resumes a broken stream by itself; one the server refused it gives up, and then the turn itself is asked.
  lost() {
    const isGivenUp = this.source.readyState === EventSource.CLOSED;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.explain("The connection was lost. Trying again…"), PATIENCE);
    if (isGivenUp) this.again = setTimeout(() => this.finish(), AGAIN);
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
