// Lines over two axes: the horizontal one by powers of two where it holds batches or bytes, the other by powers of ten where values span many.
import { svg } from "./dom.ts";
import { count } from "./format.ts";
import { hideTip, showTip } from "./tips.ts";

export interface PlotPoint { x: number; y: number; tip: string; ring?: boolean; low?: number; high?: number }
export interface PlotLine { name: string; colour: string; shape: number; points: PlotPoint[]; stepped?: boolean; bare?: boolean; dash?: string }
export interface Plot { id: string; title: string; xTitle: string; yTitle: string; byTwos?: boolean; byTens?: boolean; percentX?: boolean; percentY?: boolean; sayX?: (value: number) => string; top?: number; lines: PlotLine[] }

const HEIGHT = 236, LEFT = 52, LETTER = 6.5, RIGHT = 28, TOP = 10, BOTTOM = 40;

/** Round values from 0 to at least `most`, about five of them. */
function rounds(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / 5)), step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power * 5 >= most * (1 - 1e-9)) ?? 10);
  const marks = [];
  for (let i = 0; i * step < most * (1 + 1e-9); ++i) marks.push(i * step);
  return marks;
}

/** Powers of two inside a span, thinned until `room` of them are left. */
function twos(low: number, high: number, room: number): number[] {
  const first = Math.ceil(Math.log2(low) - 1e-9), last = Math.floor(Math.log2(high) + 1e-9), every = Math.max(1, Math.ceil((last - first + 1) / Math.max(room, 2)));
  const marks = [];
  for (let power = first; power <= last; power += every) marks.push(2 ** power);
  return marks;
}

/** Powers of ten inside a span. */
function tens(low: number, high: number): number[] {
  const marks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) marks.push(10 ** power);
  return marks;
}

function numeral(value: number, percent: boolean | undefined): string {
  if (percent) return `${Number((value * 100).toPrecision(3))} %`;
  return Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(3)));
}

/** A mark of its own for each line, for those who see fewer colours and for paper. */
function mark(shape: number, x: number, y: number, colour: string): SVGElement {
  const paths = [`M${x - 3.5} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`, `M${x - 3} ${y - 3}h6v6h-6z`, `M${x} ${y - 4.4}l4.4 4.4l-4.4 4.4l-4.4 -4.4z`, `M${x} ${y - 4}l4 7h-8z`, `M${x} ${y + 4}l4 -7h-8z`];
  return svg("path", { class: "point", d: paths[shape % paths.length]!, style: `fill:${colour}` });
}

function pathOf(points: [number, number][]): string { return points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""); }

function stairs(points: [number, number][]): [number, number][] { return points.flatMap(([x, y], i): [number, number][] => (i === 0 ? [[x, y]] : [[points[i - 1]![0], y], [x, y]])); }

export function linePlot(plot: Plot, width: number): SVGElement {
  const points = plot.lines.flatMap((line) => line.points), heights = points.flatMap((p) => [p.y, p.high ?? p.y]);
  const marksY = plot.byTens ? tens(Math.min(...points.map((p) => p.y)), Math.max(...heights)) : rounds(plot.top ?? Math.max(...heights, 1e-9) * 1.04);
  const least = plot.byTens ? marksY[0]! : 0, most = plot.byTens ? marksY.at(-1)! : plot.top ?? Math.max(...heights, 1e-9) * 1.04;
  const risen = (value: number): number => (plot.byTens ? Math.log(Math.max(value, least) / least) / Math.log(most / least || 10) : value / most);
  const low = plot.byTwos ? Math.min(...points.map((p) => p.x)) : 0, high = Math.max(...points.map((p) => p.x), low * 1.001, plot.percentX ? 1 : 0);
  const place = (value: number): number => (plot.byTwos ? (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low)) : value / high);
  const saidY = marksY.map((value) => numeral(value, plot.percentY));
  const left = Math.max(LEFT, 10 + LETTER * Math.max(...saidY.map((said) => said.length)));
  const x = (value: number): number => left + place(value) * (width - left - RIGHT), y = (value: number): number => TOP + (1 - risen(value)) * (HEIGHT - TOP - BOTTOM);
  const picture = svg("svg", { class: "curve plot", id: plot.id, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `${plot.title}: ${plot.lines.map((line) => line.name).join(", ")}` });
  marksY.forEach((value, i) => picture.append(svg("line", { class: "grid", x1: left, x2: width - RIGHT, y1: y(value), y2: y(value) }), svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, saidY[i]!)));
  const marks = plot.byTwos ? twos(low, high, (width - left) / 58) : rounds(high);
  for (const value of marks) picture.append(svg("line", { class: "grid", x1: x(value), x2: x(value), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4 }), svg("text", { x: x(value), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, plot.sayX?.(value) ?? numeral(value, plot.percentX)));
  picture.append(svg("text", { x: (left + width - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, plot.xTitle));
  for (const line of plot.lines) {
    const at = line.points.map((p): [number, number] => [x(p.x), y(p.y)]);
    picture.append(svg("path", { class: "series", "data-line": line.name, d: pathOf(line.stepped ? stairs(at) : at), style: `stroke:${line.colour}`, "stroke-dasharray": line.dash || undefined }));
    for (const p of line.points) if (p.low !== undefined && p.high !== undefined) picture.append(svg("line", { class: "series", x1: x(p.x), x2: x(p.x), y1: y(p.low), y2: y(p.high), style: `stroke:${line.colour}` }));
    if (!line.stepped && !line.bare) line.points.forEach((p, i) => picture.append(...dots(p, line, at[i]!)));
  }
  return picture;
}

/** The mark of a point, its ring, and an area that is easy to hit. */
function dots(point: PlotPoint, line: PlotLine, [x, y]: [number, number]): SVGElement[] {
  const reach = svg("circle", { class: "reach", cx: x, cy: y, r: 9 }, svg("title", {}, point.tip));
  reach.addEventListener("pointermove", (event) => showTip("plot", event.clientX, event.clientY, point.tip));
  reach.addEventListener("pointerleave", () => hideTip("plot"));
  const ring = point.ring ? [svg("circle", { class: "ring", cx: x, cy: y, r: 8, style: `stroke:${line.colour}` })] : [];
  return [mark(line.shape, x, y, line.colour), ...ring, reach];
}

/** The line's mark beside its name. */
export function lineMark(shape: number, colour: string, dash = ""): SVGElement {
  return svg("svg", { class: "key", viewBox: "0 0 26 12", width: 26, height: 12, "aria-hidden": "true" }, svg("path", { class: "series", d: "M0 6H26", style: `stroke:${colour}`, "stroke-dasharray": dash || undefined }), mark(shape, 13, 6, colour));
}
