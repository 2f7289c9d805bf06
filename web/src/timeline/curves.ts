// Queues and readings over time: solid up to the smallest value of a pixel's time, lighter up to its largest.
import { CURVE, type Band } from "./bands.ts";
import type { Scene } from "./paint.ts";
import { mixed, type Pixels } from "./pixels.ts";
import { firstTouching } from "./rows.ts";

export function paintCurve(scene: Scene, pixels: Pixels, band: Band): void {
  const { lane } = band, { from, to } = scene.view, perPixel = (to - from) / pixels.width, row = band.rows[0]!;
  const tall = Math.round((CURVE - 4) * scene.ratio), floor = Math.round((band.body + CURVE - 3 - scene.scroll) * scene.ratio);
  const low = lane.column("low")!, high = lane.column("depth")!, scale = band.most > 0 ? tall / band.most : 0;
  const colour = scene.palette.full[band.colours[0] ?? 0]!, light = mixed(colour, scene.palette.paper, 0.45);
  pixels.rect(0, floor, pixels.width, 1, scene.palette.line);
  let column = -1, least = Infinity, most = 0;
  const bar = (left: number, width: number, lowest: number, highest: number): void => {
    if (!(highest > 0)) return;
    const top = Math.max(Math.round(highest * scale), 1), solid = Math.round(Math.max(lowest, 0) * scale);
    pixels.rect(left, floor - top, width, top, light);
    pixels.rect(left, floor - solid, width, solid, colour);
    // The edge of the curve stays visible where it is low.
    pixels.rect(left, floor - top, width, Math.max(1, Math.round(scene.ratio)), colour);
  };
  const flush = (): void => {
    if (column >= 0) bar(column, 1, least, most);
    [column, least, most] = [-1, Infinity, 0];
  };
  for (let item = firstTouching(row, from); item < lane.count; ++item) {
    const begin = lane.start[item]!;
    if (begin >= to) break;
    if (Number.isNaN(high[item]!)) continue;
    const left = (begin - from) / perPixel, right = (begin + lane.duration[item]! - from) / perPixel;
    if (right - left >= 1) {
      flush();
      const first = Math.max(Math.round(left), 0);
      bar(first, Math.min(Math.round(right), pixels.width) - first, low[item]!, high[item]!);
      continue;
    }
    if (Math.floor(left) !== column) flush();
    [column, least, most] = [Math.max(Math.floor(left), 0), Math.min(least, low[item]!), Math.max(most, high[item]!)];
  }
  flush();
}
