// The table by shape: every operator with its inputs, the rates of its calls, and what they are of the roofline.
import type { OperatorWork, WorkUse } from "../model.ts";
import { h, section } from "../parts/dom.ts";
import { count, rate, share, time } from "../parts/format.ts";
import { middleCut, table } from "../parts/table.ts";

const none = (): HTMLElement => h("span", { class: "dim" }, "no data");

/** The median call, with the least and the most where they differ. */
function spread(least: number | null, middle: number | null, most: number | null, show: (value: number) => string): string | HTMLElement {
  if (least === null || middle === null || most === null) return none();
  return show(least) === show(most) ? show(middle) : h("span", {}, show(middle), h("span", { class: "range" }, `${show(least)} to ${show(most)}`));
}

function inputs(o: OperatorWork): HTMLElement {
  const facts = [["types", o.types], ["strides", o.strides], ["arguments", o.arguments], ["under", o.path], ["from", o.python]].filter(([, what]) => what !== "");
  const kernels = o.by_kernel.map((k) => h("li", {}, `${time(k.ns)} ${k.name}`));
  return h("details", { class: "inputs" }, h("summary", {}, o.shapes || "kernels"), ...facts.map(([name, what]) => h("p", {}, h("span", { class: "dim" }, `${name} `), what!)), kernels.length > 0 ? h("ul", {}, ...kernels) : null);
}

export function shapesSection(work: WorkUse | null): HTMLElement | null {
  const rows = work?.operators ?? [];
  if (rows.length === 0 || rows.every((o) => o.shapes === "")) return null;
  return section("shapes", "By shape", "operators with the same inputs; rates of the median call, with the slowest and the fastest", table<OperatorWork>({
    caption: "Operators by shape", rows, sortBy: "ns", noun: "rows", step: 12, search: (o) => `${o.name} ${o.shapes} ${o.types} ${o.phase} ${o.module} ${o.python} ${o.by_kernel.map((k) => k.name).join(" ")}`, columns: [
      { id: "kernel", title: "Operator", key: (o) => o.name, cell: (o) => middleCut(o.name) },
      { id: "shapes", title: "Inputs", meaning: "Sizes of the inputs; press them for types, strides, place in the program and kernels.", key: (o) => o.shapes, cell: inputs },
      { id: "layer", title: "Module", meaning: "* stands for numbers in which equal blocks differ.", key: (o) => o.module, cell: (o) => middleCut(o.module || "\u2013") },
      { id: "phase", title: "Phase", key: (o) => o.phase, cell: (o) => o.phase },
      { id: "count", title: "Calls", numeric: true, key: (o) => o.calls, cell: (o) => count(o.calls) },
      { id: "ns", title: "Time", meaning: "Exclusive kernel time of all calls; the rows sum to the kernel time.", numeric: true, key: (o) => o.ns, cell: (o) => time(o.ns) },
      { id: "share", title: "Share", numeric: true, key: (o) => o.share, cell: (o) => share(o.share) },
      { id: "call", title: "A call", numeric: true, key: (o) => o.ns_median, cell: (o) => spread(o.ns_min, o.ns_median, o.ns_max, time) },
      { id: "flops", title: "Operations", numeric: true, key: (o) => o.flops_per_s_median, cell: (o) => spread(o.flops_per_s_min, o.flops_per_s_median, o.flops_per_s_max, (v) => rate(v, "FLOP/s")) },
      { id: "bytes", title: "Bytes", meaning: "Bytes of device memory a second: counted, or the least that the sizes ask for.", numeric: true, key: (o) => o.bytes_per_s_median, cell: (o) => spread(o.bytes_per_s_min, o.bytes_per_s_median, o.bytes_per_s_max, (v) => rate(v, "B/s")) },
      { id: "limit", title: "Limit", meaning: "The ceiling of the GPU that it comes closer to.", key: (o) => o.ceiling, cell: (o) => o.ceiling || "\u2013" },
      { id: "ceiling", title: "Of it", numeric: true, key: (o) => o.of_ceiling, cell: (o) => share(o.of_ceiling) },
    ] }));
}
