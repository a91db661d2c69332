// Words of a live reply between two calls of tools.
import { MarkdownPreview } from "./markdown-preview.js";

export class ReplyText {
  constructor() {
    this.waiting = "";
  }

  append(text) {
    this.waiting += text;
  }

  flush(root) {
    if (!this.waiting) return;
    if (!this.preview) {
      const prose = document.createElement("div");
      prose.className = "prose";
      prose.dir = "auto";
      root.append(prose);
      this.preview = new MarkdownPreview(prose);
    }
    this.preview.write(this.waiting);
    this.waiting = "";
  }
}
