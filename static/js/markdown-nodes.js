// Makes the elements of the live preview. They look like those of the server's renderer, and only these exist: text
// always becomes a text node, and an image becomes its description, so that nothing is fetched from anywhere.
import * as smd from "../vendor/smd.min.js";
import { safeAddress } from "./safe-address.js";

const TAGS = {
  [smd.BLOCKQUOTE]: "blockquote",
  [smd.PARAGRAPH]: "p",
  [smd.LINE_BREAK]: "br",
  [smd.RULE]: "hr",
  // Below the headings of the page, as the server has them.
  [smd.HEADING_1]: "h3",
  [smd.HEADING_2]: "h4",
  [smd.HEADING_3]: "h5",
  [smd.HEADING_4]: "h6",
  [smd.HEADING_5]: "h6",
  [smd.HEADING_6]: "h6",
  [smd.ITALIC_AST]: "em",
  [smd.ITALIC_UND]: "em",
  [smd.STRONG_AST]: "strong",
  [smd.STRONG_UND]: "strong",
  [smd.STRIKE]: "s",
  [smd.CODE_INLINE]: "code",
  [smd.RAW_URL]: "a",
  [smd.LINK]: "a",
  [smd.LIST_UNORDERED]: "ul",
  [smd.LIST_ORDERED]: "ol",
  [smd.LIST_ITEM]: "li",
};

function child(parent, tag, className = "") {
  const element = parent.appendChild(document.createElement(tag));
  if (className) element.className = className;
  return element;
}

function codeBlock(parent) {
  const figure = child(parent, "figure", "code");
  child(child(figure, "figcaption"), "span", "code-language");
  const pre = child(figure, "pre");
  pre.dir = "ltr";
  return child(pre, "code");
}

function row(table) {
  const section = table.tHead ? (table.tBodies[0] ?? child(table, "tbody")) : child(table, "thead");
  return child(section, "tr");
}

function checkbox(item) {
  item.className = "task-list-item";
  const box = child(item, "input");
  box.type = "checkbox";
  box.disabled = true;
  return box;
}

// The element inside `parent` into which the text of a token goes.
export function open(parent, token) {
  switch (token) {
    case smd.CODE_BLOCK:
    case smd.CODE_FENCE:
      return codeBlock(parent);
    case smd.TABLE:
      return child(child(parent, "div", "table-scroll"), "table");
    case smd.TABLE_ROW:
      return row(parent);
    case smd.TABLE_CELL:
      return child(parent, parent.closest("thead") ? "th" : "td");
    case smd.CHECKBOX:
      return checkbox(parent);
    case smd.EQUATION_BLOCK:
      return child(parent, "code", "math-source math-source-block");
    case smd.EQUATION_INLINE:
      return child(parent, "code", "math-source");
    default:
      return child(parent, TAGS[token] ?? "span");
  }
}

export function describe(element, attribute, value) {
  if (attribute === smd.HREF) {
    const address = safeAddress(value);
    if (address) Object.assign(element, { href: address, rel: "noopener noreferrer nofollow", target: "_blank" });
  } else if (attribute === smd.LANG) {
    element.closest("figure").querySelector(".code-language").textContent = value.trim().split(/\s/)[0];
  } else if (attribute === smd.CHECKED) {
    element.checked = true;
  } else if (attribute === smd.START) {
    element.start = Number(value);
  }
}
