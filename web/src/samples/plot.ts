// One chart: its lines by name and value, and their course on a canvas. All charts of the section show the same span and the same instant.
import { timeMarks } from "../parts/axis.ts";
import { fitted } from "../parts/canvas.ts";
import { resolve } from "../parts/colours.ts";
import { h, term } from "../parts/dom.ts";
import { reading, time } from "../parts/format.ts";
import { hideTip, showTip } from "../parts/tips.ts";
import { steer, type View } from "../parts/view.ts";
import type { Chart, Line } from "./charts.ts";

const AXIS = 18, PAD = 4;

/** State that the charts share; `at` is the time under the pointer. */
export interface Scene { view: View; at: number | null; whole: number; bucket: number; least: number; set: (view: View) => void; point: (at: number | null) => void }

/** Mean of what is in sight; of the whole the exact one. */
function meanInSight(line: Line, { view, whole, bucket }: Scene): number | null {
  if (view.from <= 0 && view.to >= whole) return line.mean;
  const seen = line.values.slice(Math.floor(view.from / bucket), Math.ceil(view.to / bucket)).filter((v): v is number => v !== null);
  return seen.length > 0 ? seen.reduce((sum, v) => sum + v, 0) / seen.length : null;
}

function valueAt(line: Line, at: number, scene: Scene): number | null {
  return line.values[Math.floor(at / scene.bucket)] ?? null;
}

function trace(context: CanvasRenderingContext2D, line: Line, scene: Scene, x: (ns: number) => number, y: (value: number) => number, base: number, filled: boolean): void {
  const { view, bucket, whole } = scene, last = Math.min(line.values.length, Math.ceil(view.to / bucket));
  const path = new Path2D(), area = new Path2D();
  let open = false;
  for (let i = Math.max(0, Math.floor(view.from / bucket)); i < last; ++i) {
    const value = line.values[i]!, left = x(i * bucket), right = x(Math.min((i + 1) * bucket, whole));
    if (value !== null) {
      const height = y(value);
      if (open) path.lineTo(left, height); else path.moveTo(left, height);
      path.lineTo(right, height);
      area.rect(left, height, right - left, base - height);
    }
    open = value !== null;
  }
  const colour = resolve(line.colour);
  if (filled) {
    context.globalAlpha = 0.13;
    context.fillStyle = colour;
    context.fill(area);
    context.globalAlpha = 1;
  }
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.setLineDash(line.dashed ? [5, 3] : []);
  context.stroke(path);
  context.setLineDash([]);
}

function draw(context: CanvasRenderingContext2D, chart: Chart, scene: Scene, width: number, axis: boolean): void {
  const { view } = scene, base = PAD + chart.height;
  const x = (ns: number) => ((ns - view.from) / (view.to - view.from)) * width, y = (value: number) => base - ((Math.min(value, chart.top) - chart.bottom) / (chart.top - chart.bottom)) * chart.height;
  const faint = resolve("var(--line)"), dim = resolve("var(--dim)");
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "alphabetic";
  context.fillStyle = faint;
  for (const part of chart.unit === "ratio" ? [0, 0.25, 0.5, 0.75, 1] : [0, 1]) context.fillRect(0, Math.round(base - part * chart.height), width, 1);
  let written = -Infinity;
  for (const { at, text } of timeMarks(view.from, view.to, width, 75)) {
    context.fillStyle = faint;
    context.fillRect(Math.round(x(at)), PAD, 1, chart.height + (axis ? 5 : 0));
    const length = context.measureText(text).width, left = Math.min(Math.max(x(at) - length / 2, 0), width - length);
    if (!axis || left < written + 8) continue;
    context.fillStyle = dim;
    context.fillText(text, left, base + AXIS - 3);
    written = left + length;
  }
  chart.lines.forEach((line, i) => trace(context, line, scene, x, y, base, chart.filled || (chart.unit === "ratio" && i === 0)));
  if (scene.at === null) return;
  context.fillStyle = dim;
  context.fillRect(Math.round(x(scene.at)), PAD, 1, chart.height);
}

function mark(line: Line): HTMLElement {
  return h("span", { class: line.dashed ? "line-mark dashed" : "line-mark", style: `--colour:${line.colour}` });
}

/** The tooltip. */
function told(chart: Chart, at: number, scene: Scene): HTMLElement[] {
  const from = Math.floor(at / scene.bucket) * scene.bucket;
  return [h("strong", {}, `${chart.title ? `${chart.title}, ` : ""}${time(from)}`), h("span", { class: "dim" }, ` mean of ${time(scene.bucket)}`),
    h("dl", { class: "facts" }, ...chart.lines.flatMap((l) => [h("dt", {}, mark(l), l.text), h("dd", { class: "number" }, reading(valueAt(l, at, scene), l.unit))]))];
}

/** A round value at an end of the axis. */
function endText(value: number, unit: string): string {
  return value === 0 ? "0" : unit === "cores" ? `${value} ${value === 1 ? "core" : "cores"}` : reading(value, unit).replace(/\.0+(?= )/, "");
}

/** `axis`: times stand under the chart. */
export function plot(chart: Chart, scene: Scene, axis: boolean): { element: HTMLElement; canvas: HTMLCanvasElement; paint: () => void } {
  const names = chart.lines.map((l) => l.text).join(", ");
  const canvas = h("canvas", { tabindex: 0, role: "img", style: `height:${PAD + chart.height + (axis ? AXIS : 1)}px`,
    "aria-label": `${chart.title ? `${chart.title}: ` : ""}${names} over ${time(scene.whole)}. Arrow keys move, plus and minus zoom, 0 shows everything.` });
  // As wide as its longest text: the names must not move while the pointer does.
  const values = chart.lines.map((l) => h("span", { class: "value", style: `min-width:${Math.max(...[l.mean, ...l.values].map((v) => reading(v, l.unit).length))}ch` }));
  const legend = h("ul", { class: "legend" }, ...chart.lines.map((l, i) => h("li", {}, mark(l), term(l.text, l.meaning, false), values[i]!)));
  const ends = h("div", { class: "ends", "aria-hidden": "true" }, ...(chart.unit === "ratio" ? [1, 0.5, 0] : [1, 0]).map((part) =>
    h("span", { style: `top:${PAD + chart.height * (1 - part)}px` }, endText(chart.bottom + part * (chart.top - chart.bottom), chart.unit))));
  const paint = () => {
    const context = fitted(canvas, canvas.clientHeight);
    if (!context) return;
    Object.assign(canvas.dataset, { from: Math.round(scene.view.from), to: Math.round(scene.view.to) });  // ns in sight
    draw(context, chart, scene, canvas.clientWidth, axis);
    chart.lines.forEach((l, i) => { values[i]!.textContent = reading(scene.at === null ? meanInSight(l, scene) : valueAt(l, scene.at, scene), l.unit); });
  };
  const point = (event: PointerEvent | null) => {
    const r = canvas.getBoundingClientRect(), at = event ? scene.view.from + ((event.clientX - r.left) / r.width) * (scene.view.to - scene.view.from) : -1;
    if (event && at >= 0 && at < scene.whole) {
      scene.point(at);
      showTip("samples", event.clientX, event.clientY, ...told(chart, at, scene));
    } else {
      scene.point(null);
      hideTip("samples");
    }
  };
  steer(canvas, scene.whole, () => scene.view, scene.set, { hover: point, press: point }, scene.least);
  return { element: h("div", { class: "chart", "data-chart": chart.id }, h("div", { class: "names" }, chart.title ? h("h3", {}, term(chart.title, chart.meaning)) : null, legend), ends, canvas), canvas, paint };
}
