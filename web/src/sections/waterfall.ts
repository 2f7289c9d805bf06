// Time breakdown. Bars add up to the window; a press on one opens its parts.
import type { DeviceUse, WaterfallBar } from "../model.ts";
import type { Report } from "../page_data.ts";
import { barClass, typeColour } from "../parts/colours.ts";
import { h, section, term } from "../parts/dom.ts";
import { lengthOf, partOf, share, time } from "../parts/format.ts";

const PARTS = 12;

function parts(bar: WaterfallBar, causes: Map<string, string>, window: number): HTMLElement {
  const most = bar.parts[0]?.ns ?? 0;
  const rest = bar.parts.slice(PARTS);
  const row = (name: string, ns: number) => h("tr", {}, h("td", { class: "part" }, name),
    h("td", { class: "mini" }, h("span", { class: barClass(bar.id), style: `width:${lengthOf(ns, most)}${bar.id === "unknown" ? `;background:${typeColour(name)}` : ""}` })),
    h("td", { class: "number" }, time(ns)), h("td", { class: "number" }, share(partOf(ns, window))));
  return h("table", { class: "parts" }, h("caption", {}, "share of the time"), h("tbody", {}, ...bar.parts.slice(0, PARTS).map((p) => row(causes.get(p.name) ?? p.name, p.ns)),
    rest.length > 0 ? row(`${rest.length} more`, rest.reduce((sum, p) => sum + p.ns, 0)) : null));
}

/** Kernels without counters show their types instead. */
function fills(bar: WaterfallBar, from: number, width: number): HTMLElement[] {
  if (bar.ns === 0) return [];
  if (bar.id !== "unknown" || bar.parts.length === 0) return [h("span", { class: `fill ${barClass(bar.id)}`, style: `left:${from}%;width:${width}%` })];
  let before = from;
  return bar.parts.map((part) => {
    const left = before, share = (part.ns / bar.ns) * width;
    before += share;
    return h("span", { class: "fill", "data-type": part.name, style: `left:${left}%;width:${share}%;background:${typeColour(part.name)}` });
  });
}

/** The bar's parts are open at first where they are the answer: kernels by type, when kernels fill most of the window and nothing says how deep they go. */
function opensAtOnce(bar: WaterfallBar, device: DeviceUse): boolean {
  return bar.id === "unknown" && bar.ns * 2 > device.span_ns && bar.parts.length > 0;
}

function bars(device: DeviceUse, report: Report): HTMLElement {
  const causes = new Map(report.labels.causes.map((c) => [c.id, c.text]));
  let before = 0;
  // Without counters a bar of 0 would claim what nobody measured.
  const unknown = device.waterfall.some((b) => b.id === "unknown" && b.ns > 0);
  const rows = device.waterfall.filter((b) => b.ns > 0 || (!unknown && b.id !== "unknown")).map((bar) => {
    const label = report.labels.bars.find((l) => l.id === bar.id);
    const from = (partOf(before, device.span_ns) ?? 0) * 100, width = (partOf(bar.ns, device.span_ns) ?? 0) * 100;
    before += bar.ns;
    const inside = h("div", { class: "inside", hidden: true, id: `waterfall-${device.id}-${bar.id}` });
    const button = h("button", { type: "button", class: "row", "aria-expanded": "false", "aria-controls": inside.id, disabled: bar.parts.length === 0, click: () => {
      if (inside.childElementCount === 0) inside.append(parts(bar, causes, device.span_ns));
      inside.hidden = !inside.hidden;
      button.setAttribute("aria-expanded", String(!inside.hidden));
    } },
      h("span", { class: "name" }, term(label?.text ?? bar.label, label?.meaning ?? "", false)),
      h("span", { class: "track" }, ...fills(bar, from, width)),
      h("span", { class: "value" }, time(bar.ns)), h("span", { class: "value share" }, share(partOf(bar.ns, device.span_ns))));
    if (opensAtOnce(bar, device)) button.click();
    return h("li", { "data-bar": bar.id, "data-ns": bar.ns, "data-device": device.id }, button, inside);
  });
  return h("ol", { class: "waterfall" }, ...rows);
}

export function waterfallSection(report: Report): HTMLElement | null {
  const devices = report.analysis.devices.filter((d) => d.waterfall.length > 0);
  if (devices.length === 0) return null;
  const sum = devices.reduce((total, d) => total + d.span_ns, 0);
  return section("waterfall", "Time breakdown", `bars add up to ${time(sum)}; click one for its parts`,
    ...devices.map((d) => h("div", {}, devices.length > 1 ? h("h3", {}, `Device ${d.id} ${d.name}`) : null, bars(d, report))));
}
