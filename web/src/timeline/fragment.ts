// The view as the fragment of the page's address: a link or a reload shows the same.
import type { View } from "../parts/view.ts";
import type { EventAt, Timeline } from "./events.ts";

export interface Place { view: View | null; range: View | null; find: string; chosen: EventAt | null }

function span(text: string | null): View | null {
  const match = /^(\d+)-(\d+)$/.exec(text ?? "");
  return match && Number(match[2]) > Number(match[1]) ? { from: Number(match[1]), to: Number(match[2]) } : null;
}

/** The fragment as it was read or written last. */
let known: string | null = null;

export function readFragment(timeline: Timeline): Place | null {
  known = location.hash;
  if (!location.hash.startsWith("#view=")) return null;
  const said = new URLSearchParams(location.hash.slice(1)), at = /^(\d+)\.(\d+)$/.exec(said.get("event") ?? "");
  const lane = at ? timeline.lanes[Number(at[1])] : undefined, item = Number(at?.[2]);
  return { view: span(said.get("view")), range: span(said.get("range")), find: said.get("find") ?? "", chosen: lane && item < lane.count ? { lane, item } : null };
}

export function writeFragment(timeline: Timeline, place: Place): void {
  if (location.hash !== known) return;  // another place was asked for, and is read in a moment
  const said = new URLSearchParams(), write = (view: View): string => `${Math.round(view.from)}-${Math.round(view.to)}`;
  if (place.view) said.set("view", write(place.view));
  if (place.range) said.set("range", write(place.range));
  if (place.find) said.set("find", place.find);
  if (place.chosen && !place.chosen.lane.of) said.set("event", `${timeline.lanes.indexOf(place.chosen.lane)}.${place.chosen.item}`);
  history.replaceState(null, "", `#${said}`);
  known = location.hash;
}
