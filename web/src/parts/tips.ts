// One floating box that shows definitions ([data-tip]) and what lies under the pointer in the timeline.
import { h } from "./dom.ts";

const box = h("div", { class: "tip", role: "tooltip", hidden: true });

/** Shows `content` near a point of the window, inside its edges. */
export function showTip(x: number, y: number, ...content: (Node | string)[]): void {
  box.replaceChildren(...content);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(6, Math.min(x + 12, innerWidth - width - 6))}px`;
  box.style.top = `${y + 18 + height > innerHeight ? Math.max(6, y - height - 10) : y + 18}px`;
}

export function hideTip(): void { box.hidden = true; }

/** Starts showing the definitions of the page. */
export function startTips(): void {
  document.body.append(box);
  const define = (target: HTMLElement) => {
    const at = target.getBoundingClientRect();
    showTip(at.left - 12, at.bottom - 12, target.dataset["tip"]!);
  };
  const show = (event: Event) => {
    const target = (event.target as Element).closest<HTMLElement>("[data-tip]");
    if (target) define(target);
  };
  for (const name of ["mouseover", "focusin"]) document.addEventListener(name, show);
  for (const name of ["mouseout", "focusout"]) document.addEventListener(name, (event) => { if ((event.target as Element).closest("[data-tip]")) hideTip(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  // Focus scrolls a term into view: its definition goes along. Anything else that scrolls leaves the tip behind.
  addEventListener("scroll", () => {
    const focused = document.activeElement?.closest<HTMLElement>("[data-tip]");
    if (focused && !box.hidden) define(focused); else hideTip();
  }, { passive: true });
}
