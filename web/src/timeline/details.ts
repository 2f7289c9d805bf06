// Details of one event: for the pointer a few lines, for the chosen event all of it.
import type { Report } from "../page_data.ts";
import { bytes, count, energy, partOf, plural, share, time } from "../parts/format.ts";
import type { EventAt, Lane, Timeline } from "./events.ts";
import { exactly } from "./filter.ts";

export type Fact = [string, string];

/** Names of the spans around an instant on the threads' lanes of one group, outermost first. */
function around(timeline: Timeline, group: string, kinds: Lane["kind"][], at: number): string[] {
  const open: [number, number, string][] = [];
  for (const lane of timeline.lanes) {
    if (lane.group !== group || !kinds.includes(lane.kind)) continue;
    for (let item = 0; item < lane.count && lane.start[item]! <= at; ++item)
      if (lane.start[item]! + lane.duration[item]! > at) open.push([lane.start[item]!, -lane.duration[item]!, timeline.nameOf(lane, item)]);
  }
  return open.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , name]) => name);
}

function queueFacts({ lane, item }: EventAt): Fact[] {
  const low = lane.column("low")![item]!, high = lane.column("depth")![item]!;
  return [["", lane.title], ["depth", low === high ? count(high) : `${count(low)} to ${count(high)}`],
    [high === 0 ? "empty for" : "for", time(lane.duration[item]!)], ["from", time(lane.start[item]!)]];
}

function idleFacts(report: Report, timeline: Timeline, { lane, item }: EventAt): Fact[] {
  const cause = report.labels.causes.find((each) => each.id === timeline.text(lane.name[item])), host = timeline.text(lane.column("shapes")?.[item]);
  return [["", `idle: ${cause?.text ?? timeline.text(lane.name[item])}`], ["duration", time(lane.duration[item]!)], ["start", time(lane.start[item]!)],
    ["the host was in", host]];
}

/** The number of events that a cell stands for, and what they were. */
function mergedFacts(timeline: Timeline, { lane, item }: EventAt): Fact[] {
  const events = lane.column("events")!, filled = lane.column("filled")!, row = lane.column("row")!, length = lane.duration[item]!, names = new Map<string, [number, number]>();
  let all = 0, ns = 0;
  for (let at = item; at < lane.count && lane.start[at] === lane.start[item] && row[at] === row[item]; ++at) {
    const [number, time] = names.get(timeline.nameOf(lane, at)) ?? [0, 0];
    names.set(timeline.nameOf(lane, at), [number + events[at]!, time + filled[at]!]);
    all += events[at]!;
    ns += filled[at]!;
  }
  const most = [...names].sort((a, b) => b[1][1] - a[1][1]), shown = most.slice(0, 4).map(([name, [number, time_]]) => `${count(number)} \u00d7 ${name}, ${time(time_)}`);
  return [["", `${plural(all, "event")} of ${[lane.group, lane.title].filter(Boolean).join(", ")}, merged`], ["start", `in ${time(length)} from ${time(lane.start[item]!)} on`], ["duration, all together", `${time(ns)} (${share(partOf(ns, length))})`],
    ["most time", shown.join("; ")], ["other names", most.length > shown.length ? count(most.length - shown.length) : ""]];
}

/** The first lines: what it is, how long, whose. */
export function shortFacts(report: Report, timeline: Timeline, at: EventAt): Fact[] {
  const { lane, item } = at;
  if (lane.of) return mergedFacts(timeline, at).filter(([, value]) => value !== "");
  if (lane.kind === "queue") return queueFacts(at);
  if (lane.kind === "idle") return idleFacts(report, timeline, at).filter(([, value]) => value !== "");
  const site = timeline.site(lane, item), launch = timeline.launchOf(at), level = lane.column("tensor")?.[item] ?? 0;
  const facts: Fact[] = [["", timeline.nameOf(lane, item)], ["duration", time(lane.duration[item]!)], ["start", time(lane.start[item]!)],
    ["operator", site?.op ?? ""], ["module", site?.module ?? ""], ["type", site?.type ?? ""],
    ["launched", launch ? `${time(lane.start[item]! - launch.lane.start[launch.item]!)} before it started` : ""],
    ["tensor issue", level > 0 ? share((level - 1) / 1000) : ""], ["shapes", timeline.text(lane.column("shapes")?.[item])]];
  return facts.filter(([, value]) => value !== "");
}

function kernelFacts(report: Report, timeline: Timeline, at: EventAt): Fact[] {
  const { lane, item } = at, thing = timeline.thing(lane, item)!, site = timeline.site(lane, item)!, launch = timeline.launchOf(at);
  const level = (id: string): string => {
    const value = lane.column(id)?.[item] ?? 0;
    return value > 0 ? share((value - 1) / 1000) : thing.kind === "kernel" ? "no data" : "";
  };
  const row = report.analysis.energy.devices.find((device) => device.device === lane.device)?.kernels.find((kernel) => kernel.name === (thing.full_name || thing.name));
  const call = launch ? launch.lane.start[launch.item]! : 0;
  const known = launch !== null && timeline.holds(call, call), stack = known ? around(timeline, launch.lane.group, ["band", "host"], call) : [], python = known ? around(timeline, launch.lane.group, ["python"], call) : [];
  return [["full name", thing.full_name], ["operator", site.op], ["module", site.module], ["type", site.type], ["phase", site.phase],
    ["grid", thing.grid], ["block", thing.block], ["registers a thread", thing.registers >= 0 ? count(thing.registers) : ""],
    ["shared memory a block", thing.shared_bytes >= 0 ? bytes(thing.shared_bytes) : ""], ["bytes", bytesOf(lane, item)],
    ["SM active", level("sm")], ["issue slots", level("issue")], ["tensor issue", level("tensor")],
    ["joules, mean of its instances", row && row.kernels > 0 ? energy(row.nj / row.kernels) : ""],
    ["launched by", launch ? `${timeline.nameOf(launch.lane, launch.item)} on ${launch.lane.group}, ${time(lane.start[item]! - call)} before` : "no record of its launch"],
    ["operations around the launch", launch && !known ? "merged: not in this page" : stack.join(" \u203a ")], ["Python around the launch", python.slice(-6).join(" \u203a ")]];
}

function bytesOf(lane: Lane, item: number): string {
  const size = lane.column("bytes")?.[item] ?? 0;
  return size > 0 ? `${bytes(size)}${lane.duration[item]! > 0 ? `, ${(size / lane.duration[item]!).toFixed(2)} GB/s` : ""}` : "";
}

export function allFacts(report: Report, timeline: Timeline, at: EventAt): Fact[] {
  const { lane, item } = at;
  if (lane.of || lane.kind === "queue" || lane.kind === "idle") return shortFacts(report, timeline, at);
  const facts: Fact[] = [["", timeline.nameOf(lane, item)], ["duration", time(lane.duration[item]!)], ["start", time(lane.start[item]!)],
    lane.kind === "wait" || lane.kind === "move" || lane.kind === "steps" ? ["of", [lane.group, lane.title].filter(Boolean).join(", ")] : [lane.device >= 0 ? "stream" : "thread", lane.device >= 0 ? `${lane.group}, ${lane.title}` : lane.group]];
  if (lane.kind === "stream") facts.push(...kernelFacts(report, timeline, at));
  const correlation = lane.column("correlation")?.[item] ?? -1, started = timeline.started(at);
  facts.push(["shapes", timeline.text(lane.column("shapes")?.[item])], ["correlation", correlation >= 0 ? lane.digits("correlation", item) : ""]);
  if (started.length > 0) facts.push(["started", started.length === 1 ? timeline.nameOf(started[0]!.lane, started[0]!.item) : `${count(started.length)} kernels or copies`]);
  return facts.filter(([, value]) => value !== "");
}

/** The search that finds all events like this one, and the tables' rows that hold it. */
export function likeIt(timeline: Timeline, { lane, item }: EventAt): { all: string; rows: [string, string][] } {
  const thing = timeline.thing(lane, item), site = timeline.site(lane, item);
  if (lane.kind === "idle") {
    const cause = exactly("cause", timeline.text(lane.name[item]));
    return { all: cause, rows: [["Its cause", cause]] };
  }
  if (!thing) return { all: exactly("event", timeline.text(lane.name[item])), rows: [] };
  const kernel = exactly("kernel", thing.full_name || thing.name);
  if (thing.kind !== "kernel") return { all: kernel, rows: [] };
  return { all: kernel, rows: [["Its kernel", kernel], ["Its layer", exactly("layer", site!.layer, site!.type, site!.phase)]] };
}
