// Paints what is in sight. Every event is there: as itself where it is a pixel wide or more; thinner ones together, a column as high as the
// part of its time that they fill and with the colour that fills most of it.
import { timeMarks } from "../parts/axis.ts";
import { count } from "../parts/format.ts";
import type { View } from "../parts/view.ts";
import { GROUP, isCurve, ROW, type Band, type Layout } from "./bands.ts";
import { Density, firstCell, type Cells } from "./cells.ts";
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
  /** Size of the picture in view, in pixels of the page; `scroll` is how far it is scrolled down. */
  width: number; height: number; scroll: number; ratio: number;
  search: Search | null;
  range: View | null;
  hit: EventAt | null;
  chosen: EventAt | null;
  causes: Map<string, string>;
  /** True if cells of merged events are so wide that one looks for the events. */
  coarse: boolean;
}

/** Cells from this many pixels on are no picture of what ran when. */
const COARSE = 8;

interface Box { top: number; height: number }

/** Fills columns of a row one after the other, thin events of a column together. */
class Columns {
  private column = -1;
  private filled = 0;
  private readonly times = new Float64Array(256);
  private readonly used: number[] = [];
  constructor(private readonly pixels: Pixels, private readonly colours: Uint32Array, private readonly box: Box, private readonly perPixel: number, private readonly under: Density | null) {}

  add(left: number, time: number, colour: number): void {
    const column = Math.floor(left);
    if (column !== this.column) {
      this.flush();
      this.column = column;
    }
    this.count(time, colour);
  }

  private count(time: number, colour: number): void {
    if (this.times[colour] === 0) this.used.push(colour);
    this.times[colour]! += Math.max(time, 1e-6);
    this.filled += time;
  }

  flush(): void {
    if (this.used.length === 0) return;
    if (this.under) {
      const { colours, times } = this.under;
      colours.forEach((colour, slot) => { if (times[this.column * colours.length + slot]! > 0) this.count(times[this.column * colours.length + slot]!, colour); });
      pile(this.pixels, this.column, this.box, this.perPixel, this.used, this.times, this.colours);
    } else {
      const height = heightOf(this.filled / this.perPixel, this.box), colour = this.used.length === 1 ? this.used[0]! : heaviest(this.times);
      this.pixels.rect(this.column, this.box.top + this.box.height - height, 1, height, this.colours[colour]!);
    }
    for (const each of this.used) this.times[each] = 0;
    this.used.length = 0;
    this.filled = 0;
  }
}

/** As high as the part of its time that is filled, and never too low to be seen. */
function heightOf(part: number, box: Box): number { return Math.max(Math.round(Math.min(1, part) * box.height), Math.min(4, box.height)); }

/** A pixel of a row with its colours one on the other, each as high as its part of the time. */
function pile(pixels: Pixels, x: number, box: Box, perPixel: number, used: number[], times: Float64Array, colours: Uint32Array): void {
  const all = used.reduce((sum, each) => sum + times[each]!, 0), height = heightOf(all / perPixel, box);
  let below = 0, bottom = box.top + box.height;
  for (const each of used.sort((a, b) => a - b)) {
    below += times[each]!;
    const top = box.top + box.height - Math.round((below / all) * height);
    pixels.rect(x, top, 1, bottom - top, colours[each]!);
    bottom = top;
  }
}

/** Merged events alone. */
function paintDensity(pixels: Pixels, { times, colours: own }: Density, colours: Uint32Array, box: Box, perPixel: number): void {
  const of = new Float64Array(256);
  for (let x = 0; x < pixels.width; ++x) {
    const used = own.filter((colour, slot) => (of[colour] = times[x * own.length + slot]!) > 0);
    if (used.length > 0) pile(pixels, x, box, perPixel, used, of, colours);
  }
}

function paintRow(scene: Scene, pixels: Pixels, row: Row, colours: Uint8Array, palette: Uint32Array, box: Box): void {
  const { from, to } = scene.view, perPixel = (to - from) / pixels.width, { start, duration } = row.lane;
  const under = row.cells ? new Density(row.cells, from, to, pixels.width, null) : null, coarse = under !== null && under.widest >= COARSE * scene.ratio;
  scene.coarse ||= coarse;
  if (under) paintDensity(pixels, under, coarse && !scene.search ? scene.palette.pale : palette, box, perPixel);
  const columns = new Columns(pixels, palette, box, perPixel, coarse ? null : under);
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
    const cells = band.rows[row]!.cells, marks = scene.search?.sums.get(band.lane);
    if (cells && marks) paintDensity(pixels, new Density(cells, scene.view.from, scene.view.to, pixels.width, marks), scene.palette.full, box, (scene.view.to - scene.view.from) / pixels.width);
    if (found?.[row]) paintFound(scene, pixels, band, found[row], box);
  }
}

export function inSight(scene: Scene): Band[] {
  return scene.layout.bands.filter((band) => !band.hidden && band.bottom > scene.scroll && band.top < scene.scroll + scene.height);
}

export function paintPixels(scene: Scene, pixels: Pixels): void {
  scene.coarse = false;
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
      const { cells } = band.rows[row]!;
      if (cells) nameCells(scene, context, band.rows[row]!, cells, middle, perPixel);
      nameRow(scene, context, band.lane, band.rows[row]!, middle, least, perPixel);
    }
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

/** Writes the number of events that a cell stands for, where there is room to say so beside the events that are held. */
function nameCells(scene: Scene, context: CanvasRenderingContext2D, row: Row, cells: Cells, middle: number, perPixel: number): void {
  const { from, to } = scene.view, { lane } = cells;
  context.fillStyle = scene.palette.css.ink;
  for (let cell = firstCell(cells, from); cell < cells.count && lane.start[cells.first[cell]!]! < to; ++cell) {
    const first = cells.first[cell]!, begin = Math.max(lane.start[first]!, from), width = (Math.min(lane.start[first]! + lane.duration[first]!, to) - begin) / perPixel;
    if (width < 60) continue;
    const text = `${count(cells.events[cell]!)} merged`, long = context.measureText(text).width + 8, place = firstTouching(row, begin), held = place < row.count ? row.lane.start[itemOf(row, place)]! : Infinity;
    if (long <= width && held >= begin + long * perPixel) context.fillText(text, (begin - from) / perPixel + 4, middle);
  }
}
