// The page of a sweep: the curves of each model, all runs.
import type { SweepRun, SweepSeries } from "../model.ts";
import { filesLine, h, section } from "../parts/dom.ts";
import { bytes, count, energy, partOf, plural, share, time } from "../parts/format.ts";
import { table, type Column } from "../parts/table.ts";
import { bestChart } from "./best.ts";
import { drawnSeries, itemRate, labelIn, legendOf, levelIn, modelCharts, type Drawn, type SweepReport } from "./charts.ts";
import { spreadCharts } from "./spreads.ts";

/** The fastest run of a model, and what its curves do. */
function modelVerdict(model: string, all: Drawn[]): string {
  const known = all.flatMap(({ name, runs }) => runs.filter((run) => run.throughput !== null).map((run) => ({ name, run }))).sort((a, b) => b.run.throughput! - a.run.throughput!);
  const curves = all.filter(({ runs }) => runs.length > 2), saturated = curves.filter(({ series }) => series.saturation_batch !== null).length;
  const fastest = known[0] ? `fastest is ${known[0].name}${known[0].run.batch === null ? "" : ` at batch ${count(known[0].run.batch)}`}, ${itemRate(known[0].run.throughput!)} items/s` : "no throughput is known";
  return `${model || "model not known"}: ${fastest}${curves.length > 0 ? `; ${saturated} of ${plural(curves.length, "curve")} saturate${saturated === 1 ? "s" : ""} below the largest batch` : ""}.`;
}

/** The run that takes least energy for an item, as far as it can be told; empty where energy is not known of two runs. */
function leastEnergy({ sweep }: SweepReport, model: string, all: Drawn[]): string {
  const least = sweep.cheapest.find((row) => row.model === model);
  if (!least) return "";
  const run = sweep.runs[least.run]!, next = sweep.runs[least.next]!, name = all.find(({ series }) => series.runs.includes(least.run))?.name ?? "", joules = (value: number): string => energy(value * 1e9);
  const interval = run.joules_low === null || run.joules_high === null ? "" : ` (${joules(run.joules_low)} to ${joules(run.joules_high)})`;
  const others = least.alike.length > 0 ? `, which cannot be told from ${plural(least.alike.length, "other run")}` : `; the next takes ${share(partOf(next.joules_per_item! - run.joules_per_item!, run.joules_per_item!))} more`;
  return ` Least energy for an item: ${name}${run.batch === null ? "" : ` at batch ${count(run.batch)}`}, ${joules(run.joules_per_item!)}${interval}${others}.`;
}

function modelSection(report: SweepReport, model: string, at: number): HTMLElement {
  const all = drawnSeries(report.sweep, model);
  return section(`model-${at}`, model || "model not known", "a ring marks the saturation batch: the smallest with 95 % of the highest throughput", legendOf(all), modelCharts(report, model, all), bestChart(report, model, all), spreadCharts(report, all));
}

interface Row { series: SweepSeries; run: SweepRun }

export function runsSection(report: SweepReport): HTMLElement {
  const { series, runs } = report.sweep, rows = series.flatMap((each): Row[] => each.runs.map((at) => ({ series: each, run: runs[at]! })));
  const number = <Value>(value: Value | null, say: (value: Value) => string): string => (value === null ? "no data" : say(value));
  const columns: Column<Row>[] = [{ id: "layer", title: "Series", key: (r) => r.series.name, cell: (r) => r.series.name },
    { id: "batch", title: "Batch", numeric: true, key: (r) => r.run.batch, cell: (r) => h("span", {}, r.run.batch !== null && r.run.batch === r.series.saturation_batch ? h("span", { class: "dim" }, "saturation ") : null, number(r.run.batch, count)) },
    { id: "step", title: "Step", numeric: true, key: (r) => r.run.step_ns, cell: (r) => number(r.run.step_ns, time) }, { id: "repeats", title: "Repeats", numeric: true, meaning: "Measurements of the step; its time is their mean.", key: (r) => r.run.repeats, cell: (r) => count(r.run.repeats) },
    { id: "spread", title: "Spread", numeric: true, meaning: "Slowest less fastest repeat, over the mean.", key: (r) => r.run.spread, cell: (r) => share(r.run.spread) }, { id: "rate", title: "Items/s", numeric: true, key: (r) => r.run.throughput, cell: (r) => number(r.run.throughput, itemRate) },
    { id: "best", title: "Of the best", numeric: true, meaning: "Throughput over the highest of the same model.", key: (r) => r.run.normalised, cell: (r) => share(r.run.normalised) }, { id: "memory", title: "Memory", numeric: true, key: (r) => r.run.memory_bytes, cell: (r) => number(r.run.memory_bytes, bytes) },
    { id: "flops", title: "TFLOP/s", numeric: true, key: (r) => r.run.flops, cell: (r) => number(r.run.flops, (rate) => (rate / 1e12).toFixed(1)) }, { id: "mfu", title: "MFU", numeric: true, meaning: "Of the data sheet's dense peak for the precision.", key: (r) => r.run.mfu, cell: (r) => share(r.run.mfu) },
    ...(runs.some((run) => run.joules_per_item !== null) ? [{ id: "joules", title: "J/item", numeric: true, meaning: "Measured energy of a step, of all devices, over its items.", key: (r: Row) => r.run.joules_per_item, cell: (r: Row) => number(r.run.joules_per_item, (joules) => `${Number(joules.toPrecision(3))}`) }] : []),
    ...["gpu.busy", "sm.active", "issue.active", "tensor.active"].map((id): Column<Row> => ({ id: id.replace(".", "-"), title: labelIn(report, id).short_text, meaning: labelIn(report, id).meaning, numeric: true, key: (r) => levelIn(r.run, id), cell: (r) => share(levelIn(r.run, id)) }))];
  return section("runs", "All runs", plural(rows.length, "run"), table({ caption: "Runs of the sweep", columns, rows, sortBy: "", noun: "runs", step: 100, search: (r) => `${r.series.name} b${r.run.batch}` }));
}

function modelsOf({ sweep }: SweepReport): string[] { return [...new Set(sweep.series.map((series) => series.model))]; }

export function sweepPage(report: SweepReport, tools: HTMLElement[]): { header: HTMLElement; parts: HTMLElement[] } {
  const { sweep } = report, models = modelsOf(report);
  return { header: h("header", { class: "top" }, h("div", { class: "bar" }, h("span", { class: "brand" }, "gpufathom"), filesLine(`sweep over ${sweep.axes.join(", ")}`), h("span", { class: "spring" }), ...tools),
    h("h1", {}, `${plural(sweep.runs.length, "run")} in ${count(sweep.series.length)} series over ${sweep.axes.join(", ")}`), ...models.map((model) => h("p", { class: "verdict" }, `${modelVerdict(model, drawnSeries(sweep, model))}${leastEnergy(report, model, drawnSeries(sweep, model))}`))),
  parts: [...models.map((model, at) => modelSection(report, model, at)), runsSection(report)] };
}
