// Idle causes of a device, and the operators and modules behind each cause.
import type { NamedTime } from "../model.ts";
import type { Report } from "../page_data.ts";
import { causeColour } from "../parts/colours.ts";
import { h, section, term } from "../parts/dom.ts";
import { offerRows, showEvents } from "../parts/links.ts";
import { exactly } from "../timeline/filter.ts";
import { lengthOf, partOf, plural, share, time } from "../parts/format.ts";

function list(title: string, named: NamedTime[], whole: number): HTMLElement | null {
  if (named.length === 0) return null;
  return h("div", { class: "behind" }, h("h3", { class: "minor" }, title),
    h("ul", {}, ...named.slice(0, 8).map((n) => h("li", {}, h("span", { class: "what", title: n.name }, n.name), h("span", { class: "number" }, time(n.ns)), h("span", { class: "number dim" }, share(partOf(n.ns, whole)))))));
}

export function idleSection(report: Report): HTMLElement | null {
  // Samples know no cause; a finding says so.
  const devices = report.analysis.devices.filter((d) => d.idle_ns > 0 && d.idle.some((c) => c.ns > 0 && !["not_recorded", "no_samples"].includes(c.cause)));
  if (devices.length === 0) return null;
  const blocks = devices.map((d) => {
    const causes = d.idle.filter((c) => c.ns > 0);
    const stack = h("div", { class: "stack", "aria-hidden": "true" }, ...causes.map((c) => h("span", { style: `width:${lengthOf(c.ns, d.idle_ns)};background:${causeColour(c.cause)}` })));
    return h("div", {}, devices.length > 1 ? h("h3", {}, `Device ${d.id} ${d.name}`) : null, stack,
      h("div", { class: "causes" }, ...causes.map((c, i) => {
        const label = report.labels.causes.find((l) => l.id === c.cause);
        const summary = h("summary", {}, h("span", { class: "swatch", style: `background:${causeColour(c.cause)}` }), h("span", { class: "name" }, term(label?.text ?? c.cause, label?.meaning ?? "", false)),
          h("span", { class: "value" }, time(c.ns)), h("span", { class: "value share" }, share(partOf(c.ns, d.span_ns))), h("span", { class: "value gaps" }, plural(c.gaps, "gap")));
        const find = exactly("cause", c.cause), show: HTMLElement = h("button", { type: "button", "data-find": find, click: () => showEvents(find, show) }, `Show the ${plural(c.gaps, "gap")} in the timeline`);
        const columns = [list("Operators", c.operators, c.ns), list("Modules", c.modules, c.ns)];
        return h("details", { "data-cause": c.cause, open: i === 0 }, summary, report.hasTimeline ? show : null, columns.some(Boolean) ? h("div", { class: "columns" }, ...columns) : h("p", { class: "note" }, "The capture does not say which operators."));
      })));
  });
  offerRows("idle", (find) => {
    const button = blocks.map((block) => block.querySelector<HTMLElement>(`[data-find="${CSS.escape(find)}"]`)).find(Boolean);
    if (!button) return false;
    button.closest("details")!.open = true;
    button.scrollIntoView({ block: "center" });
    button.focus({ preventScroll: true });
    return true;
  });
  const idle = devices.reduce((sum, d) => sum + d.idle_ns, 0);
  return section("idle", "GPU idle time by cause", `${time(idle)} idle; every nanosecond has one cause`, ...blocks);
}
