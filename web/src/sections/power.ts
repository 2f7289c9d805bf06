// Power over time, with the kernels that ran under it.
import type { DeviceEnergy } from "../model.ts";
import type { Report } from "../page_data.ts";
import type { Timeline } from "../timeline/events.ts";
import { typeColour } from "../parts/colours.ts";
import { h, svg } from "../parts/dom.ts";
import { timeMarks } from "../parts/axis.ts";
import { fitted } from "../parts/figure.ts";
import { time } from "../parts/format.ts";
import { hideTip, showTip } from "../parts/tips.ts";

const H = 210, LEFT = 46, RIGHT = 8, TOP = 10, BASE = 150, STRIP = 18, BINS = 477;

function axisStep(max: number): number {
  return [10, 20, 50, 100, 200, 500, 1000].find((s) => max / s <= 5) ?? 1000;
}

interface Stretch { type: string; busy: number }

/** The layer type that runs longest in each of BINS equal stretches of the span, and how much of the stretch kernels fill. */
function strip(d: DeviceEnergy, timeline: Timeline): Stretch[] {
  const bins = Array.from({ length: BINS }, () => new Map<string, number>()), width = d.span_ns / BINS, offset = timeline.start - d.start_ns;
  for (const lane of timeline.lanes) {
    if (lane.kind !== "stream" || lane.device !== d.device) continue;
    for (let i = 0; i < lane.count; ++i) {
      const begin = lane.start[i]! + offset, end = Math.min(begin + lane.duration[i]!, d.span_ns), from = Math.max(begin, 0);
      const type = timeline.site(lane, i)?.type ?? "";
      for (let b = Math.floor(from / width); b < BINS && b * width < end; ++b) {
        const part = Math.min(end, (b + 1) * width) - Math.max(from, b * width);
        if (part > 0) bins[b]!.set(type, (bins[b]!.get(type) ?? 0) + part);
      }
    }
  }
  return bins.map((bin) => {
    let type = "", most = 0, all = 0;
    for (const [name, ns] of bin) {
      all += ns;
      if (ns > most) [type, most] = [name, ns];
    }
    return { type, busy: Math.min(1, all / width) };
  });
}

export function powerPicture(d: DeviceEnergy, report: Report): HTMLElement | null {
  if (d.power.length < 1 || d.span_ns <= 0) return null;
  let kernels: Stretch[] = [];
  const some = report.hasTimeline, legend = h("ul", { class: "legend" });
  const read = report.timeline.then((timeline) => {
    kernels = timeline ? strip(d, timeline) : [];
    legend.append(...[...new Set(kernels.filter((k) => k.busy > 0).map((k) => k.type))].map((type) => h("li", {}, h("span", { class: "swatch", style: `background:${typeColour(type)}` }), type || "Other")));
  });
  return h("div", {}, h("h3", {}, some ? "Power over time, and the kernels under it" : "Power over time"), fitted((width) => draw(d, some ? H : BASE + 22, width, kernels), 1000, read), legend);
}

/** Power as a line over its area, marks of watts and time, and what a place of it says. */
function draw(d: DeviceEnergy, height: number, width: number, kernels: Stretch[]): SVGElement {
  const peak = Math.max(...d.power.map((p) => p.watts), 1), step = axisStep(peak), max = Math.ceil(peak / step) * step;
  const x = (ns: number) => LEFT + (ns / d.span_ns) * (width - LEFT - RIGHT), y = (watts: number) => TOP + (1 - watts / max) * (BASE - TOP);
  const picture = svg("svg", { class: "power", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Power over ${time(d.span_ns)}, mean ${d.mean_watts.toFixed(0)} W, highest reading ${peak.toFixed(0)} W` });
  for (let watts = 0; watts <= max; watts += step)
    picture.append(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(watts), y2: y(watts) }), svg("text", { x: LEFT - 6, y: y(watts) + 4, "text-anchor": "end" }, watts === max ? `${watts} W` : String(watts)));
  for (const { at, text } of timeMarks(0, d.span_ns, width - LEFT - RIGHT)) picture.append(svg("text", { x: x(at), y: height - 4, "text-anchor": at === 0 ? "start" : "middle" }, text));
  let path = `M${x(0).toFixed(1)},${y(d.power[0]!.watts).toFixed(1)}`;
  for (const p of d.power) path += `H${x(p.ns).toFixed(1)}V${y(p.watts).toFixed(1)}`;
  path += `H${x(d.span_ns).toFixed(1)}`;
  picture.append(svg("path", { class: "area", d: `${path}V${y(0)}H${x(0)}Z` }), svg("path", { class: "line", d: path }));
  picture.addEventListener("pointermove", (event) => {
    const at = picture.getBoundingClientRect(), ns = (((event.clientX - at.left) / at.width) * width - LEFT) / (width - LEFT - RIGHT) * d.span_ns;
    if (ns < 0 || ns > d.span_ns) return hideTip("power");
    let watts = d.power[0]!.watts;
    for (const p of d.power) if (p.ns <= ns) watts = p.watts;
    const k = kernels[Math.min(BINS - 1, Math.floor((ns / d.span_ns) * BINS))];
    showTip("power", event.clientX, event.clientY, `${time(ns)}: ${watts.toFixed(0)} W${k && k.busy > 0 ? `, mostly ${k.type || "Other"} (${(k.busy * 100).toFixed(0)} % busy)` : ""}`);
  });
  picture.addEventListener("pointerleave", () => hideTip("power"));
  drawKernels(kernels, picture, width);
  return picture;
}

function drawKernels(kernels: Stretch[], picture: SVGElement, whole: number): void {
  if (!kernels.some((k) => k.busy > 0)) return;
  const width = (whole - LEFT - RIGHT) / BINS;
  kernels.forEach((k, i) => {
    if (k.busy > 0) picture.append(svg("rect", { x: (LEFT + i * width).toFixed(1), y: (BASE + 10 + STRIP * (1 - k.busy)).toFixed(1), width: (width + 0.3).toFixed(2), height: (STRIP * k.busy).toFixed(1), style: `fill:${typeColour(k.type)}` }));
  });
  picture.append(svg("text", { x: LEFT - 6, y: BASE + 24, "text-anchor": "end" }, "kernels"));
}
