// Paints the timeline on a canvas: only what is in sight, and at most one rectangle a pixel column and row.
import type { Lane, Timeline } from "../page_data.ts";
import { timeMarks } from "../parts/axis.ts";
import { causeColour, resolve, typeColour } from "../parts/colours.ts";
import { AXIS, LABEL, ROW, firstTouching, type Band, type Hit } from "./layout.ts";

export interface Scene {
  timeline: Timeline;
  bands: Band[];
  from: number;       // ns at the left edge
  to: number;
  width: number;
  height: number;
  colourBy: "type" | "tensor";
  hit: Hit | null;    // under the pointer
  chosen: Hit | null;
  causes: Map<string, string>;
}

function colourOf(lane: Lane, i: number, scene: Scene): string {
  const text = (column: number[]) => scene.timeline.texts[column[i] ?? 0] ?? "";
  if (lane.kind === "idle") return causeColour(text(lane.name));
  if (lane.kind === "steps") return "var(--step)";
  if (lane.kind === "host") return "var(--host)";
  if (lane.kind === "api") return "var(--api)";
  if (scene.colourBy === "type") return typeColour(text(lane.type));
  const permille = lane.tensor[i] ?? -1;
  return permille < 0 ? "var(--type-other)" : `var(--heat-${Math.min(5, permille === 0 ? 0 : 1 + Math.floor(permille / 100))})`;
}

export function draw(context: CanvasRenderingContext2D, scene: Scene): void {
  const { width, height, from, to } = scene;
  const x = (ns: number) => ((ns - from) / (to - from)) * width;
  const ink = resolve("var(--ink)"), faint = resolve("var(--line)"), dim = resolve("var(--dim)"), cache = new Map<string, string>();
  const paint = (colour: string) => { let c = cache.get(colour); if (!c) cache.set(colour, (c = resolve(colour))); return c; };
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const { at, text } of timeMarks(from, to, width)) {
    context.fillStyle = faint;
    context.fillRect(Math.round(x(at)), AXIS - 6, 1, height);
    context.fillStyle = dim;
    context.fillText(text, Math.round(x(at)) + 4, 9);
  }
  for (const band of scene.bands) {
    const { lane } = band;
    if (lane.kind === "queue") drawQueue(context, scene, band, x, paint);
    else band.rows.forEach((row, r) => {
      const y = band.top + LABEL + r * ROW;
      let filled = -1;
      for (let at = firstTouching(lane, row, from); at < row.items.length; ++at) {
        const i = row.items[at]!, left = x(lane.start[i]!), right = x(lane.start[i]! + lane.duration[i]!);
        if (left > width) break;
        if (right < 0 || (right <= filled && right - left < 1)) continue;
        const x0 = Math.max(left, 0), w = Math.max(Math.min(right, width) - x0 - (right - left > 3 ? 0.6 : 0), 0.8);
        context.fillStyle = paint(colourOf(lane, i, scene));
        context.fillRect(x0, y, w, ROW - 2);
        filled = Math.ceil(x0 + w);
        if (w < 34) continue;
        const shown = scene.timeline.texts[lane.name[i] ?? 0] ?? "", text = lane.kind === "idle" ? scene.causes.get(shown) ?? shown : shown;
        context.save();
        context.beginPath();
        context.rect(x0, y, w - 2, ROW);
        context.clip();
        context.fillStyle = paint("var(--on-fill)");
        context.fillText(text, x0 + 4, y + ROW / 2 - 0.5);
        context.restore();
      }
    });
    const title = lane.kind === "queue" ? `${lane.title}, at most ${Math.max(...lane.depth)}` : lane.title;
    context.fillStyle = paint("var(--paper)");  // a mark of the axis may run through the title
    context.fillRect(2, band.top + 1, context.measureText(title).width + 5, LABEL - 3);
    context.fillStyle = dim;
    context.fillText(title, 4, band.top + LABEL / 2);
  }
  for (const [hit, colour] of [[scene.hit, dim], [scene.chosen, ink]] as const) {
    if (!hit) continue;
    const { lane } = hit.band, i = hit.item, y = hit.band.top + LABEL + (lane.row[i] ?? 0) * ROW, tall = lane.kind === "queue" ? hit.band.height - LABEL : ROW;
    const left = Math.max(x(lane.start[i]!), -2), right = Math.min(x(lane.start[i]! + lane.duration[i]!), width + 2);
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.strokeRect(left - 0.5, y - 0.5, Math.max(right - left, 2) + 0.5, tall - 1);
    arrow(context, scene, hit, x, colour);
  }
}

/** Depth over time: solid up to the smallest depth of a span, lighter up to its largest. Nothing on the floor line: the queue is empty. */
function drawQueue(context: CanvasRenderingContext2D, scene: Scene, band: Band, x: (ns: number) => number, paint: (colour: string) => string): void {
  const { lane } = band, row = band.rows[0]!, floor = band.top + band.height - 2, top = Math.max(...lane.depth, 1), scale = (band.height - LABEL - 4) / top;
  context.fillStyle = paint("var(--line)");
  context.fillRect(0, floor, scene.width, 1);
  context.fillStyle = paint("var(--queue)");
  // Spans narrower than a pixel go together: a column of the picture shows the range inside it.
  let column = -1, low = Infinity, high = 0;
  const flush = () => {
    if (column < 0) return;
    bar(column, 1, low, high);
    column = -1;
  };
  const bar = (left: number, width: number, lowest: number, highest: number) => {
    if (highest <= 0) return;
    context.globalAlpha = 0.45;
    context.fillRect(left, floor - highest * scale, width, (highest - lowest) * scale);
    context.globalAlpha = 1;
    context.fillRect(left, floor - lowest * scale, width, lowest * scale);
  };
  for (let at = firstTouching(lane, row, scene.from); at < row.items.length; ++at) {
    const i = row.items[at]!, left = x(lane.start[i]!), right = x(lane.start[i]! + lane.duration[i]!);
    if (left > scene.width) break;
    if (right < 0) continue;
    if (right - left >= 1) {
      flush();
      bar(Math.max(left, 0), Math.min(right, scene.width) - Math.max(left, 0), lane.low[i]!, lane.depth[i]!);
      continue;
    }
    const pixel = Math.floor(left);
    if (pixel !== column) {
      flush();
      column = pixel;
      low = Infinity;
      high = 0;
    }
    low = Math.min(low, lane.low[i]!);
    high = Math.max(high, lane.depth[i]!);
  }
  flush();
}

/** From the launch call on its host thread to the kernel. */
function arrow(context: CanvasRenderingContext2D, scene: Scene, hit: Hit, x: (ns: number) => number, colour: string): void {
  const { lane } = hit.band, launch = lane.launch[hit.item] ?? -1, host = scene.bands.find((b) => b.index === lane.launch_lane[hit.item]);
  if (launch < 0 || !host) return;
  const x0 = x(launch), y0 = host.top + LABEL + ROW / 2, x1 = x(lane.start[hit.item]!), y1 = hit.band.top + LABEL + ((lane.row[hit.item] ?? 0) + 0.5) * ROW;
  context.strokeStyle = colour;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + 30, y0, x1 - 30, y1, x1, y1);
  context.stroke();
}
