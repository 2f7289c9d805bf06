// Builds elements. Text from the data only ever becomes text nodes, never markup.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** A phone held upright. */
export const NARROW = "(max-width: 560px)";

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value as EventListener);
    // The page's policy lets no style attribute through; what a script sets is not one.
    else if (key === "style") (element as HTMLElement).style.cssText = String(value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement;
  fill(element, attributes, children);
  return element;
}

/** A term with its definition: shown on hover and on keyboard focus (tips.ts), read out by screen readers. */
export function term(text: string, meaning: string, focusable = true): HTMLElement {
  if (!meaning) return h("span", {}, text);
  return h("span", { class: "term", "data-tip": meaning, "aria-description": meaning, tabindex: focusable ? 0 : undefined }, text);
}

/** The files or runs that a page is of; what does not fit the line is there in full under the pointer. */
export function filesLine(text: string): HTMLElement { return h("span", { class: "files", title: text }, text); }

/** Shows a section's heading alone, or all of it. */
export function fold(part: Element, folded: boolean): void {
  part.toggleAttribute("data-folded", folded);
  const button = part.querySelector(":scope > header > button.fold");
  button?.setAttribute("aria-expanded", String(!folded));
  if (button) button.textContent = folded ? "\u25b8" : "\u25be";
}

/** Opens every folded part around an element. */
export function unfold(inside: Element): void {
  for (let part = inside.closest("section"); part; part = part.parentElement?.closest("section") ?? null) fold(part, false);
}

/** A section of the page: heading, remark, contents. Its heading folds it. */
export function section(id: string, title: string, remark: string, ...children: Child[]): HTMLElement {
  const button = h("button", { type: "button", class: "fold", "aria-expanded": "true", "aria-label": title, click: () => fold(part, !part.hasAttribute("data-folded")) }, "\u25be");
  const part: HTMLElement = h("section", { id, "aria-labelledby": `${id}-title` },
    h("header", {}, button, h("h2", { id: `${id}-title` }, title), remark ? h("p", { class: "remark" }, remark) : null), ...children);
  return part;
}
