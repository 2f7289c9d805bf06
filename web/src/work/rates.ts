// The numbers behind the roofline, and copies against their link.
import type { NoShare, RoofPoint, TransferRate, WorkUse } from "../model.ts";
import { h } from "../parts/dom.ts";
import { bytes, count, rate, share, time } from "../parts/format.ts";
import { middleCut, table } from "../parts/table.ts";

export const RATES = "Operations and bytes a second";

function number(value: number | null, unit: string): string | HTMLElement { return value === null ? h("span", { class: "dim" }, "no data") : rate(value, unit); }

const WHY = {
  "": ["no data", "No ceiling is known for it."],
  cache: ["> 100 %, L2", "More bytes a second than device memory can move: part of them stayed in L2."],
  fewer_operations: ["no share", "A convolution by FFT or Winograd, which multiplies less than the model counts."],
  above: ["> 100 %", "Faster than the ceiling, which is what a benchmark reached or the data sheet says of its clock."],
} as const;

/** The share of its ceiling, or why there is no share. */
export function ofCeiling(point: { of_ceiling: number | null; no_share: NoShare }): string | HTMLElement {
  if (point.of_ceiling !== null) return share(point.of_ceiling);
  const [text, meaning] = WHY[point.no_share];
  return h("span", { class: "dim", title: meaning }, text);
}

/** Kernels, operators and layers with what they did in their time. */
export function ratesTable(points: RoofPoint[]): HTMLElement {
  return table({ caption: RATES, rows: points, sortBy: "ns", noun: "rows", step: 12, search: (p) => `${p.scope} ${p.name} ${p.phase}`, columns: [
    { id: "scope", title: "Scope", key: (p) => p.scope, cell: (p) => p.scope },
    { id: "kernel", title: "Name", key: (p) => p.name, cell: (p) => middleCut(p.name) },
    { id: "phase", title: "Phase", key: (p) => p.phase, cell: (p) => p.phase },
    { id: "ns", title: "Time", numeric: true, key: (p) => p.ns, cell: (p) => time(p.ns) },
    { id: "flops", title: "Operations", numeric: true, key: (p) => p.flops_per_s, cell: (p) => number(p.flops_per_s, "FLOP/s") },
    { id: "bytes", title: "Bytes", numeric: true, meaning: "Bytes of device memory a second: counted, or the least that the sizes ask for.", key: (p) => p.bytes_per_s, cell: (p) => number(p.bytes_per_s, "B/s") },
    { id: "limit", title: "Limit", meaning: "The ceiling that it comes closer to.", key: (p) => p.limit, cell: (p) => p.limit || "\u2013" },
    { id: "ceiling", title: "% of limit", numeric: true, key: (p) => p.of_ceiling, cell: ofCeiling },
    { id: "by", title: "Source", key: (p) => p.flops_source, cell: (p) => (p.flops_source === "measured" || p.bytes_source === "measured" ? "counters" : "model") },
  ] });
}

/** Copies by direction, with bytes a second while they ran and what that is of the link. */
export function copiesTable(work: WorkUse): HTMLElement | null {
  if (work.transfers.length === 0) return null;
  return h("div", {}, h("h3", {}, "Copies"), table<TransferRate>({ caption: "Copies against their link", rows: work.transfers, sortBy: "ns", noun: "directions", columns: [
    { id: "direction", title: "Direction", key: (t) => t.direction, cell: (t) => t.direction.replaceAll("_", " ") },
    { id: "count", title: "Copies", numeric: true, key: (t) => t.copies, cell: (t) => count(t.copies) },
    { id: "size", title: "Bytes", numeric: true, key: (t) => t.bytes, cell: (t) => bytes(t.bytes) },
    { id: "ns", title: "Time", numeric: true, key: (t) => t.ns, cell: (t) => time(t.ns) },
    { id: "rate", title: "Rate", numeric: true, key: (t) => t.bytes_per_s, cell: (t) => number(t.bytes_per_s, "B/s") },
    { id: "link", title: "% of link", numeric: true, key: (t) => t.of_link, cell: (t) => share(t.of_link) },
  ] }));
}
