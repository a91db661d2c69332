// A live reply: words and calls of tools in their order, shown at most once a frame. A page that opens mid-reply already
// shows part of it: the stream then tells that part again, and nothing on the page moves until it has caught up.
import { CallLine } from "./call-line.js";
import { ReplyText } from "./reply-text.js";

const CATCH_UP = 600;

export class ReplyParts {
  constructor(root, blank, shown) {
    this.root = root;
    this.blank = blank;
    this.shown = shown;
    this.begin();
  }

  begin() {
    this.parts = [];
    this.length = 0;
    this.isShown = false;
  }

  append(text) {
    let last = this.parts.at(-1);
    if (!(last instanceof ReplyText)) this.parts.push((last = new ReplyText()));
    last.append(text);
    this.length += [...text].length; // Characters as the server counts them: an emoji is one, not two.
    this.show();
  }

  // Everything is told again from here on.
  replace(text) {
    this.shown = Math.max(this.shown, this.length);
    this.begin();
    if (text) this.append(text);
  }

  // True when the call is new.
  tell(call) {
    const known = this.parts.find((part) => part.id === call.id);
    const line = known ?? new CallLine(this.blank, call.id);
    if (!known) this.parts.push(line);
    line.tell(call);
    this.show();
    return !known;
  }

  show() {
    this.frame ??= requestAnimationFrame(() => this.flush());
  }

  flush() {
    this.frame = null;
    if (!this.isShown) {
      if (this.length < this.shown) {
        this.catchUp ??= setTimeout(() => this.giveUpWaiting(), CATCH_UP);
        return;
      }
      clearTimeout(this.catchUp);
      this.catchUp = null;
      this.root.replaceChildren();
      this.isShown = true;
    }
    for (const part of this.parts) part.flush(this.root);
  }

  giveUpWaiting() {
    this.shown = 0;
    this.flush();
  }

  stop() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.catchUp);
  }
}
