// Achieved rates of the run: operations, items and tokens per second, in a line under the ladder.
import type { WorkHeadline } from "../model.ts";
import { h, term } from "../parts/dom.ts";
import { count, perSecond, rate, share } from "../parts/format.ts";

function operations(work: WorkHeadline): (string | HTMLElement)[] {
  if (work.flops_per_s === null) return [];
  const partly = work.flops_source === "model" && (work.coverage ?? 0) < 0.995;
  const parts: (string | HTMLElement)[] = [`${partly ? "at least " : ""}${rate(work.flops_per_s, "FLOP/s")}${work.flops_source === "measured" ? ", counted" : " from operator shapes (model)"}`];
  if (work.mfu !== null)
    parts.push(": ", term("MFU", "model FLOPs utilization: operations that the program needs, over the dense peak of the data sheet times the window"), ` ${share(work.mfu)} of ${rate(work.peak_flops_per_s ?? 0, "FLOP/s")} in ${work.peak_type}`);
  if (work.flops_source === "model" && work.measured_flops_per_s !== null) parts.push(`; counted on tensor cores: ${rate(work.measured_flops_per_s, "FLOP/s")}`);
  return [...parts, ". "];
}

function items(work: WorkHeadline): string {
  const of = work.throughput;
  if (of.items_per_s === null) return "";
  return [`${perSecond(of.items_per_s)} items per second${of.items === null ? "" : ` (${count(of.items)} per step${of.items_source === "shapes" ? " from its shapes" : ""})`}`, of.tokens_per_s === null ? "" : `${perSecond(of.tokens_per_s)} tokens per second`,
    of.flops_per_item === null ? "" : `${rate(of.flops_per_item, "FLOP")} per item`, of.joules_per_item === null ? "" : `${Number(of.joules_per_item.toPrecision(4))} J per item`].filter(Boolean).join(", ") + ".";
}

export function workNote(work: WorkHeadline): HTMLElement | null {
  const said = [...operations(work), items(work)].filter((part) => part !== "");
  return said.length === 0 ? null : h("p", { class: "note", "data-work": "" }, ...said);
}
