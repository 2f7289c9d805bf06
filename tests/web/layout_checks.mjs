// Layout faults that a program can find: run inside the page.
import { join } from "node:path";
import { root } from "./browser.mjs";

export const axe = join(root, "web/node_modules/axe-core/axe.min.js");

const told = (violations) => violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")} ${n.any[0]?.message ?? ""}`).join(" | ")} (${v.nodes.length})`);

/** All that axe-core has against the page as it stands, but for its colours; or what these rules
 * have. */
export async function violations(page, rules = []) {
  const options = rules.length ? { runOnly: rules } : { rules: { "color-contrast": { enabled: false } } };
  return told(await page.evaluate(async (o) => (await globalThis.axe.run(document, { resultTypes: ["violations"], ...o })).violations, options));
}

/** Rules whose answer a width may change. */
export const OF_WIDTH = ["scrollable-region-focusable", "aria-hidden-focus", "meta-viewport",
                         "link-in-text-block"];

/** Words that axe-core finds too faint. It looks at one element of each look (colours of the words and of all that lies behind them, size, weight): of the
 * thousand words of a page most look alike, and the rule takes milliseconds for each. */
export async function faintWords(page) {
  return told(await page.evaluate(async () => {
    const looks = new Map();
    for (const each of document.body.querySelectorAll("*")) {
      if (!each.checkVisibility() || ![...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "")) continue;
      const { color, fill, fontSize, fontWeight } = getComputedStyle(each), look = [color, fill, fontSize, fontWeight];
      for (let behind = each; behind; behind = behind.parentElement) {
        const { backgroundColor, backgroundImage, opacity } = getComputedStyle(behind);
        look.push(backgroundColor, backgroundImage, opacity);
      }
      const known = look.filter((part, i) => i < 4 || !["rgba(0, 0, 0, 0)", "none", "1"].includes(part)).join();
      if (!looks.has(known)) looks.set(known, each);
    }
    return (await globalThis.axe.run({ include: [...looks.values()] }, { resultTypes: ["violations"], runOnly: ["color-contrast"] })).violations;
  }));
}

/** Lines that name what is wrong: wider than the window, text cut with nothing that tells the rest,
 * labels of a picture over each other or beyond it. */
export function layoutFaults() {
  const faults = [], root = document.documentElement, near = 1.5;
  const say = (kind, element, more = "") => faults.push(`${kind}: ${element.closest("section[id]")?.id ?? "top"} ${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} "${element.textContent.slice(0, 60)}"${more}`);
  const shown = (element) => element.checkVisibility({ visibilityProperty: true });
  const hidden = (style) => style !== "visible";
  if (root.scrollWidth > root.clientWidth) {
    faults.push(`the page is ${root.scrollWidth} px wide in a window of ${root.clientWidth}`);
    for (const each of document.querySelectorAll("#page *")) {
      const box = each.getBoundingClientRect();
      if (box.right > root.clientWidth + near && !each.closest(".scroll, .contents, canvas, svg") && ![...each.children].some((child) => child.getBoundingClientRect().right > root.clientWidth + near)) say("beyond the window", each);
    }
  }
  /** Words that a reader cannot see all of must be told elsewhere: as a title, a tip, or by opening
   * something. */
  const toldElsewhere = (element) => element.closest("[title], [data-tip], .term, .middle") !== null;
  for (const each of document.querySelectorAll("#page *")) {
    if (each.closest("svg") || !shown(each)) continue;
    const style = getComputedStyle(each);
    if (hidden(style.overflowX) && style.overflowX !== "auto" && style.overflowX !== "scroll" && each.clientWidth > 1 && each.scrollWidth > each.clientWidth + near && each.textContent.trim() !== "" && !toldElsewhere(each) && !each.querySelector("[title]")) say("cut", each, ` ${each.scrollWidth} of ${each.clientWidth} px`);
    const box = each.getBoundingClientRect(), own = [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
    if (own && box.height > 0) {
      const range = document.createRange();
      for (const node of each.childNodes) if (node.nodeType === 3 && node.textContent.trim() !== "") {
        range.selectNodeContents(node);
        const words = range.getBoundingClientRect();
        const within = each.closest(".scroll");
        if (!within && words.right > root.clientWidth + near && !each.closest(".contents") && style.overflowX === "visible") say("words beyond the window", each);
      }
    }
  }
  const boxes = (elements) => elements.map((element) => ({ element, box: element.getBoundingClientRect() })).filter(({ box }) => box.width > 0 && box.height > 0);
  const over = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > near && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 2.5;
  for (const picture of document.querySelectorAll("#page svg")) {
    if (!shown(picture)) continue;
    const frame = picture.getBoundingClientRect(), labels = boxes([...picture.querySelectorAll("text")].filter((text) => text.textContent.trim() !== "" && shown(text)));
    for (const [i, { element, box }] of labels.entries()) {
      if (box.left < frame.left - near || box.right > frame.right + near || box.top < frame.top - near || box.bottom > frame.bottom + near) say("label beyond its picture", element, ` in ${picture.getAttribute("aria-label")?.slice(0, 40)}`);
      for (const other of labels.slice(i + 1)) if (over(box, other.box)) say("labels over each other", element, ` and "${other.element.textContent}" in ${picture.getAttribute("aria-label")?.slice(0, 40)}`);
    }
    const size = labels.length ? Math.min(...labels.map(({ element, box }) => parseFloat(getComputedStyle(element).fontSize) * (picture.viewBox.baseVal?.width ? frame.width / picture.viewBox.baseVal.width : 1))) : 99;
    if (size < 9) say("words too small to read", picture, ` ${size.toFixed(1)} px`);
  }
  for (const group of document.querySelectorAll("#timeline .labels, .chart .ends, .energy-stacks, .waterfall .row, .ladder li, .runs > li, .ladders li, .phases .row")) {
    if (!shown(group)) continue;
    const labels = boxes([...group.children].filter((each) => each.textContent.trim() !== ""
                                                    && shown(each)));
    for (const [i, { element, box }] of labels.entries())
      for (const other of labels.slice(i + 1)) if (over(box, other.box)) say("over each other", element, ` and "${other.element.textContent.slice(0, 30)}"`);
  }
  return [...new Set(faults)];
}
