// Where each lane stands, and which items of a row touch a span of time.
import type { Lane, Timeline } from "../page_data.ts";

export const ROW = 15, GAP = 10, LABEL = 16, AXIS = 24;

/** Items of one row of a lane, in order of start. */
export interface Row { items: number[]; longest: number }
export interface Band { lane: Lane; index: number; top: number; height: number; rows: Row[] }

export function layout(timeline: Timeline): { bands: Band[]; height: number } {
  let top = AXIS;
  const bands = timeline.lanes.map((lane, index) => {
    // A queue is one curve, as high as the rows it asks for.
    const rows: Row[] = Array.from({ length: lane.kind === "queue" ? 1 : Math.max(lane.rows, 1) }, () => ({ items: [], longest: 0 }));
    lane.start.forEach((_, i) => rows[lane.row[i] ?? 0]?.items.push(i));
    for (const row of rows) {
      row.items.sort((a, b) => lane.start[a]! - lane.start[b]!);
      row.longest = row.items.reduce((most, i) => Math.max(most, lane.duration[i]!), 0);
    }
    const band = { lane, index, top, height: LABEL + Math.max(lane.rows, 1) * ROW, rows };
    top += band.height + GAP;
    return band;
  });
  return { bands, height: top };
}

/** First place in `row` whose item may reach past `from`: items are in order of start, and none is longer than `longest`. */
export function firstTouching(lane: Lane, row: Row, from: number): number {
  let low = 0, high = row.items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.start[row.items[middle]!]! < from - row.longest) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Hit { band: Band; item: number }

/** The item at a time and a height of the picture; among several the one whose middle is nearest. */
export function itemAt(bands: Band[], time: number, y: number, slack: number): Hit | null {
  const band = bands.find((b) => y >= b.top + LABEL && y < b.top + b.height);
  const row = band?.rows[band.lane.kind === "queue" ? 0 : Math.floor((y - band.top - LABEL) / ROW)];
  if (!band || !row) return null;
  const { start, duration } = band.lane;
  let best: Hit | null = null, nearest = Infinity;
  for (let at = firstTouching(band.lane, row, time - slack); at < row.items.length; ++at) {
    const i = row.items[at]!;
    if (start[i]! > time + slack) break;
    const distance = time < start[i]! ? start[i]! - time : Math.max(0, time - start[i]! - duration[i]!);
    if (distance <= slack && distance < nearest) { best = { band, item: i }; nearest = distance; }
  }
  return best;
}
