// Readings of sensors and counters as lanes on the timeline's clock: levels, power, clock, memory.
import type { Report } from "../page_data.ts";
import { reading, share } from "../parts/format.ts";
import { Lane, type Timeline } from "./events.ts";

/** Readings with a lane of their own, from top to bottom. */
const READINGS = ["sm.active", "sm.active_any", "issue.active", "tensor.active", "dram.active", "power.module", "clock.sm", "memory.used"];

function steps(starts: number[], end: number, values: number[]): Record<string, Float64Array> {
  const start = Float64Array.from(starts), duration = start.map((at, i) => Math.max(0, (start[i + 1] ?? end) - at)), depth = Float64Array.from(values);
  return { start, duration, low: depth, depth };
}

/** Adds the lanes below what the device executed. */
export function addTracks(report: Report, timeline: Timeline): void {
  const put = (device: number, title: string, columns: Record<string, Float64Array>): void => {
    const last = timeline.lanes.reduce((found, lane, i) => (lane.device === device ? i : found), -1), group = timeline.lanes[last]?.group ?? `GPU ${device}`;
    timeline.lanes.splice(last + 1, 0, Lane.of("curve", title, group, device, columns));
  };
  const { samples, energy } = report.analysis, offset = samples.start_ns - timeline.start;
  for (const device of samples.devices)
    for (const id of READINGS) {
      const found = device.readings.find((each) => each.id === id);
      if (id === "sm.active_any" && device.readings.some((each) => each.id === "sm.active")) continue;
      if (!found || found.values.every((value) => value === null)) continue;
      const most = Math.max(...found.values.map((value) => value ?? 0)), label = report.labels.readings.find((each) => each.id === id)?.text ?? id;
      const top = found.unit === "ratio" ? share(most) : reading(most, found.unit);
      put(device.id, `${label}, at most ${top}`, steps(found.values.map((_, i) => offset + i * samples.bucket_ns), offset + found.values.length * samples.bucket_ns, found.values.map((value) => value ?? NaN)));
    }
  for (const memory of report.work?.memory ?? [])
    for (const [kind, text] of [["allocated", "memory held by tensors"], ["reserved", "memory held by the framework"]] as const) {
      const points = memory.over_time.filter((point) => point[kind] !== null), begin = report.work!.window.start_ns - timeline.start;
      if (points.length > 1) put(memory.device, `${text}, at most ${reading(Math.max(...points.map((point) => point[kind]!)), "bytes")}`, steps(points.map((point) => begin + point.ns), timeline.duration, points.map((point) => point[kind]!)));
    }
  for (const device of energy.devices) {
    if (device.power.length === 0 || samples.devices.some((each) => each.id === device.device && each.readings.some((r) => r.id === "power.module"))) continue;
    const begin = device.start_ns - timeline.start, most = Math.max(...device.power.map((each) => each.watts));
    put(device.device, `power, at most ${reading(most, "watts")}`, steps(device.power.map((each) => begin + Math.max(each.ns, 0)), begin + device.span_ns, device.power.map((each) => each.watts)));
  }
}
