// Sums over a span of time: busy and idle by device, causes, kernels, levels, joules.
import type { DeviceEnergy } from "../model.ts";
import type { Report } from "../page_data.ts";
import { partOf } from "../parts/format.ts";
import type { View } from "../parts/view.ts";
import type { Lane, Timeline } from "./events.ts";

export interface KernelSum { name: string; full: string; count: number; ns: number }
export interface DeviceSums {
  device: number; name: string;
  /** Time of the span inside the device's window. */
  ns: number; busy: number; idle: [string, number][];
  kernels: KernelSum[]; instances: number;
  /** Mean over kernel time that has counters, and the share of kernel time that has. */
  levels: [string, number][]; covered: number;
  joules: number | null;
  /** Merged events of cells that the span cuts: a part of each sum is counted. */
  cut: number;
}

function inside(view: View, start: number, duration: number): number {
  return Math.max(0, Math.min(start + duration, view.to) - Math.max(start, view.from));
}

/** Every event of a lane that reaches into a span, and how far. Of cells that the span cuts a part. Gives the events that were cut so. */
function each(lane: Lane, view: View, use: (item: number, ns: number, lane: Lane, events: number) => void): number {
  const { sums } = lane, filled = sums?.column("filled"), events = sums?.column("events");
  let cut = 0;
  for (let item = 0; sums && item < sums.count && sums.start[item]! < view.to; ++item) {
    const part = inside(view, sums.start[item]!, sums.duration[item]!) / sums.duration[item]!;
    if (part > 0) use(item, filled![item]! * part, sums, events![item]! * part);
    if (part > 0 && part < 1) cut += events![item]!;
  }
  for (let item = 0; item < lane.count && lane.start[item]! < view.to; ++item) {
    const ns = inside(view, lane.start[item]!, lane.duration[item]!);
    if (ns > 0 || (lane.duration[item] === 0 && lane.start[item]! >= view.from)) use(item, ns, lane, 1);
  }
  return cut;
}

/** Energy of a span by the power readings, each of which holds until the next. */
function joulesOf(energy: DeviceEnergy | undefined, view: View, offset: number): number | null {
  if (!energy || energy.power.length === 0) return null;
  const from = Math.max(view.from - offset, 0), to = Math.min(view.to - offset, energy.span_ns);
  let sum = 0;
  energy.power.forEach((reading, i) => {
    const end = energy.power[i + 1]?.ns ?? energy.span_ns;
    sum += Math.max(0, Math.min(end, to) - Math.max(i === 0 ? 0 : reading.ns, from)) * reading.watts;
  });
  return sum / 1e9;
}

function addStream(timeline: Timeline, lane: Lane, view: View, kernels: Map<string, KernelSum>, levels: Map<string, [number, number]>, merged: { events: number }): number {
  let all = 0;
  const columns = ["sm", "issue", "tensor"].map((id) => [id, lane.column(id)] as const);
  merged.events += each(lane, view, (item, ns, from, events) => {
    const thing = timeline.things[from.name[item]!]!, full = thing.full_name || thing.name;
    const sum = kernels.get(full) ?? { name: thing.name, full, count: 0, ns: 0 };
    kernels.set(full, sum);
    sum.count += events;
    sum.ns += ns;
    if (thing.kind !== "kernel") return;
    all += ns;
    if (from !== lane) return;
    for (const [id, column] of columns) {
      const value = column?.[item] ?? 0;
      if (value === 0) continue;
      const level = levels.get(id) ?? [0, 0];
      levels.set(id, [level[0] + ((value - 1) / 1000) * ns, level[1] + ns]);
    }
  });
  return all;
}

export function sumsOf(report: Report, timeline: Timeline, view: View): DeviceSums[] {
  return report.analysis.devices.filter((device) => timeline.lanes.some((lane) => lane.device === device.id)).map((device) => {
    const kernels = new Map<string, KernelSum>(), levels = new Map<string, [number, number]>(), idle = new Map<string, number>();
    const cut = { events: 0 };
    let kernelTime = 0;
    for (const lane of timeline.lanes) {
      if (lane.device !== device.id) continue;
      if (lane.kind === "stream") kernelTime += addStream(timeline, lane, view, kernels, levels, cut);
      if (lane.kind === "idle") each(lane, view, (item, ns, from) => idle.set(timeline.text(from.name[item]), (idle.get(timeline.text(from.name[item])) ?? 0) + ns));
    }
    const ns = inside(view, device.start_ns - timeline.start, device.span_ns), idleTime = [...idle.values()].reduce((sum, time) => sum + time, 0);
    const list = [...kernels.values()].sort((a, b) => b.ns - a.ns), energy = report.analysis.energy.devices.find((each) => each.device === device.id);
    const covered = levels.get("issue")?.[1] ?? levels.get("sm")?.[1] ?? 0;
    return {
      device: device.id, name: device.name, ns, busy: ns - idleTime, idle: [...idle].sort((a, b) => b[1] - a[1]), kernels: list,
      instances: list.reduce((sum, kernel) => sum + kernel.count, 0), levels: [...levels].filter(([, [, time]]) => time > 0).map(([id, [sum, time]]): [string, number] => [id, sum / time]),
      covered: partOf(covered, kernelTime) ?? 0, joules: joulesOf(energy, view, (energy?.start_ns ?? 0) - timeline.start), cut: cut.events,
    };
  });
}
