// Rows of a lane, and what makes a million events quick to draw: for runs of 8, 64, 512, … events how much time they fill and with what colour.
import { cellsOf, type Cells } from "./cells.ts";
import type { Lane } from "./events.ts";

export const STEP = 8;

/** Sums over runs of events that follow each other in a row. */
interface Runs { size: number; filled: Float64Array; colour: Uint8Array }

/** Events of a lane that do not overlap, in order of start. */
export interface Row { lane: Lane; items: Uint32Array | null; count: number; runs: Runs[]; cells: Cells | null }

export function itemOf(row: Row, place: number): number { return row.items === null ? place : row.items[place]!; }

/** The depth of every event among those open around it. */
function nesting(lane: Lane): Uint16Array {
  const rows = new Uint16Array(lane.count), open: number[] = [];
  for (let i = 0; i < lane.count; ++i) {
    const start = lane.start[i]!;
    while (open.length > 0 && open[open.length - 1]! <= start) open.pop();
    rows[i] = open.length;
    open.push(start + lane.duration[i]!);
  }
  return rows;
}

/** The lowest row that is free when an event starts. */
function free(lane: Lane): Uint16Array {
  const rows = new Uint16Array(lane.count), ends: number[] = [];
  for (let i = 0; i < lane.count; ++i) {
    const start = lane.start[i]!;
    let row = 0;
    while (row < ends.length && ends[row]! > start) ++row;
    rows[i] = row;
    ends[row] = start + lane.duration[i]!;
  }
  return rows;
}

/** The row of every event of a lane; null when there is only one. */
export function rowsOf(lane: Lane): { rowOf: Uint16Array | null; rows: Row[] } {
  const { rowOf, rows } = eventRows(lane);
  if (lane.sums) cellsOf(lane.sums).forEach((cells, row) => {
    rows[row] ??= { lane, items: new Uint32Array(0), count: 0, runs: [], cells: null };
    rows[row].cells = cells;
  });
  return { rowOf, rows };
}

function eventRows(lane: Lane): { rowOf: Uint16Array | null; rows: Row[] } {
  const single = lane.kind === "steps" || lane.kind === "idle" || lane.kind === "queue" || lane.kind === "curve";
  const rowOf = single ? null : lane.kind === "stream" ? free(lane) : nesting(lane);
  let last = 0;
  for (let i = 0; rowOf && i < lane.count; ++i) if (rowOf[i]! > last) last = rowOf[i]!;
  if (rowOf === null || last === 0) return { rowOf: null, rows: [{ lane, items: null, count: lane.count, runs: [], cells: null }] };
  const counts = new Uint32Array(last + 1);
  for (let i = 0; i < lane.count; ++i) ++counts[rowOf[i]!];
  const rows = Array.from(counts, (count): Row => ({ lane, items: new Uint32Array(count), count, runs: [], cells: null }));
  counts.fill(0);
  for (let i = 0; i < lane.count; ++i) {
    const row = rowOf[i]!;
    rows[row]!.items![counts[row]!++] = i;
  }
  return { rowOf, rows };
}

/** Fills `row.runs` for colours by event. */
export function indexRow(row: Row, colours: Uint8Array): void {
  row.runs = [];
  const times = new Float64Array(256);
  for (let size = STEP; size < row.count; size *= STEP) {
    const runs = Math.ceil(row.count / size), filled = new Float64Array(runs), colour = new Uint8Array(runs);
    const below = row.runs[row.runs.length - 1], parts = below ? below.filled.length : row.count;
    for (let run = 0; run < runs; ++run) {
      times.fill(0);
      const end = Math.min((run + 1) * STEP, parts);
      for (let part = run * STEP; part < end; ++part) {
        const item = below ? 0 : itemOf(row, part);
        const time = below ? below.filled[part]! : row.lane.duration[item]!;
        times[below ? below.colour[part]! : colours[item]!]! += time;
        filled[run]! += time;
      }
      colour[run] = heaviest(times);
    }
    row.runs.push({ size, filled, colour });
  }
}

/** The colour with the most time. */
export function heaviest(times: Float64Array): number {
  let best = 0;
  for (let i = 1; i < times.length; ++i) if (times[i]! > times[best]!) best = i;
  return best;
}

/** First place of a row whose event ends after `from`, or starts there. */
export function firstTouching(row: Row, from: number): number {
  const { start, duration } = row.lane;
  let low = 0, high = row.count;
  while (low < high) {
    const middle = (low + high) >>> 1, item = itemOf(row, middle);
    if (start[item]! + duration[item]! <= from && start[item]! < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The longest run that begins at `place` and ends within `length` of its start: [events, time filled, colour]; null when there is none. */
export function runAt(row: Row, place: number, length: number): { events: number; filled: number; colour: number } | null {
  for (let level = row.runs.length - 1; level >= 0; --level) {
    const { size, filled, colour } = row.runs[level]!;
    if (place % size !== 0) continue;
    const events = Math.min(size, row.count - place), first = itemOf(row, place), last = itemOf(row, place + events - 1);
    if (row.lane.start[last]! + row.lane.duration[last]! - row.lane.start[first]! <= length)
      return { events, filled: filled[place / size]!, colour: colour[place / size]! };
  }
  return null;
}

/** The event of a row that is nearest to an instant, at most `slack` away. */
export function nearest(row: Row, time: number, slack: number): number | null {
  let best: number | null = null, least = Infinity;
  for (let place = firstTouching(row, time - slack); place < row.count; ++place) {
    const item = itemOf(row, place), start = row.lane.start[item]!, end = start + row.lane.duration[item]!;
    if (start > time + slack) break;
    const distance = Math.max(start - time, time - end, 0);
    if (distance <= slack && distance < least) [best, least] = [item, distance];
  }
  return best;
}
