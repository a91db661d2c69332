// The words of a live reply, shown at most once a frame. A page that opens mid-reply already shows part of it: the
// stream then repeats that part from the first word, and nothing on the page moves until it has caught up.
import { MarkdownPreview } from "./markdown-preview.js";

const CATCH_UP = 600;

export class ReplyText {
  constructor(root, shown) {
    this.root = root;
    this.shown = shown;
    this.waiting = "";
    this.preview = null;
  }

  append(text) {
    this.waiting += text;
    this.frame ??= requestAnimationFrame(() => this.flush());
  }

  replace(text) {
    this.preview = null;
    this.shown = 0;
    this.waiting = text;
    this.frame ??= requestAnimationFrame(() => this.flush());
  }

  flush() {
    this.frame = null;
    if (!this.preview) {
      if (this.waiting.length < this.shown) {
        this.catchUp ??= setTimeout(() => this.replace(this.waiting), CATCH_UP);
        return;
      }
      clearTimeout(this.catchUp);
      this.preview = new MarkdownPreview(this.root);
    }
    this.preview.write(this.waiting);
    this.waiting = "";
  }

  stop() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.catchUp);
  }
}
