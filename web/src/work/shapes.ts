// The table by shape: every operator with its inputs, the rates of its calls, and what they are of the roofline.
import type { OperatorWork, WorkUse } from "../model.ts";
import { h, section } from "../parts/dom.ts";
import { count, rate, share, time } from "../parts/format.ts";
import { table } from "../parts/table.ts";
import { ofCeiling } from "./rates.ts";

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

/** A value with what goes with it under it. */
function over(value: string | HTMLElement, below: string): HTMLElement { return h("span", {}, value, h("span", { class: "range" }, below)); }

export function shapesSection(work: WorkUse | null): HTMLElement | null {
  const rows = work?.operators ?? [];
  if (rows.length === 0 || rows.every((o) => o.shapes === "")) return null;
  return section("shapes", "By shape", "operators with the same inputs; rates of the median call, with the slowest and the fastest", table<OperatorWork>({
    caption: "Operators by shape", rows, sortBy: "ns", noun: "rows", step: 12, search: (o) => `${o.name} ${o.shapes} ${o.types} ${o.phase} ${o.module} ${o.python} ${o.by_kernel.map((k) => k.name).join(" ")}`, columns: [
      { id: "operator", title: "Operator", meaning: "With its phase and module; * stands for numbers in which equal blocks differ.", key: (o) => o.name, cell: (o) => over(o.name.replace(/^aten::/, ""), [o.phase === "all" ? "" : o.phase, o.module].filter((part) => part !== "").join(" \u00b7 ")) },
      { id: "shapes", title: "Inputs", meaning: "Sizes of the inputs; click for types, strides, place in the program and kernels.", key: (o) => o.shapes, cell: inputs },
      { id: "count", title: "Calls", numeric: true, key: (o) => o.calls, cell: (o) => count(o.calls) },
      { id: "ns", title: "Time", meaning: "Exclusive kernel time of all calls, and its share; the rows sum to the kernel time.", numeric: true, key: (o) => o.ns, cell: (o) => over(time(o.ns), share(o.share)) },
      { id: "call", title: "Time per call", numeric: true, key: (o) => o.ns_median, cell: (o) => spread(o.ns_min, o.ns_median, o.ns_max, time) },
      { id: "flops", title: "FLOP/s", meaning: "Operations a second.", numeric: true, key: (o) => o.flops_per_s_median, cell: (o) => spread(o.flops_per_s_min, o.flops_per_s_median, o.flops_per_s_max, (v) => rate(v, "")) },
      { id: "bytes", title: "B/s", meaning: "Bytes of device memory a second: counted, or the least that the sizes ask for.", numeric: true, key: (o) => o.bytes_per_s_median, cell: (o) => spread(o.bytes_per_s_min, o.bytes_per_s_median, o.bytes_per_s_max, (v) => rate(v, "")) },
      { id: "ceiling", title: "% of roofline", meaning: "Share of the closer ceiling: compute or memory.", numeric: true, key: (o) => o.of_ceiling, cell: (o) => over(ofCeiling(o), o.ceiling) },
    ] }));
}
