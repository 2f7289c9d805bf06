// Title, headline, and what can be done with the page as a whole.
import type { Report } from "../page_data.ts";
import { filesLine, h } from "../parts/dom.ts";
import { fileName, kept } from "../parts/format.ts";

/** Chooses the theme, and light colours for paper. */
export function themeButton(): HTMLElement {
  printLight();
  const root = document.documentElement;
  const dark = () => root.dataset["theme"] === "dark" || (!root.dataset["theme"] && matchMedia("(prefers-color-scheme: dark)").matches);
  const button = h("button", { type: "button", id: "theme", click: () => {
    root.dataset["theme"] = dark() ? "light" : "dark";
    say();
    dispatchEvent(new Event("themechange"));
  } });
  const say = () => { button.textContent = dark() ? "Light" : "Dark"; };
  say();
  return button;
}

/** Paper is light: pictures as well. */
function printLight(): void {
  const root = document.documentElement;
  let before: string | undefined;
  addEventListener("beforeprint", () => { before = root.dataset["theme"]; root.dataset["theme"] = "light"; });
  addEventListener("afterprint", () => {
    if (before) root.dataset["theme"] = before; else delete root.dataset["theme"];
    dispatchEvent(new Event("themechange"));
  });
}

function saveButton(report: Report): HTMLElement {
  return h("button", { type: "button", click: () => {
    const url = URL.createObjectURL(new Blob([report.exact], { type: "application/json" }));
    h("a", { href: url, download: `${fileName(report.analysis.source.path)}.analysis.json` }).click();
    URL.revokeObjectURL(url);
  } }, "Save as JSON");
}

export function headerPart(report: Report): HTMLElement {
  const a = report.analysis;
  const files = [a.source.path, a.counters_source?.path].filter((p, i, all): p is string => Boolean(p) && all.indexOf(p) === i).map(fileName).join(" + ");
  return h("header", { class: "top" },
    h("div", { class: "bar" }, h("span", { class: "brand" }, "gpufathom"), filesLine(files), h("span", { class: "spring" }), saveButton(report), themeButton()),
    h("h1", {}, kept(report.headline)),
    h("p", { class: "subject" }, report.subject),
    report.shortcomings.length > 0 ? h("div", { class: "shortcomings", role: "alert" }, h("strong", {}, "Incomplete result"), h("ul", {}, ...report.shortcomings.map((s) => h("li", {}, s)))) : null);
}
