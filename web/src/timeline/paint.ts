// Paints what is in sight. Every event is there: as itself where it is a pixel wide or more; thinner ones together, a column as high as the
// part of its time that they fill and with the colour that fills most of it.
import { timeMarks } from "../parts/axis.ts";
import type { View } from "../parts/view.ts";
import { GROUP, isCurve, ROW, type Band, type Layout } from "./bands.ts";
import { paintCurve } from "./curves.ts";
import type { EventAt, Lane, Timeline } from "./events.ts";
import { firstFrom, type Search } from "./filter.ts";
import type { Palette } from "./palette.ts";
import type { Pixels } from "./pixels.ts";
import { firstTouching, heaviest, itemOf, runAt, STEP, type Row } from "./rows.ts";

export interface Scene {
  timeline: Timeline;
  layout: Layout;
  palette: Palette;
  view: View;
  /** Of the picture in sight, in pixels of the page; `scroll` is how far it is scrolled down. */
  width: number; height: number; scroll: number; ratio: number;
  search: Search | null;
  range: View | null;
  hit: EventAt | null;
  chosen: EventAt | null;
  causes: Map<string, string>;
}

interface Box { top: number; height: number }

/** Fills columns of a row one after the other, thin events of a column together. */
class Columns {
  private column = -1;
  private filled = 0;
  private readonly times = new Float64Array(256);
  private readonly used: number[] = [];
  constructor(private readonly pixels: Pixels, private readonly colours: Uint32Array, private readonly box: Box, private readonly perPixel: number) {}

  add(left: number, time: number, colour: number): void {
    const column = Math.floor(left);
    if (column !== this.column) {
      this.flush();
      this.column = column;
    }
    if (this.times[colour] === 0) this.used.push(colour);
    this.times[colour]! += Math.max(time, 1e-6);
    this.filled += time;
  }

  flush(): void {
    if (this.used.length === 0) return;
    const part = Math.min(1, this.filled / this.perPixel), height = Math.max(Math.round(part * this.box.height), Math.min(4, this.box.height));
    const colour = this.used.length === 1 ? this.used[0]! : heaviest(this.times);
    this.pixels.rect(this.column, this.box.top + this.box.height - height, 1, height, this.colours[colour]!);
    for (const each of this.used) this.times[each] = 0;
    this.used.length = 0;
    this.filled = 0;
  }
}

function paintRow(scene: Scene, pixels: Pixels, row: Row, colours: Uint8Array, palette: Uint32Array, box: Box): void {
  const { from, to } = scene.view, perPixel = (to - from) / pixels.width, { start, duration } = row.lane;
  const columns = new Columns(pixels, palette, box, perPixel);
  for (let place = firstTouching(row, from); place < row.count;) {
    const item = itemOf(row, place), begin = start[item]!;
    if (begin >= to) break;
    const run = place % STEP === 0 ? runAt(row, place, perPixel) : null;
    if (run) {
      columns.add((begin - from) / perPixel, run.filled, run.colour);
      place += run.events;
      continue;
    }
    const left = (begin - from) / perPixel, right = (begin + duration[item]! - from) / perPixel;
    if (right - left < 1) columns.add(Math.max(left, 0), duration[item]!, colours[item]!);
    else {
      columns.flush();
      // Neighbours stay apart where there is room for it.
      const first = Math.round(left), last = Math.max(Math.round(right), first + 1);
      pixels.rect(first, box.top, last - first - (last - first > 4 ? 1 : 0), box.height, palette[colours[item]!]!);
    }
    ++place;
  }
  columns.flush();
}

/** Found events over the faded others; of several in a pixel one. */
function paintFound(scene: Scene, pixels: Pixels, band: Band, items: Uint32Array, box: Box): void {
  const { from, to } = scene.view, perPixel = (to - from) / pixels.width, { start, duration } = band.lane;
  let place = Math.max(0, firstFrom(band.lane, items, from) - 1);
  while (place < items.length) {
    const item = items[place]!, begin = start[item]!;
    if (begin >= to) break;
    const first = Math.round((begin - from) / perPixel), last = Math.max(Math.round((begin + duration[item]! - from) / perPixel), first + 1);
    pixels.rect(first, box.top, Math.max(last - first - (last - first > 4 ? 1 : 0), 2), box.height, scene.palette.full[band.colours[item]!]!);
    place = last - first > 1 ? place + 1 : Math.max(place + 1, firstFrom(band.lane, items, from + (first + 1) * perPixel));
  }
}

function rowBox(scene: Scene, band: Band, row: number): Box {
  const gap = Math.round(scene.ratio);
  return { top: Math.round((band.body + row * ROW - scene.scroll) * scene.ratio), height: Math.round(ROW * scene.ratio) - 2 * gap };
}

function paintBand(scene: Scene, pixels: Pixels, band: Band): void {
  if (isCurve(band)) return paintCurve(scene, pixels, band);
  const rows = band.folded ? 1 : band.rows.length, found = scene.search?.found.get(band);
  for (let row = 0; row < rows; ++row) {
    const box = rowBox(scene, band, row);
    if (box.top > pixels.height || box.top + box.height < 0) continue;
    paintRow(scene, pixels, band.rows[row]!, band.colours, scene.search ? scene.palette.faded : scene.palette.full, box);
    if (found?.[row]) paintFound(scene, pixels, band, found[row], box);
  }
  if (band.lane.leftOut > 0) {
    const left = Math.round(((band.lane.until - scene.view.from) / (scene.view.to - scene.view.from)) * pixels.width);
    pixels.hatch(left, rowBox(scene, band, 0).top, pixels.width, Math.round((band.bottom - band.body) * scene.ratio), scene.palette.dim, Math.round(7 * scene.ratio));
  }
}

export function inSight(scene: Scene): Band[] {
  return scene.layout.bands.filter((band) => !band.hidden && band.bottom > scene.scroll && band.top < scene.scroll + scene.height);
}

export function paintPixels(scene: Scene, pixels: Pixels): void {
  const { palette, ratio, view } = scene, x = (time: number): number => Math.round(((time - view.from) / (view.to - view.from)) * pixels.width);
  pixels.clear(palette.paper);
  for (const group of scene.layout.groups)
    if (group.name !== "") pixels.rect(0, Math.round((group.top - scene.scroll) * ratio), pixels.width, Math.round(GROUP * ratio), palette.panel);
  for (const { at } of timeMarks(view.from, view.to, scene.width)) pixels.rect(x(at), 0, Math.round(ratio), pixels.height, palette.line);
  for (const band of inSight(scene)) paintBand(scene, pixels, band);
  if (scene.range) {
    const left = x(scene.range.from), right = x(scene.range.to);
    pixels.tint(left, 0, right - left, pixels.height, palette.accent, 0.13);
    for (const edge of [left, right]) pixels.rect(edge, 0, Math.round(ratio), pixels.height, palette.accent);
  }
}

/** A pixel of a text of 11 pixels is about this wide, less for most letters. */
const LETTER = 6.1;

export function paintNames(scene: Scene, context: CanvasRenderingContext2D): void {
  const { from, to } = scene.view, perPixel = (to - from) / scene.width, least = 34 * perPixel;
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const band of inSight(scene)) {
    if (isCurve(band)) continue;
    const rows = band.folded ? 1 : band.rows.length;
    for (let row = 0; row < rows; ++row) {
      const middle = band.body + (row + 0.5) * ROW - scene.scroll - 1;
      if (middle < -ROW || middle > scene.height + ROW) continue;
      nameRow(scene, context, band.lane, band.rows[row]!, middle, least, perPixel);
    }
    if (band.lane.leftOut > 0) nameLeftOut(scene, context, band, perPixel);
  }
}

function nameRow(scene: Scene, context: CanvasRenderingContext2D, lane: Lane, row: Row, middle: number, least: number, perPixel: number): void {
  const { from, to } = scene.view, found = scene.search?.byLane.get(lane);
  for (let place = firstTouching(row, from); place < row.count; ++place) {
    const item = itemOf(row, place), begin = lane.start[item]!;
    if (begin >= to) break;
    const run = place % STEP === 0 ? runAt(row, place, least) : null;
    if (run) {
      place += run.events - 1;
      continue;
    }
    if (lane.duration[item]! < least) continue;
    const left = Math.max((begin - from) / perPixel, 0), width = Math.min((begin + lane.duration[item]! - from) / perPixel, scene.width) - left;
    if (width < 34) continue;
    const known = scene.search === null || (found !== undefined && found[firstFrom(lane, found, begin)] === item);
    context.fillStyle = known ? scene.palette.css.onFill : scene.palette.css.dim;
    const raw = scene.timeline.nameOf(lane, item), text = lane.kind === "idle" ? scene.causes.get(raw) ?? raw : raw, letters = Math.floor((width - 8) / LETTER);
    context.fillText(text.length > letters ? `${text.slice(0, Math.max(letters - 1, 1))}\u2026` : text, left + 4, middle, width - 7);
  }
}

function nameLeftOut(scene: Scene, context: CanvasRenderingContext2D, band: Band, perPixel: number): void {
  const left = Math.max((band.lane.until - scene.view.from) / perPixel, 0);
  if (left > scene.width - 60) return;
  const text = `${band.lane.leftOut.toLocaleString("en").replaceAll(",", "\u202f")} events from here on are not in this page: analyze a part with --window`;
  const middle = band.body + ROW / 2 - scene.scroll - 1;
  context.fillStyle = scene.palette.css.paper;
  context.fillRect(left + 4, middle - 7, Math.min(context.measureText(text).width + 8, scene.width), 14);
  context.fillStyle = scene.palette.css.ink;
  context.fillText(text, left + 8, middle);
}
