// Frames around the event under the pointer and the chosen one, and arrows from launch calls to what they started.
import { isCurve, ROW } from "./bands.ts";
import type { EventAt } from "./events.ts";
import type { Scene } from "./paint.ts";
import { firstFrom } from "./filter.ts";

/** More arrows than these say nothing. */
const MOST = 200;

/** From launch call to kernel: of a kernel its own, of a call all it started, of an operation those of the calls inside it. */
export function arrowsOf(scene: Scene, at: EventAt): [EventAt, EventAt][] {
  const { timeline } = scene, launch = timeline.launchOf(at);
  if (launch) return [[launch, at]];
  if (at.lane.kind === "api") return timeline.started(at).slice(0, MOST).map((kernel) => [at, kernel]);
  if (at.lane.kind !== "host" && at.lane.kind !== "band" && at.lane.kind !== "python" || at.lane.of) return [];
  const calls = timeline.lanes.find((lane) => lane.kind === "api" && lane.group === at.lane.group);
  if (!calls) return [];
  const pairs: [EventAt, EventAt][] = [], end = at.lane.start[at.item]! + at.lane.duration[at.item]!;
  const all = Uint32Array.from({ length: calls.count }, (_, i) => i);
  for (let item = firstFrom(calls, all, at.lane.start[at.item]!); item < calls.count && calls.start[item]! <= end && pairs.length < MOST; ++item)
    for (const kernel of timeline.started({ lane: calls, item })) pairs.push([{ lane: calls, item }, kernel]);
  return pairs.slice(0, MOST);
}

export function paintFrames(scene: Scene, context: CanvasRenderingContext2D): void {
  const perPixel = (scene.view.to - scene.view.from) / scene.width, x = (time: number): number => (time - scene.view.from) / perPixel;
  const middle = (at: EventAt): number => scene.layout.topOf(at.lane, at.item) + ROW / 2 - scene.scroll;
  for (const [at, colour] of [[scene.hit, scene.palette.css.dim], [scene.chosen, scene.palette.css.ink]] as const) {
    if (!at) continue;
    const band = scene.layout.bandOf(at.lane), top = (isCurve(band) ? band.body : scene.layout.topOf(at.lane, at.item)) - scene.scroll;
    const left = Math.max(x(at.lane.start[at.item]!), -4), right = Math.min(x(at.lane.start[at.item]! + at.lane.duration[at.item]!), scene.width + 4);
    context.strokeStyle = colour;
    context.lineWidth = at === scene.chosen ? 2 : 1.5;
    if (!band.hidden) context.strokeRect(left - 1, top - 1, Math.max(right - left, 2) + 1, isCurve(band) ? band.bottom - band.body : ROW);
    context.lineWidth = 1.2;
    for (const [from, to] of arrowsOf(scene, at)) arrow(context, x(from.lane.start[from.item]!), middle(from), x(to.lane.start[to.item]!), middle(to));
  }
}

function arrow(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  const bend = Math.min(Math.abs(x1 - x0) / 2 + 12, 60);
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  context.moveTo(x1 - 6, y1 - 3.5);
  context.lineTo(x1, y1);
  context.lineTo(x1 - 6, y1 + 3.5);
  context.stroke();
}
