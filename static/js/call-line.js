// A call of a tool in a live reply: the server's own markup, filled from the events.
function written(args) {
  if (typeof args === "string") return args;
  return Object.keys(args).length ? JSON.stringify(args, null, 2) : "";
}

export class CallLine {
  constructor(blank, id) {
    this.id = id;
    this.element = blank.content.firstElementChild.cloneNode(true);
    this.element.dataset.call = id;
  }

  tell(call) {
    this.element.dataset.status = call.status;
    this.fill("label", call.label);
    this.fill("arguments", written(call.arguments));
    this.fill("result", call.result ?? "");
  }

  fill(name, text) {
    this.element.querySelector(`[data-${name}]`).textContent = text;
    const whole = this.element.querySelector(`[data-part="${name}"]`);
    if (whole) whole.hidden = !text;
  }

  flush(root) {
    if (this.element.parentElement !== root) root.append(this.element);
  }
}
