// Pictures that are drawn for the width they have, so that letters keep their size on a phone and on a wide screen.
import { h } from "./dom.ts";

/** Draws at once for `guess` pixels, and again whenever the width of the page changes or `more` has come. */
export function fitted(draw: (width: number) => SVGElement, guess = 900, more?: Promise<unknown>): HTMLElement {
  const box = h("div", { class: "figure" }, draw(guess));
  let drawn = guess;
  const redraw = (): void => {
    const width = Math.round(box.clientWidth);
    if (width < 40 || Math.abs(width - drawn) < 2) return;
    drawn = width;
    box.replaceChildren(draw(width));
  };
  // The picture's height changes with it: that has to wait until the observer is done.
  new ResizeObserver(() => requestAnimationFrame(redraw)).observe(box);
  void more?.then(() => box.replaceChildren(draw(drawn)));
  return box;
}
