// A swipe across an element on a touch screen, to the right or to the left.
const FAR = 80; // pixels: a shorter one may be a tap or the start of a scroll

export function onSwipe(element, does) {
  let start = null;
  element.addEventListener("pointerdown", (event) => {
    start = event.pointerType === "touch" && event.isPrimary ? event : null;
  });
  element.addEventListener("pointercancel", () => { start = null; }); // the page scrolls instead
  element.addEventListener("pointerup", (event) => {
    if (!start) return;
    const [across, down] = [event.clientX - start.clientX, event.clientY - start.clientY];
    start = null;
    const selects = !document.getSelection().isCollapsed;
    if (!selects && Math.abs(across) > FAR && Math.abs(across) > 2 * Math.abs(down)) does(across > 0);
  });
}
