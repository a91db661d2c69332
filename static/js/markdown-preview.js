// Shows Markdown while it is being written. Only a preview: the server's rendering takes its place at the end.
import * as smd from "../vendor/smd.min.js";
import { describe, open } from "./markdown-nodes.js";

// A page with elements nested much deeper than any text needs would stop the browser.
const DEEPEST = 40;

function rendererInto(root) {
  const path = [root];
  return {
    data: path,
    add_token: (_, token) => {
      if (path.length > DEEPEST) throw new RangeError("nested too deeply");
      path.push(open(path.at(-1), token));
    },
    end_token: () => path.length > 1 && path.pop(),
    add_text: (_, text) => path.at(-1).append(text),
    set_attr: (_, attribute, value) => describe(path.at(-1), attribute, value),
  };
}

export class MarkdownPreview {
  constructor(root) {
    this.root = root;
    this.source = "";
    this.root.replaceChildren();
    this.parser = smd.parser(rendererInto(root));
  }

  write(text) {
    this.source += text;
    if (!this.parser) {
      this.root.firstElementChild.append(text);
      return;
    }
    try {
      smd.parser_write(this.parser, text);
    } catch {
      // Text the parser cannot follow (nested too deeply, say) is shown as it was written.
      this.parser = null;
      const plain = document.createElement("p");
      plain.className = "as-typed";
      plain.textContent = this.source;
      this.root.replaceChildren(plain);
    }
  }
}
