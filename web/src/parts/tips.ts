// One floating box that shows definitions ([data-tip]) and what lies under the pointer in the timeline.
import { h } from "./dom.ts";

const box = h("div", { class: "tip", role: "tooltip", hidden: true });

let shownBy = "";

/** Shows `content` near a point of the window, inside its edges. `owner` names who shows it. */
export function showTip(owner: string, x: number, y: number, ...content: (Node | string)[]): void {
  shownBy = owner;
  box.replaceChildren(...content);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(6, Math.min(x + 12, innerWidth - width - 6))}px`;
  box.style.top = `${y + 18 + height > innerHeight ? Math.max(6, y - height - 10) : y + 18}px`;
}

/** Hides what `owner` shows: a pointer that leaves the timeline must not take a definition away. */
export function hideTip(owner: string): void { if (owner === shownBy) box.hidden = true; }

/** Starts showing the definitions of the page. */
export function startTips(): void {
  document.body.append(box);
  const define = (target: HTMLElement) => {
    const at = target.getBoundingClientRect();
    showTip("definition", at.left - 12, at.bottom - 12, target.dataset["tip"]!);
  };
  const show = (event: Event) => {
    const target = (event.target as Element).closest<HTMLElement>("[data-tip]");
    if (target) define(target);
  };
  for (const name of ["mouseover", "focusin"]) document.addEventListener(name, show);
  for (const name of ["mouseout", "focusout"]) document.addEventListener(name, (event) => { if ((event.target as Element).closest("[data-tip]")) hideTip("definition"); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(shownBy); });
  // Focus scrolls a term into view: its definition goes along. Anything else that scrolls leaves the tip behind.
  addEventListener("scroll", () => {
    const focused = document.activeElement?.closest<HTMLElement>("[data-tip]");
    if (focused && !box.hidden) define(focused); else hideTip(shownBy);
  }, { passive: true });
}
