// A text many times too long would be laid out, at the price of a page that answers nobody, only to be refused.
import { grouped } from "./count.js";
import { report } from "./problems.js";

export function refuseHugePastes(box, limit) {
  box.addEventListener("paste", (event) => {
    const size = event.clipboardData?.getData("text").length ?? 0;
    if (size <= limit * 10) return;
    event.preventDefault();
    const sentence = `What you pasted is about ${grouped(size)} characters long; at most ${grouped(limit)} are possible.`;
    report(sentence, { near: box });
  });
}
