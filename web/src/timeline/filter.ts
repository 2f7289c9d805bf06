// Parses a search and finds its events: words in any order, or exactly one kernel, layer, type, cause, operation or module.
import type { Band } from "./bands.ts";
import type { EventAt, Lane, Site, Thing, Timeline } from "./events.ts";
import { fits } from "../parts/roll.ts";
import { itemOf } from "./rows.ts";

export const EXACT = ["kernel", "layer", "type", "cause", "op", "module", "event"] as const;
export type Exact = (typeof EXACT)[number];

/** The text of a search for exactly one thing; the tables ask with it. */
export function exactly(kind: Exact, ...value: string[]): string { return `${kind}:${value.join(" | ")}`; }

interface Tests { activity: (thing: Thing, site: Site) => boolean; span: (name: string, lane: Lane) => boolean }

const nothing = (): boolean => false;

function testsOf(text: string): Tests {
  const colon = text.indexOf(":"), kind = text.slice(0, Math.max(colon, 0)) as Exact, value = text.slice(colon + 1).trim();
  const exact: Record<Exact, Tests> = {
    kernel: { activity: (thing) => (thing.full_name || thing.name) === value, span: nothing },
    layer: { activity: (_, site) => value.endsWith(` | ${site.type} | ${site.phase}`) && fits(site.layer, value.slice(0, value.lastIndexOf(` | ${site.type} | `))), span: nothing },
    type: { activity: (_, site) => site.type === value, span: nothing },
    cause: { activity: nothing, span: (name, lane) => lane.kind === "idle" && name === value },
    op: { activity: (_, site) => site.op === value, span: (name, lane) => lane.kind === "host" && name === value },
    module: { activity: (_, site) => site.module === value, span: nothing },
    event: { activity: (thing) => (thing.full_name || thing.name) === value, span: (name) => name === value },
  };
  if (EXACT.includes(kind)) return exact[kind];
  const words = text.toLowerCase().split(/\s+/).filter(Boolean), holds = (where: string): boolean => words.every((word) => where.includes(word));
  return {
    activity: (thing, site) => holds(`${thing.name} ${thing.full_name} ${site.op} ${site.module} ${site.type} ${site.layer}`.toLowerCase()),
    span: (name, lane) => lane.kind !== "idle" && holds(name.toLowerCase()),
  };
}

/** Found events of a row, in order of start. */
export type Found = Map<Band, Uint32Array[]>;

export interface Search {
  text: string; found: Found; byLane: Map<Lane, Uint32Array>; count: number;
  /** Found among merged events: their number, and by lane a mark for every sum. */
  merged: number; sums: Map<Lane, Uint8Array>;
}

function testOf(timeline: Timeline, lane: Lane, tests: Tests): (item: number) => boolean {
  const known = new Map<number, boolean>(), sites = lane.column("site"), stride = Math.max(timeline.sites.length, 1);
  return (item) => {
    const name = lane.name[item]!, site = sites?.[item] ?? 0, key = name * stride + site;
    let is = known.get(key);
    if (is === undefined) {
      is = lane.kind === "stream" ? tests.activity(timeline.things[name]!, timeline.sites[site]!) : tests.span(timeline.text(name), lane);
      known.set(key, is);
    }
    return is;
  };
}

export function search(timeline: Timeline, bands: Band[], text: string): Search | null {
  if (text.trim() === "") return null;
  const tests = testsOf(text.trim()), result: Search = { text: text.trim(), found: new Map(), byLane: new Map(), count: 0, merged: 0, sums: new Map() };
  for (const band of bands) {
    const { lane } = band;
    if (lane.kind === "queue" || lane.kind === "curve") continue;
    if (lane.sums) {
      const of = testOf(timeline, lane.sums, tests), events = lane.sums.column("events")!, marks = Uint8Array.from(events, (_, item) => (of(item) ? 1 : 0));
      result.sums.set(lane, marks);
      for (let item = 0; item < marks.length; ++item) if (marks[item]) result.merged += events[item]!;
    }
    const is = testOf(timeline, lane, tests), mask = new Uint8Array(lane.count);
    let count = 0;
    for (let item = 0; item < lane.count; ++item) if (is(item)) { mask[item] = 1; ++count; }
    if (count === 0) continue;
    const all = new Uint32Array(count);
    for (let item = 0, at = 0; item < lane.count; ++item) if (mask[item]) all[at++] = item;
    result.byLane.set(lane, all);
    result.count += count;
    result.found.set(band, band.rows.map((row) => {
      const places: number[] = [];
      if (row.items === null) return all;
      for (let place = 0; place < row.count; ++place) if (mask[itemOf(row, place)]) places.push(itemOf(row, place));
      return Uint32Array.from(places);
    }));
  }
  return result;
}

/** First place among found items whose event starts at `time` or later. */
export function firstFrom(lane: Lane, items: Uint32Array, time: number): number {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lane.start[items[middle]!]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The found event after (or before) another one, in order of start, then of lanes; round at the ends. */
export function step(found: Search, lanes: Lane[], from: EventAt | null, time: number, forward: boolean): EventAt | null {
  const key = (at: EventAt): [number, number] => [at.lane.start[at.item]!, lanes.indexOf(at.lane)];
  const less = (a: [number, number], b: [number, number]): boolean => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
  const origin: [number, number] = from ? key(from) : [time, -1];
  let best: EventAt | null = null, around: EventAt | null = null;
  const better = (candidate: EventAt, than: EventAt | null): boolean => than === null || (forward ? less(key(candidate), key(than)) : less(key(than), key(candidate)));
  for (const [lane, items] of found.byLane) {
    const place = firstFrom(lane, items, origin[0]);
    for (let offset = -1; offset <= 1; ++offset) {
      const item = items[place + offset];
      if (item === undefined) continue;
      const candidate = { lane, item };
      const beyond = forward ? less(origin, key(candidate)) : less(key(candidate), origin);
      if (beyond && better(candidate, best)) best = candidate;
    }
    const end = { lane, item: items[forward ? 0 : items.length - 1]! };
    if (better(end, around)) around = end;
  }
  return best ?? around;
}

/** The number of found events that start before another one: its number in the order of the search. */
export function placeOf(found: Search, at: EventAt): number {
  let before = 0;
  for (const [lane, items] of found.byLane) before += firstFrom(lane, items, at.lane.start[at.item]!);
  return before + 1;
}
