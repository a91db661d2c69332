// Where there is a keyboard one expects to type at once, and to go on when the button one has pressed is gone.
export function keepFocus(box) {
  const take = () => {
    const isFree = document.activeElement === document.body;
    if (isFree && matchMedia("(pointer: fine)").matches) box.focus({ preventScroll: true });
  };
  take();
  document.addEventListener("htmx:afterSettle", take);
  // Going to a fragment of the page takes the focus away again.
  addEventListener("load", () => setTimeout(take));
}
