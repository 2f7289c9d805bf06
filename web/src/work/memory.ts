// Device memory over time, and what held it at its peak.
import type { DeviceMemory, WorkUse } from "../model.ts";
import { h, section, svg } from "../parts/dom.ts";
import { timeMarks } from "../parts/axis.ts";
import { fitted } from "../parts/figure.ts";
import { bytes, partOf, plural, time } from "../parts/format.ts";

const H = 190, LEFT = 70, RIGHT = 16, TOP = 8, BASE = 160;
const KINDS = ["reserved", "used", "allocated"] as const;

function picture(memory: DeviceMemory, whole: number, width: number): SVGElement {
  const most = Math.max(...memory.over_time.flatMap((p) => KINDS.map((kind) => p[kind] ?? 0)), 1), x = (ns: number): number => LEFT + (partOf(ns, whole) ?? 0) * (width - LEFT - RIGHT), y = (value: number): number => TOP + (1 - value / most) * (BASE - TOP);
  const drawn = svg("svg", { class: "curve memory", viewBox: `0 0 ${width} ${H}`, role: "img", "aria-label": `Memory over ${time(whole)}, at most ${bytes(most)}` });
  for (const part of [0, 0.5, 1]) drawn.append(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(most * part), y2: y(most * part) }), svg("text", { x: LEFT - 6, y: y(most * part) + 4, "text-anchor": "end" }, part === 0 ? "0" : bytes(Math.round(most * part))));
  for (const { at, text } of timeMarks(0, whole, width - LEFT - RIGHT)) drawn.append(svg("line", { class: "grid", x1: x(at), x2: x(at), y1: BASE, y2: BASE + 4 }), svg("text", { x: x(at), y: H - 10, "text-anchor": "middle" }, text));
  for (const kind of KINDS) {
    let path = "";
    for (const point of memory.over_time) {
      const value = point[kind];
      if (value !== null) path += path === "" ? `M${x(point.ns).toFixed(1)},${y(value).toFixed(1)}` : `H${x(point.ns).toFixed(1)}V${y(value).toFixed(1)}`;
    }
    if (path) drawn.append(svg("path", { class: `line memory-${kind}`, "data-kind": kind, d: `${path}H${x(whole)}` }));
  }
  return drawn;
}

/** The names of the kinds of holders; less than nothing are blocks that were freed where the capture does not say so. */
function holderName(kind: string, name: string, size: number): string {
  if (size < 0) return "freed before the peak, unseen by the capture";
  return `${kind === "before" ? "held since before the capture" : kind}${name ? `: ${name}` : ""}`;
}

export function memorySection(work: WorkUse | null): HTMLElement | null {
  const known = work?.memory.filter((memory) => memory.over_time.length > 1) ?? [];
  if (known.length === 0) return null;
  const size = (value: number | null): string => (value === null ? "no data" : bytes(value));
  return section("memory", "Memory over time", "", ...known.map((memory) => h("div", { "data-device": memory.device }, known.length > 1 ? h("h3", {}, `Device ${memory.device}`) : null, fitted((width) => picture(memory, Math.max(work!.window.duration_ns, memory.over_time.at(-1)!.ns), width)),
    h("ul", { class: "legend" }, ...KINDS.filter((kind) => memory.over_time.some((p) => p[kind] !== null)).map((kind) => h("li", {}, h("span", { class: `line-mark memory-${kind}` }), { allocated: "held by tensors", reserved: "held by the framework", used: "in use on the board" }[kind]))),
    h("dl", { class: "numbers" }, ...([["capacity", size(memory.capacity)], ["most held by tensors", size(memory.peak_allocated)], ["most held by the framework", size(memory.peak_reserved)], ["room left", size(memory.headroom)], ...(memory.fitting_batch === null ? [] : [["items of a step that would fit", String(Math.floor(memory.fitting_batch))]])] as [string, string][])
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    memory.holders.length === 0 ? null : h("div", {}, h("h3", {}, "Memory at the peak"), h("ul", { class: "short" }, ...memory.holders.slice(0, 12).map((holder) => h("li", {}, h("span", {}), h("span", { class: "what" }, holderName(holder.kind, holder.name, holder.bytes)), h("span", { class: "number" }, `${bytes(holder.bytes)}${holder.blocks > 0 ? `, ${plural(holder.blocks, "block")}` : ""}`))))))));
}
