// The roofline: operations a second over operations a byte, both axes by powers of ten, under the ceilings of the device.
import type { Ceiling, RoofPoint, WorkUse } from "../model.ts";
import { typeColour } from "../parts/colours.ts";
import { h, section, svg } from "../parts/dom.ts";
import { fitted } from "../parts/figure.ts";
import { partOf, plural, rate, share, time } from "../parts/format.ts";
import { searchRows } from "../parts/links.ts";
import { hideTip, showTip } from "../parts/tips.ts";
import { copiesTable, RATES, ratesTable } from "./rates.ts";

const H = 400, LEFT = 88, RIGHT = 22, TOP = 18, BOTTOM = 44;
/** Below the picture may lie what takes no more than this share of the time. */
const FEW = 0.002;

interface Known extends RoofPoint { flops_per_s: number; intensity: number }

function known(point: RoofPoint): point is Known {
  return point.flops_per_s !== null && point.flops_per_s > 0 && point.intensity !== null && point.intensity > 0;
}

interface Axes { width: number; x: (intensity: number) => number; y: (flops: number) => number; xs: [number, number]; ys: [number, number] }

/** The slowest operators, as long as all of them together take next to no time: they would stretch the picture over powers of ten that say nothing. */
function tooSlow(points: Known[]): Set<Known> {
  const whole = points.reduce((sum, p) => sum + p.ns, 0), slow = new Set<Known>();
  let left = whole * FEW;
  for (const point of [...points].sort((a, b) => a.flops_per_s - b.flops_per_s)) {
    left -= point.ns;
    if (left < 0) break;
    slow.add(point);
  }
  return slow.size < points.length ? slow : new Set();
}

function axesOf(points: Known[], top: number, bandwidth: number, width: number): Axes {
  const low = (values: number[]): number => Math.floor(Math.log10(Math.min(...values))), high = (values: number[]): number => Math.ceil(Math.log10(Math.max(...values)));
  const xs: [number, number] = [low(points.map((p) => p.intensity)), Math.max(high(points.map((p) => p.intensity)), Math.ceil(Math.log10(top / bandwidth)) + 1)], ys: [number, number] = [low(points.map((p) => p.flops_per_s)), high([top])];
  return { width, xs, ys, x: (value) => LEFT + ((Math.log10(value) - xs[0]) / (xs[1] - xs[0])) * (width - LEFT - RIGHT), y: (value) => TOP + (1 - (Math.log10(value) - ys[0]) / (ys[1] - ys[0])) * (H - TOP - BOTTOM) };
}

function grid(picture: SVGElement, { x, y, xs, ys, width }: Axes): void {
  const every = Math.max(1, Math.ceil(((xs[1] - xs[0]) * 52) / (width - LEFT - RIGHT)));
  for (let power = xs[0]; power <= xs[1]; power += every)
    picture.append(svg("line", { class: "grid", x1: x(10 ** power), x2: x(10 ** power), y1: TOP, y2: H - BOTTOM }), svg("text", { x: x(10 ** power), y: H - BOTTOM + 16, "text-anchor": "middle" }, String(Number((10 ** power).toPrecision(1)))));
  for (let power = ys[0]; power <= ys[1]; ++power)
    picture.append(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(10 ** power), y2: y(10 ** power) }), svg("text", { x: LEFT - 6, y: y(10 ** power) + 4, "text-anchor": "end" }, rate(10 ** power, "FLOP/s")));
  picture.append(svg("text", { x: (LEFT + width - RIGHT) / 2, y: H - 8, "text-anchor": "middle" }, "operations a byte of device memory"));
}

/** Slanting up with the memory's bandwidth, then level. */
function roof(picture: SVGElement, axes: Axes, bandwidth: number, ceilings: Ceiling[]): void {
  const { x, y, xs, ys, width } = axes, right = 10 ** xs[1];
  for (const ceiling of ceilings) {
    const knee = ceiling.value / bandwidth, from = Math.max(10 ** xs[0], 10 ** ys[0] / bandwidth);
    if (knee >= right) continue;
    picture.append(svg("path", { class: "line", "data-ceiling": ceiling.id, d: `M${x(from)},${y(from * bandwidth)}L${x(knee)},${y(ceiling.value)}H${x(right)}` }),
      svg("text", { x: width - RIGHT, y: y(ceiling.value) - 5, "text-anchor": "end" }, `${ceiling.id} ${rate(ceiling.value, "FLOP/s")}${ceiling.source === "measured" ? "" : ", data sheet"}`));
  }
}

export function rooflineSection(work: WorkUse | null, typeOf: (kernel: string) => string): HTMLElement | null {
  const points = work?.roofline.filter((p) => p.scope === "operator").filter(known) ?? [], memory = work?.ceilings.find((c) => c.id === "dram" && c.value > 0);
  const used = new Set(points.map((p) => p.type)), ceilings = (work?.ceilings ?? []).filter((c) => c.unit === "FLOP/s" && c.value > 0 && used.has(c.id.split(".")[1] ?? ""));
  if (points.length === 0 || !memory || ceilings.length === 0) return null;
  const slow = tooSlow(points), shown = points.filter((p) => !slow.has(p)), whole = points.reduce((sum, p) => sum + p.ns, 0), outside = [...slow].reduce((sum, p) => sum + p.ns, 0);
  const draw = (width: number): SVGElement => {
    const axes = axesOf(shown, Math.max(...ceilings.map((c) => c.value)), memory.value, width);
    const picture = svg("svg", { class: "curve roofline", viewBox: `0 0 ${width} ${H}`, role: "img", "aria-label": `Roofline of ${shown.length} operators under ${ceilings.map((c) => c.id).join(", ")} and ${rate(memory.value, "B/s")} of device memory` });
    grid(picture, axes);
    roof(picture, axes, memory.value, ceilings);
    for (const p of [...shown].sort((a, b) => b.ns - a.ns)) picture.append(dotOf(p, axes, whole, typeOf));
    return picture;
  };
  return section("roofline", "Roofline", "operators; the area of a dot is its time; click one for its numbers", fitted(draw),
    slow.size > 0 ? h("p", { class: "note", "data-outside": slow.size }, `${plural(slow.size, "operator")} with ${share(partOf(outside, whole))} of the time lie${slow.size === 1 ? "s" : ""} below the picture.`) : null, ratesTable(work!.roofline), copiesTable(work!));
}

function dotOf(p: Known, axes: Axes, whole: number, typeOf: (kernel: string) => string): SVGElement {
  const dot = svg("circle", { class: "dot", "data-point": p.name, cx: axes.x(p.intensity).toFixed(1), cy: axes.y(p.flops_per_s).toFixed(1), r: (3 + 15 * Math.sqrt(partOf(p.ns, whole) ?? 0)).toFixed(1), style: `fill:${typeColour(typeOf(p.name.split(" ")[0]!))}` });
  const words = `${p.name} (${p.phase}): ${time(p.ns)}, ${rate(p.flops_per_s, "FLOP/s")}, ${Number(p.intensity.toPrecision(3))} operations a byte; ${p.limit === "" ? "" : `${p.limit}-bound, `}${p.of_ceiling !== null ? share(p.of_ceiling) : p.no_share === "fewer_operations" ? "unknown share" : p.no_share === "" ? "no data" : "more than 100 %"} of its ceiling (${p.flops_source} operations, ${p.bytes_source} bytes)`;
  dot.addEventListener("pointermove", (event) => showTip("roofline", event.clientX, event.clientY, words));
  dot.addEventListener("pointerleave", () => hideTip("roofline"));
  dot.addEventListener("click", () => searchRows(RATES, p.name));
  dot.append(svg("title", {}, words));
  return dot;
}
