// Takes charts out of the page of a sweep, as SVG files of their own:  node tests/web/charts.mjs SWEEP.html FOLDER PREFIX [ID ...]
// Each becomes FOLDER/PREFIX_ID.svg, with its title and the lines' names; without an ID, the page's are listed.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withReport } from "./browser.mjs";

const [report, folder, prefix, ...wanted] = process.argv.slice(2);
if (!prefix) throw new Error("usage: charts.mjs SWEEP.html FOLDER PREFIX [ID ...]");

/** Runs in the page: the chart with its styles written into it, in greys that are readable on light and on dark paper. */
function alone(id) {
  const space = "http://www.w3.org/2000/svg", from = document.getElementById(id), to = from.cloneNode(true), grey = "#777";
  const [, , width, height] = from.getAttribute("viewBox").split(" ").map(Number), colours = new Map();
  const shown = [...from.querySelectorAll("*")], copies = [...to.querySelectorAll("*")];
  shown.forEach((element, i) => {
    const style = getComputedStyle(element), copy = copies[i];
    for (const name of ["class", "style"]) copy.removeAttribute(name);
    if (element.classList.contains("reach") || element.closest(".reach")) return copy.remove();
    if (element.tagName === "text") return copy.setAttribute("fill", grey);
    if (element.classList.contains("grid")) return copy.setAttribute("stroke", "#8884");
    for (const name of ["fill", "stroke", "stroke-width"]) copy.setAttribute(name, style.getPropertyValue(name));
    if (element.dataset.line) colours.set(element.dataset.line, style.stroke);
    copy.removeAttribute("data-line");
  });
  const text = (x, y, words, size) => { const e = document.createElementNS(space, "text"); for (const [name, value] of Object.entries({ x, y, "font-size": size, fill: grey })) e.setAttribute(name, value); e.textContent = words; return e; };
  const lines = [...colours], rows = Math.ceil(lines.length / 2);
  to.append(text(8, -10, from.getAttribute("aria-label").split(", ")[0].split(": ").slice(0, 2).join(": "), 14));
  lines.forEach(([name, colour], i) => {
    const x = 52 + (i % 2) * (width - 52) / 2, y = height + 14 + Math.floor(i / 2) * 18, mark = document.createElementNS(space, "path");
    for (const [key, value] of Object.entries({ d: `M${x} ${y - 4}h18`, stroke: colour, "stroke-width": 3 })) mark.setAttribute(key, value);
    to.append(mark, text(x + 24, y, name, 12));
  });
  for (const [name, value] of Object.entries({ xmlns: space, viewBox: `0 -30 ${width} ${height + 36 + rows * 18}`, "font-family": "system-ui, sans-serif", "font-size": 11 })) to.setAttribute(name, value);
  to.removeAttribute("class");
  return to.outerHTML;
}

await withReport(report, { viewport: { width: 1280, height: 900 }, colorScheme: "light" }, async (page) => {
  await page.waitForTimeout(200);
  if (wanted.length === 0) console.log((await page.locator("svg[id]").evaluateAll((all) => all.map((e) => e.id))).join("\n"));
  for (const id of wanted) await writeFile(join(folder, `${prefix}_${id.replaceAll(".", "_")}.svg`), `${(await page.evaluate(alone, id)).replaceAll("><", ">\n<")}\n`);
});
