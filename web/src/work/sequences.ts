// Kernels that follow each other again and again, and what one kernel in their place would gain at most.
import type { KernelSequence, WorkUse } from "../model.ts";
import { h, section } from "../parts/dom.ts";
import { count, time } from "../parts/format.ts";
import { table } from "../parts/table.ts";

function kernels(row: KernelSequence): HTMLElement {
  const what = row.operators.length > 0 ? row.operators : row.names, often = row.names.length === 1 ? ` \u00d7 ${Number((row.kernels / row.times).toPrecision(3))}` : "";
  return h("details", { class: "inputs" }, h("summary", {}, what.map((name) => name.replace(/^aten::/, "")).join(" \u203a ") + often), ...row.names.map((name) => h("p", {}, name)));
}

export function sequencesSection(work: WorkUse | null): HTMLElement | null {
  const rows = work?.sequences ?? [];
  if (rows.length === 0) return null;
  return section("sequences", "Repeated sequences", "kernels in a row that pass over tensors; what one kernel could do in their place", table<KernelSequence>({
    caption: "Repeated sequences of kernels", rows, sortBy: "gain", noun: "sequences", step: 8, search: (s) => `${s.names.join(" ")} ${s.operators.join(" ")} ${s.phase} ${s.module}`, columns: [
      { id: "operator", title: "Sequence", meaning: "Operators in order; click for the kernels.", key: (s) => s.names.join(" "), cell: kernels },
      { id: "phase", title: "Phase", key: (s) => s.phase, cell: (s) => s.phase },
      { id: "count", title: "Count", numeric: true, key: (s) => s.times, cell: (s) => count(s.times) },
      { id: "ns", title: "Time", meaning: "Exclusive time of the kernels.", numeric: true, key: (s) => s.ns, cell: (s) => time(s.ns) },
      { id: "gaps", title: "Gaps", meaning: "Time between the kernels of a sequence.", numeric: true, key: (s) => s.gap_ns, cell: (s) => time(s.gap_ns) },
      { id: "gain", title: "Gain, up to", meaning: "Time and gaps, less the least time that the outside inputs and the result take.", numeric: true, key: (s) => s.gain_ns, cell: (s) => time(s.gain_ns) },
    ] }));
}
