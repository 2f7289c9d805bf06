// Events that the page holds only as sums: by cell of time, row, name and site, with their number and the time that they fill.
import type { Lane } from "./events.ts";

/** Cells of one row, in order of time. The items of cell i are those from `first[i]` to before `end[i]`, the largest first. */
export interface Cells { lane: Lane; count: number; first: number[]; end: number[]; events: number[]; colours: number[]; slots: Uint8Array; times: Float64Array }

/** The cells of each row of a lane of sums. */
export function cellsOf(lane: Lane): Cells[] {
  const row = lane.column("row")!, events = lane.column("events")!, rows: Cells[] = [];
  for (let item = 0; item < lane.count; ++item) {
    const own = (rows[row[item]!] ??= { lane, count: 0, first: [], end: [], events: [], colours: [], slots: new Uint8Array(0), times: new Float64Array(0) });
    if (own.count === 0 || lane.start[own.first[own.count - 1]!] !== lane.start[item]) {
      own.first.push(item);
      own.events.push(0);
      ++own.count;
    }
    own.end[own.count - 1] = item + 1;
    own.events[own.count - 1]! += events[item]!;
  }
  return rows;
}

/** Sums up the time in each cell by colour: `times` has as many for a cell as there are `colours`, `slots` the place among them of each item. */
export function indexCells(cells: Cells, colours: Uint8Array): void {
  const places = new Map<number, number>(), used = new Set<number>();
  for (let cell = 0; cell < cells.count; ++cell) for (let item = cells.first[cell]!; item < cells.end[cell]!; ++item) used.add(colours[item]!);
  cells.colours = [...used].sort((a, b) => a - b);
  cells.colours.forEach((colour, place) => places.set(colour, place));
  cells.slots = colours.map((colour) => places.get(colour) ?? 0);
  cells.times = new Float64Array(cells.count * cells.colours.length);
  for (let cell = 0; cell < cells.count; ++cell) addItems(cells, cell, null, cells.times.subarray(cell * cells.colours.length));
}

/** Adds the time of a cell's items, or of those with a mark, by colour. */
function addItems({ lane, first, end, slots }: Cells, cell: number, marks: Uint8Array | null, times: Float64Array): void {
  const filled = lane.column("filled")!;
  for (let item = first[cell]!; item < end[cell]!; ++item) if (marks === null || marks[item]) times[slots[item]!]! += filled[item]!;
}

/** The first cell that ends after an instant. */
export function firstCell({ lane, first, count }: Cells, time: number): number {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >>> 1, item = first[middle]!;
    if (lane.start[item]! + lane.duration[item]! <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The largest item of the cell at an instant; null between cells. */
export function cellAt(cells: Cells, time: number): number | null {
  const item = cells.first[firstCell(cells, time)];
  return item !== undefined && cells.lane.start[item]! <= time ? item : null;
}

/** The time that merged events fill in each pixel of a row by colour, as if it were the same all over their cell. */
export class Density {
  readonly times: Float64Array;
  readonly colours: number[];
  /** The widest cell in sight, in pixels. */
  widest = 0;

  /** Covers all items, or those with a mark. */
  constructor(cells: Cells, from: number, to: number, width: number, marks: Uint8Array | null) {
    const { lane, colours } = cells, perPixel = (to - from) / width, own = new Float64Array(colours.length);
    this.colours = colours;
    this.times = new Float64Array(width * colours.length);
    for (let cell = firstCell(cells, from); cell < cells.count; ++cell) {
      const begin = cells.first[cell]!, left = (lane.start[begin]! - from) / perPixel, right = left + lane.duration[begin]! / perPixel;
      if (left >= width) break;
      if (marks === null) own.set(cells.times.subarray(cell * colours.length, (cell + 1) * colours.length));
      else addItems(cells, cell, marks, own.fill(0));
      for (let at = Math.max(Math.floor(left), 0); at < Math.min(right, width); ++at) {
        const part = (Math.min(right, at + 1) - Math.max(left, at)) / (right - left);
        for (let slot = 0; slot < own.length; ++slot) this.times[at * own.length + slot]! += own[slot]! * part;
      }
      this.widest = Math.max(this.widest, right - left);
    }
  }
}
