// Assigns readings to charts: of one device the ladder and its sensors, of several each ladder and one chart a sensor.
import type { SampledDevice, SampledReading } from "../model.ts";
import type { Report } from "../page_data.ts";
import { axisTop } from "../parts/axis.ts";
import { time } from "../parts/format.ts";

export interface Line { text: string; meaning: string; unit: string; colour: string; dashed: boolean; mean: number | null; values: (number | null)[] }
export interface Chart { id: string; title: string; meaning: string; lines: Line[]; unit: string; bottom: number; top: number; height: number; filled: boolean }

/** The rungs as lines; of the readings of a rung the first that there is. */
const LADDER = [
  { ids: ["gpu.busy", "monitor.gpu"], colour: "var(--line-busy)" },
  { ids: ["sm.active", "sm.active_any"], colour: "var(--line-sm)" },
  { ids: ["issue.active"], colour: "var(--line-issue)" },
  { ids: ["tensor.active"], colour: "var(--line-tensor)" },
  { ids: ["dram.active"], colour: "var(--line-dram)", dashed: true },
];
/** Readings that share a chart; the first of each is what devices are compared by. A limit has no data of its own to compare. */
const SENSORS: string[][][] = [
  [["power.module", "power.average"], ["power.memory"], ["power.limit"]],
  [["clock.sm"]],
  [["temperature.gpu"], ["temperature.memory"]],
  [["memory.used"], ["memory.total"]],
  [["pcie.rx"], ["pcie.tx"]],
  [["nvlink.rx"], ["nvlink.tx"]],
];
const LIMITS = ["power.limit", "memory.total"];
const COLOURS = ["var(--accent)", "var(--line-sm)"];

function find(readings: SampledReading[], ids: string[]): SampledReading | null {
  return ids.map((id) => readings.find((r) => r.id === id && r.mean !== null)).find((r) => r !== undefined) ?? null;
}

export function labelOf(report: Report, id: string): { text: string; short_text: string; meaning: string } {
  return report.labels.readings.find((l) => l.id === id) ?? { text: id, short_text: id, meaning: "" };
}

function lineOf(report: Report, r: SampledReading, colour: string, dashed = false): Line {
  const { text, meaning } = labelOf(report, r.id);
  return { text, meaning, unit: r.unit, colour, dashed, mean: r.mean, values: r.values };
}

function ladder(report: Report, d: SampledDevice, short: boolean): Line[] {
  return LADDER.flatMap(({ ids, colour, dashed }) => {
    const r = find(d.readings, ids);
    return r ? [{ ...lineOf(report, r, colour, dashed), ...(short ? { text: labelOf(report, r.id).short_text } : {}) }] : [];
  });
}

/** A chart from 0 to a round number; none when there is nothing but zeros to draw. Of temperatures 0 is no bottom. */
function sensor(id: string, lines: Line[], title = "", meaning = ""): Chart[] {
  const values = lines.flatMap((l) => l.values).filter((v): v is number => v !== null), most = Math.max(0, ...values), unit = lines[0]?.unit ?? "";
  if (most === 0) return [];
  const [bottom, top] = unit === "celsius" ? [Math.ceil(Math.min(...values) / 10 - 1) * 10, Math.floor(most / 10 + 1) * 10] : [0, axisTop(Math.max(most, unit === "cores" ? 1 : 0))];
  return [{ id, title, meaning, lines, unit, bottom, top, height: 56, filled: lines.length === 1 && bottom === 0 }];
}

function ladderChart(id: string, lines: Line[], height: number, title = "", meaning = ""): Chart[] {
  return lines.length > 0 ? [{ id, title, meaning, lines, unit: "ratio", bottom: 0, top: 1, height, filled: false }] : [];
}

function host(report: Report): Chart[] {
  const r = find(report.analysis.samples.host, ["host.cpu"]);
  return r ? sensor(r.id, [lineOf(report, r, COLOURS[0]!)]) : [];
}

export function chartsOfDevice(report: Report, d: SampledDevice): Chart[] {
  const sensors = SENSORS.flatMap((group) => {
    const readings = group.map((ids) => find(d.readings, ids)).filter((r): r is SampledReading => r !== null);
    // A limit alone is no reading over time.
    if (readings.every((r) => LIMITS.includes(r.id))) return [];
    return sensor(readings[0]!.id, readings.map((r, i) => (LIMITS.includes(r.id) ? lineOf(report, r, "var(--dim)", true) : lineOf(report, r, COLOURS[i]!))));
  });
  return [...ladderChart("ladder", ladder(report, d, false), 170), ...sensors, ...host(report)];
}

/** All devices: a ladder each, and each sensor in one chart with a line a device. */
export function chartsOfAll(report: Report, devices: SampledDevice[]): Chart[] {
  const ladders = devices.flatMap((d) => ladderChart(`ladder-${d.id}`, ladder(report, d, true), 76, `GPU ${d.id}`, factsOf(report, d)));
  const compared = SENSORS.flatMap((group) => (group[0]![0]!.includes(".rx") ? group : [group[0]!]));
  const sensors = compared.flatMap((ids) => {
    const lines = devices.flatMap((d, i) => {
      const r = find(d.readings, ids);
      return r ? [{ ...lineOf(report, r, `var(--type-${i % 17})`), text: `GPU ${d.id}`, meaning: "" }] : [];
    });
    return sensor(ids[0]!, lines, labelOf(report, ids[0]!).text, labelOf(report, ids[0]!).meaning);
  });
  return [...ladders, ...sensors, ...host(report)];
}

const SOURCES: Record<string, string> = { pm_sampling: "PM sampling", gpm: "NVML GPM", dcgm: "DCGM", nvml: "NVML" };

/** Facts behind the lines of a device. */
export function factsOf(report: Report, d: SampledDevice): string {
  const window = report.analysis.window.duration_ns, covered = window > 0 ? (d.covered_ns / window) * 100 : 0;
  const samples = d.samples > 0 ? `: ${d.samples} samples of ${time(d.sample_ns)}${covered < 99.95 ? `, which cover ${covered.toFixed(1)} % of the time` : ""}` : "";
  const repeats = d.step_ns !== null ? ` Its activity repeats every ${time(d.step_ns)} (correlation ${(d.step_confidence ?? 0).toFixed(2)}).` : "";
  return `${d.name || "GPU"}, levels from ${SOURCES[d.source] ?? d.source}${samples}.${repeats}`;
}
