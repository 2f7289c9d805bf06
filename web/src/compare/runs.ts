// The runs themselves: how long a step takes, how much its steps differ, and what a profiler may have added.
import type { ComparedChange, ComparedRun } from "../model.ts";
import { h, section, term } from "../parts/dom.ts";
import { energy, perSecond, plural, rate, share, time } from "../parts/format.ts";
import { letter, type CompareReport } from "./page.ts";

/** One bar: the time; a dot for every step; a bracket over what the profiler may have taken. */
function bar(run: ComparedRun, most: number): HTMLElement {
  const part = (ns: number): number => (ns / most) * 100, low = Math.min(...run.step_ns), high = Math.max(...run.step_ns);
  const words = [time(run.wall_ns), run.step_ns.length > 1 ? `steps from ${time(low)} to ${time(high)}` : "", run.slowed ? `without the profiler ${time(run.wall_ns - run.profiler_ns)} or more` : ""].filter(Boolean).join("; ");
  return h("div", { class: "run-bar", role: "img", "aria-label": words, "data-tip": words, tabindex: 0 },
    h("span", { class: "length", style: `width:${part(run.wall_ns)}%` }),
    run.slowed ? h("span", { class: "bracket", style: `left:${part(run.wall_ns - run.profiler_ns)}%;width:${part(run.wall_ns) - part(run.wall_ns - run.profiler_ns)}%` }) : null,
    ...run.step_ns.slice(0, 400).map((ns) => h("span", { class: "step", style: `left:${part(ns)}%` })));
}

function changeWords(change: ComparedChange, of: string): string {
  const times = (ratio: number | null): string => (ratio === null || ratio <= 0 ? "no data" : `${(1 / ratio).toFixed(2)}\u00d7`);
  const noise = change.low !== null && change.high !== null ? ` (95 %: ${times(change.high)} to ${times(change.low)})` : "";
  const said = { faster: "faster", slower: "slower", no_difference: "no difference, within 3 %", undecided: "undecided", same_job: "a rank of the same job", not_known: "not decided: too few steps to tell it from noise, or inputs of another size", different_programs: "different programs" }[change.verdict];
  return `${times(change.ratio)} as fast by the ${of}${noise}: ${said}`;
}

/** The name of a capture without what says only which kind of file it is. */
export function shortRun(label: string): string { return label.replace(/(\.(json|gpf|gz|zst|sqlite|xplane|pb|csv|ncu|ncu-rep))+$/, "") || label; }

export function runsSection(report: CompareReport): HTMLElement {
  const { runs, changes, per, differences } = report.comparison, most = Math.max(...runs.flatMap((run) => [run.wall_ns, ...run.step_ns]), 1);
  const facts = (run: ComparedRun): string => [run.device, run.devices > 1 ? plural(run.devices, "device") : "", run.steps > 0 ? plural(run.steps, "step") : "", run.batch !== null ? `batch ${run.batch}` : "", run.precision,
    run.item_ns !== null ? `${time(run.item_ns)} per item` : "", run.items_per_s !== null ? `${perSecond(run.items_per_s)} items/s` : "", run.tokens_per_s !== null ? `${perSecond(run.tokens_per_s)} tokens/s` : "",
    run.flops_per_s !== null ? rate(run.flops_per_s, "FLOP/s") : "", run.mfu !== null ? `MFU ${share(run.mfu)}` : "", run.joules !== null ? `${energy(run.joules * 1e9)} a ${per}` : "", run.profiler].filter(Boolean).join(" \u00b7 ");
  const slowed = runs.some((run) => run.slowed), several = runs.some((run) => run.step_ns.length > 1);
  return section("runs", per === "step" ? "Duration of a step" : "Duration", "by the clock", h("ol", { class: "runs" }, ...runs.map((run, r) => {
    const change = changes.find((each) => each.run === r);
    return h("li", { "data-run": r, "data-ns": run.wall_ns }, h("span", { class: "name", title: run.label }, h("strong", {}, letter(r)), " ", shortRun(run.label)), h("span", { class: "value" }, time(run.wall_ns)), bar(run, most), h("p", { class: "note" }, facts(run)),
      change ? h("p", { class: `said ${change.verdict}` }, changeWords(change, change.of), run.slowed || runs[0]!.slowed ? `; without a profiler likely ${change.own_high && change.own_low ? `${(1 / change.own_high).toFixed(2)} to ${(1 / change.own_low).toFixed(2)}\u00d7` : "no data"}` : "") : null);
  })), several ? h("p", { class: "note" }, "A dot is a step", slowed ? "; the hatched part is what a profiler may have added: without it the time ends somewhere inside." : ".") : null,
  differences.length > 0 ? h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Other differences" }, h("table", { class: "differences" }, h("caption", {}, "Other differences"), h("tbody", {}, ...differences.map((d) =>
    h("tr", {}, h("th", { scope: "row" }, term(d.setting.replaceAll("_", " "), "")), ...d.values.map((value, r) => h("td", {}, `${letter(r)} ${value || "not known"}`))))))) : null);
}
