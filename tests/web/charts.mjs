// Takes charts out of the page of a sweep, as SVG files of their own:  node tests/web/charts.mjs SWEEP.html FOLDER PREFIX [ID ...]
// Each becomes FOLDER/PREFIX_ID.svg, with its title and the lines' names; without an ID, the page's
// are listed. kernels_MODEL is all levels of that model over its kernels, one under the other.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withReport } from "./browser.mjs";
import { painted } from "./timeline_tools.mjs";

const [report, folder, prefix, ...wanted] = process.argv.slice(2);
if (!prefix) throw new Error("usage: charts.mjs SWEEP.html FOLDER PREFIX [ID ...]");

/** Runs in the page: the chart with its styles written into it, in greys that are readable on light
 * and on dark paper. */
function alone(id) {
  const space = "http://www.w3.org/2000/svg", grey = "#777", colours = new Map();
  const text = (x, y, words, size) => { const e = document.createElementNS(space, "text"); for (const [name, value] of Object.entries({ x, y, "font-size": size, fill: grey })) e.setAttribute(name, value); e.textContent = words; return e; };
  const sizeOf = (picture) => picture.getAttribute("viewBox").split(" ").slice(2).map(Number);
  const framed = (picture, top, width, height) => { for (const [name, value] of Object.entries({ xmlns: space, viewBox: `0 ${top} ${width} ${height}`, "font-family": "system-ui, sans-serif", "font-size": 11 })) picture.setAttribute(name, value); picture.removeAttribute("class"); return picture.outerHTML; };
  function plain(from) {
    const to = from.cloneNode(true);
    const shown = [...from.querySelectorAll("*")], copies = [...to.querySelectorAll("*")];
    shown.forEach((element, i) => {
      const style = getComputedStyle(element), copy = copies[i];
      for (const name of ["class", "style"]) copy.removeAttribute(name);
      if (element.classList.contains("reach") || element.closest(".reach")) return copy.remove();
      if (element.tagName === "title") return;
      if (element.tagName === "text") return copy.setAttribute("fill", grey);
      if (element.classList.contains("grid")) return copy.setAttribute("stroke", "#8884");
      for (const name of ["fill", "stroke", "stroke-width"]) copy.setAttribute(name, element.classList.contains("median") && name === "stroke" ? grey : style.getPropertyValue(name));
      if (element.dataset.line) colours.set(element.dataset.line, style.stroke);
      copy.removeAttribute("data-line");
    });
    return to;
  }
  if (id.startsWith("kernels_")) {
    const model = id.slice("kernels_".length), section = [...document.querySelectorAll("section")].find((each) => each.querySelector("h2").textContent === model), pictures = [...section.querySelectorAll("svg.spreads")];
    const all = document.createElementNS(space, "svg");
    for (const [name, value] of [["role", "img"], ["aria-label", `${model}: each level over all kernels, by their time`]]) all.setAttribute(name, value);
    all.append(text(4, 16, `${model}: each level over all kernels, by their time`, 14));
    let y = 30;
    for (const picture of pictures) {
      const [width, height] = sizeOf(picture), group = document.createElementNS(space, "g");
      group.setAttribute("transform", `translate(0 ${y + 4})`);
      group.append(...plain(picture).childNodes);
      all.append(text(4, y + 12, picture.getAttribute("aria-label").split(": ")[0], 12), group);
      y += height + 14;
    }
    return framed(all, 0, sizeOf(pictures[0])[0], y);
  }
  const from = document.getElementById(id), to = plain(from), [width, height] = sizeOf(from);
  const lines = [...colours], rows = Math.ceil(lines.length / 2);
  to.append(text(8, -10, from.getAttribute("aria-label").split(", ")[0].split(": ").slice(0, 2).join(": "), 14));
  lines.forEach(([name, colour], i) => {
    const x = 52 + (i % 2) * (width - 52) / 2, y = height + 14 + Math.floor(i / 2) * 18, mark = document.createElementNS(space, "path");
    for (const [key, value] of Object.entries({ d: `M${x} ${y - 4}h18`, stroke: colour, "stroke-width": 3 })) mark.setAttribute(key, value);
    to.append(mark, text(x + 24, y, name, 12));
  });
  return framed(to, -30, width, height + 36 + rows * 18);
}

await withReport(report, { viewport: { width: 1280, height: 900 }, colorScheme: "light" }, async (page) => {
  // charts are drawn for a width that the page has by then
  for (let i = 0; i < 3; ++i) await painted(page);
  if (wanted.length === 0) console.log((await page.locator("svg[id]").evaluateAll((all) => all.map((e) => e.id))).join("\n"));
  for (const id of wanted) await writeFile(join(folder, `${prefix}_${id.replaceAll(".", "_")}.svg`),
                                           `${(await page.evaluate(alone, id)).replaceAll("><", ">\n<")}\n`);
});
