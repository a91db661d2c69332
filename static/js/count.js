// How much of the limit a text takes; shown from nine tenths on, in characters as the server counts them.
const numbers = new Intl.NumberFormat("en");

export function grouped(number) {
  return numbers.format(number);
}

export function showCount(element, text, limit) {
  const isNear = text.length >= limit * 0.9;
  element.hidden = !isNear;
  if (!isNear) return;
  const count = Array.from(text).length;
  element.textContent = `${grouped(count)} of ${grouped(limit)} characters`;
  element.toggleAttribute("data-over", count > limit);
}
