// Charts of one model over its settings: a line for each series of runs that differ in their batch alone.
import type { Sweep, SweepRun, SweepSeries } from "../model.ts";
import type { Label } from "../page_data.ts";
import { h, term } from "../parts/dom.ts";
import { fitted } from "../parts/figure.ts";
import { bytes, count, share } from "../parts/format.ts";
import { lineMark, linePlot, type Plot, type PlotLine } from "../parts/plot.ts";

export interface SweepReport { version: string; sweep: Sweep; labels: { levels: Label[] } }

const COLOURS = 10;

/** A series, with what tells it apart from the others of its model. */
export interface Drawn { series: SweepSeries; name: string; colour: string; shape: number; runs: SweepRun[] }

function shortName({ name, model }: SweepSeries): string { return name.startsWith(model) ? name.slice(model.length).trim() || name : name; }

/** The same setting has the same colour and mark in every model. */
export function drawnSeries(sweep: Sweep, model: string): Drawn[] {
  const names = [...new Set(sweep.series.map(shortName))];
  return sweep.series.filter((series) => series.model === model).map((series) => {
    const name = shortName(series), at = names.indexOf(name);
    return { series, name, colour: `var(--series-${at % COLOURS})`, shape: at, runs: series.runs.map((run) => sweep.runs[run]!) };
  });
}

/** The level's value; samples know the SMs only by their upper bound. */
export function levelIn(run: SweepRun, id: string): number | null {
  const value = run.levels.find((level) => level.id === id)?.value ?? null;
  return value === null && id === "sm.active" ? run.levels.find((level) => level.id === "sm.active_any")?.value ?? null : value;
}

export function labelIn(report: SweepReport, id: string): Label { return report.labels.levels.find((each) => each.id === id) ?? { id, text: id, short_text: id, meaning: "" }; }

/** Items a second, four digits. */
export function itemRate(rate: number): string { return rate < 1000 ? String(Number(rate.toPrecision(4))) : count(Math.round(Number(rate.toPrecision(4)))); }

type Of = (run: SweepRun) => number | null;
const batchOf: Of = (run) => run.batch, bestOf: Of = (run) => run.normalised, gigabytes: Of = (run) => (run.memory_bytes === null ? null : run.memory_bytes / 1e9);

function words(run: SweepRun): string {
  return [run.batch === null ? "" : `batch ${count(run.batch)}`, run.throughput === null ? "" : `${itemRate(run.throughput)} items/s`, run.memory_bytes === null ? "" : bytes(run.memory_bytes)].filter(Boolean).join(", ");
}

function linesOf(all: Drawn[], x: Of, y: Of, say: (value: number) => string): PlotLine[] {
  return all.map(({ series, name, colour, shape, runs }) => ({ name, colour, shape, points: runs.filter((run) => (x(run) ?? 0) > 0 && y(run) !== null)
    .map((run) => ({ x: x(run)!, y: y(run)!, tip: `${name}, ${words(run)}: ${say(y(run)!)}`, ring: run.batch !== null && run.batch === series.saturation_batch })) })).filter((line) => line.points.length > 0);
}

/** Kernels in the order of their level: how much of the time runs at what. */
function curves(all: Drawn[]): PlotLine[] {
  return all.filter(({ series }) => series.tensor_curve.length > 0).map(({ series, name, colour, shape }) => ({ name, colour, shape, stepped: true, points: [{ x: 0, y: 0, tip: "" }, ...series.tensor_curve.map((p) => ({ x: p.time_share, y: p.utilization, tip: "" }))] }));
}

function figure(plot: Plot, heading: HTMLElement): HTMLElement | null {
  return plot.lines.length === 0 ? null : h("div", { class: "sweep-plot" }, h("h3", {}, heading, h("span", { class: "dim" }, ` ${plot.yTitle}`)), fitted((width) => linePlot(plot, width), 460));
}

export function modelCharts(report: SweepReport, model: string, all: Drawn[]): HTMLElement {
  const id = (kind: string): string => `${kind}_${model.replaceAll(/[^\w]/g, "_")}`, best = (value: number): string => `${share(value)} of the best`;
  const levels = ["gpu.busy", "sm.active", "issue.active", "tensor.active"].map((level) => {
    const label = labelIn(report, level);
    return figure({ id: id(level), title: `${model}: ${label.text} over the batch`, xTitle: "batch", yTitle: "of the time", byTwos: true, percentY: true, top: 1, lines: linesOf(all, batchOf, (run) => levelIn(run, level), share) }, term(label.text, label.meaning));
  });
  const curve = all.find(({ series }) => series.curve_level)?.series.curve_level ?? "", curveLabel = labelIn(report, curve);
  return h("div", { class: "plots" },
    figure({ id: id("throughput"), title: `${model}: throughput over the batch`, xTitle: "batch", yTitle: "of the best", byTwos: true, percentY: true, top: 1, lines: linesOf(all, batchOf, bestOf, best) }, h("span", {}, "Throughput")),
    figure({ id: id("memory"), title: `${model}: throughput against memory`, xTitle: "memory, GB", yTitle: "of the best", byTwos: true, percentY: true, top: 1, lines: linesOf(all, gigabytes, bestOf, best) }, h("span", {}, "Throughput against memory")),
    ...levels,
    figure({ id: id("flops"), title: `${model}: operations a second`, xTitle: "batch", yTitle: "TFLOP/s", byTwos: true, lines: linesOf(all, batchOf, (run) => (run.flops === null ? null : run.flops / 1e12), (value) => `${value.toFixed(1)} TFLOP/s`) }, h("span", {}, "Operations a second")),
    figure({ id: id("curve"), title: `${model}: ${curveLabel.text} over the kernels`, xTitle: "share of kernel time, kernels in the order of their level", yTitle: "of a kernel's time", percentX: true, percentY: true, lines: curves(all) }, term(`${curveLabel.text}, kernel by kernel`, curveLabel.meaning)));
}

/** The lines of all charts of a model, and where each saturates. */
export function legendOf(all: Drawn[]): HTMLElement {
  return h("ul", { class: "legend" }, ...all.map(({ series, name, colour, shape, runs }) => h("li", { "data-series": series.name }, lineMark(shape, colour), name,
    h("span", { class: "dim" }, series.saturation_batch !== null ? `, saturates at batch ${count(series.saturation_batch)}` : runs.length > 2 ? ", still rising" : ""))));
}
