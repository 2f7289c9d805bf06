// The page of `compare`: what may be said first, then where the difference comes from.
import type { ComparedLevel, ComparedTime, Comparison } from "../model.ts";
import type { Label } from "../page_data.ts";
import { causeColour, phaseColour, typeColour } from "../parts/colours.ts";
import { filesLine, h, section, term } from "../parts/dom.ts";
import { count, lengthOf, partOf, share, time } from "../parts/format.ts";
import { middleCut, table, type Column } from "../parts/table.ts";
import { rolesSection, shapesSection, stripsSection, treeSection } from "./inside.ts";
import { runsSection, shortRun } from "./runs.ts";

export interface CompareReport {
  version: string; sentences: string[]; culprits: string[]; differs: string; rows: number; comparison: Comparison;
  labels: { levels: Label[]; causes: Label[]; bars: Label[]; phases: Label[] };
}

/** A, B, … Z, AA, AB, … */
export const letter = (run: number): string => (run < 26 ? "" : letter(Math.floor(run / 26) - 1)) + String.fromCharCode(65 + (run % 26));

export function signedTime(ns: number): string { return ns === 0 ? "0" : `${ns > 0 ? "+" : "\u2212"}${time(Math.abs(ns))}`; }

/** The name of a row, in words. */
export function rowName(row: ComparedTime, report: CompareReport): string {
  if (row.kind === "idle") return `idle: ${report.labels.causes.find((each) => each.id === row.name)?.text ?? row.name}`;
  if (row.kind === "bar") return report.labels.bars.find((each) => each.id === row.name)?.text ?? row.name;
  return row.label || row.name;
}

function rowColour(row: ComparedTime): string {
  if (row.kind === "idle") return causeColour(row.name);
  if (row.kind === "copy") return "var(--bar-copy)";
  if (row.kind === "bar") return `var(--bar-${row.name.replaceAll("_", "-")})`;
  return row.kind === "phase" ? phaseColour(row.name) : typeColour(row.name);
}

/** One bar a run on one scale, its parts in the same order. */
function stacks(report: CompareReport, rows: ComparedTime[], most: number): HTMLElement {
  const { runs } = report.comparison, order = [...rows].sort((a, b) => Math.max(...b.ns) - Math.max(...a.ns));
  const bars = runs.flatMap((run, r) => [h("span", { class: "name", title: run.label }, h("strong", {}, letter(r)), " ", shortRun(run.label)),
    h("div", { class: "energy-bar", role: "img", "aria-label": order.map((row) => `${rowName(row, report)} ${time(row.ns[r]!)}`).join(", "), "data-run": r }, ...order.filter((row) => row.ns[r]! > 0).map((row) =>
      h("span", { style: `width:${lengthOf(row.ns[r]!, most)};background:${rowColour(row)}`, "data-tip": `${rowName(row, report)}: ${time(row.ns[r]!)}`, "data-row": row.name, "data-ns": row.ns[r] }))),
    h("span", { class: "value" }, time(rows.reduce((sum, row) => sum + row.ns[r]!, 0)))]);
  return h("div", {}, h("div", { class: "energy-stacks three" }, ...bars), h("ul", { class: "legend" }, ...order.map((row) => h("li", {}, h("span", { class: "swatch", style: `background:${rowColour(row)}` }), rowName(row, report)))));
}

/** A change as a bar to the left (less) or right (more) of a line. */
export function changeCell(ns: number, most: number): HTMLElement {
  const width = (partOf(Math.abs(ns), most) ?? 0) * 50;
  return h("span", { class: "change", "data-change": ns }, h("span", { class: "sides", "aria-hidden": "true" }, ns === 0 ? null : h("span", { class: ns < 0 ? "less" : "more", style: `left:${ns < 0 ? 50 - width : 50}%;width:${width}%` })), h("span", { class: "number" }, signedTime(ns)));
}

/** Rows of time for every run, and what the others have more than the first. */
function timeTable(report: CompareReport, rows: ComparedTime[], title: string, noun: string): HTMLElement {
  const { runs } = report.comparison, most = Math.max(...rows.flatMap((row) => row.change_ns.map(Math.abs)), 0);
  const columns: Column<ComparedTime>[] = [
    { id: "layer", title: `${noun[0]!.toUpperCase()}${noun.slice(1, -1)}`, key: (row) => rowName(row, report), cell: (row) => h("span", { class: "mark", title: row.name }, ["layer", "kernel"].includes(row.kind) ? null : h("span", { class: "swatch", style: `background:${rowColour(row)}` }), middleCut(rowName(row, report))) },
    ...runs.map((_, r): Column<ComparedTime> => ({ id: `run-${r}`, title: letter(r), numeric: true, key: (row) => row.ns[r]!, cell: (row) => (row.ns[r] === 0 ? "\u2013" : time(row.ns[r]!)) })),
    ...runs.slice(1).map((_, r): Column<ComparedTime> => ({ id: `change-${r + 1}`, title: `${letter(r + 1)} \u2212 A`, numeric: true, key: (row) => Math.abs(row.change_ns[r + 1]!), cell: (row) => changeCell(row.change_ns[r + 1]!, most) })),
  ];
  return table({ caption: `${title}, by run`, columns, rows, sortBy: "change-1", noun, step: report.rows, ...(rows.length > 12 ? { search: (row: ComparedTime) => `${row.name} ${rowName(row, report)}` } : {}) });
}

function levelsSection(report: CompareReport): HTMLElement | null {
  const { comparison: { levels, runs }, labels } = report, known = levels.filter((level) => level.value.some((value) => value !== null) && !level.id.endsWith("hit_rate"));
  if (known.length === 0) return null;
  const bar = (level: ComparedLevel, r: number): HTMLElement => h("li", { "data-level": level.id, "data-run": r }, h("span", { class: "letter" }, letter(r)),
    h("span", { class: "track", "aria-hidden": "true" }, level.value[r] === null ? null : h("span", { class: "fill", style: `width:${Math.min(1, level.value[r]!) * 100}%;opacity:${1 - 0.45 * (r / Math.max(runs.length, 2))}` })), h("span", { class: "value" }, share(level.value[r])));
  return section("ladder", "Utilization by level", "share of each run's window", h("div", { class: "ladders" }, ...known.map((level) => {
    const label = labels.levels.find((each) => each.id === level.id);
    return h("div", {}, h("h3", {}, term(label?.text ?? level.id, label?.meaning ?? "")), h("ol", {}, ...runs.map((_, r) => bar(level, r))));
  })));
}

/** The waterfall of each run beside the others, all on one scale. */
function waterfallsSection(report: CompareReport, most: number): HTMLElement | null {
  const { waterfall, runs } = report.comparison, order = report.labels.bars.map((label) => label.id), rows = [...waterfall].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  // Idle time, copies and kernels are in the bars above; what is new here lies below the kernels.
  if (!rows.some((row) => !["idle", "copy", "unknown"].includes(row.name)) || report.comparison.time.every((row) => row.kind === "bar")) return null;
  const one = (r: number): HTMLElement => {
    let before = 0;
    return h("div", { "data-run": r }, h("h3", {}, `${letter(r)} ${shortRun(runs[r]!.label)}`), h("ol", { class: "waterfall" }, ...rows.map((row) => {
      const ns = row.ns[r]!, left = lengthOf(before, most), label = report.labels.bars.find((each) => each.id === row.name);
      before += ns;
      return h("li", { "data-bar": row.name, "data-ns": ns }, h("div", { class: "row" }, h("span", { class: "name" }, term(label?.text ?? row.name, label?.meaning ?? "", r === 0)),
        h("span", { class: "track", "aria-hidden": "true" }, ns === 0 ? null : h("span", { class: "fill", style: `left:${left};width:${lengthOf(ns, most)};background:${rowColour(row)}` })),
        h("span", { class: "value" }, ns === 0 ? "\u2013" : time(ns)), h("span", { class: "value share" }, ns === 0 ? "" : share(partOf(ns, runs[r]!.time_ns)))));
    })));
  };
  return section("waterfalls", "Time breakdown by level", "the bars of a run add up to its time; all on one scale", h("div", { class: "side-by-side" }, ...runs.map((_, r) => one(r))));
}

function queuesSection(report: CompareReport): HTMLElement | null {
  const { queues, runs } = report.comparison;
  if (queues.length === 0) return null;
  const rows = queues.flatMap((queue) => [{ name: `${queue.id}: mean depth`, cells: queue.mean_depth.map((depth) => (depth === null ? "no data" : depth.toFixed(1))) }, { name: `${queue.id}: empty`, cells: queue.empty.map((part) => share(part)) },
    { name: `${queue.id}: median wait`, cells: queue.wait_ns.map((wait) => (wait === null ? "no data" : time(wait))) }]);
  return section("queues", "Queue depth", "", table({ caption: "Queues by run", rows, sortBy: "", noun: "rows",
    columns: [{ id: "layer", title: "Queue", cell: (row) => row.name }, ...runs.map((_, r) => ({ id: `run-${r}`, title: letter(r), numeric: true, cell: (row: (typeof rows)[number]) => row.cells[r]! }))] }));
}

/** The verdict, what is not alike, and the rules that were asked for. */
function header(report: CompareReport, tools: HTMLElement[]): HTMLElement {
  const { checks, per, differences } = report.comparison, first = /^.*?(?:\)?\.|\)?:)(?= [A-Z]\w*[ :]| kernels| idle| copies| the rest|$)/s.exec(report.sentences[0] ?? "")?.[0] ?? report.sentences[0] ?? "";
  const rest = (report.sentences[0] ?? "").slice(first.length).trim();
  return h("header", { class: "top" }, h("div", { class: "bar" }, h("span", { class: "brand" }, "gpufathom"), filesLine(`compare: ${report.comparison.runs.map((run, r) => `${letter(r)} ${run.label}`).join(", ")}`), h("span", { class: "spring" }), ...tools),
    h("h1", {}, first.replace(/:$/, ".")), rest ? h("p", { class: "verdict" }, rest) : null, ...report.sentences.slice(1).map((sentence) => h("p", { class: "verdict" }, sentence)), ...report.culprits.map((sentence) => h("p", { class: "verdict culprit" }, sentence)),
    differences.length > 0 ? h("p", { class: "verdict differs" }, report.differs) : null,
    per === "window" ? h("p", { class: "note" }, "Not every run has steps: the times are those of the whole windows and compare only when these contain the same work.") : null,
    checks.length > 0 ? h("ul", { class: "checks" }, ...checks.map((check) => h("li", { class: check.outcome === "ok" ? "passed" : "failed" }, h("strong", {}, check.outcome === "ok" ? "passed" : check.outcome), " ", h("code", {}, check.rule), ` ${check.text}`))) : null);
}

export function comparePage(report: CompareReport, tools: HTMLElement[]): { header: HTMLElement; parts: (HTMLElement | null)[] } {
  const c = report.comparison, most = Math.max(...c.runs.map((run) => run.time_ns), 1);
  const rows = (id: string, title: string, remark: string, of: ComparedTime[], noun: string): HTMLElement | null => (of.length === 0 ? null : section(id, title, remark, timeTable(report, of, title, noun)));
  return { header: header(report, tools), parts: [
    runsSection(report),
    c.time.length === 0 ? null : section("time", c.per === "step" ? "Time breakdown of a step" : "Time breakdown", `every bar adds up to its ${c.per}; all on one scale`, stacks(report, c.time, most), h("h3", {}, "Attribution of the difference"), timeTable(report, c.time, "Attribution of the difference", "parts")),
    rolesSection(report), stripsSection(report), treeSection(report), shapesSection(report), waterfallsSection(report, most), levelsSection(report),
    rows("phases", "Framework runtime phases", "phases add up to the time by the clock", c.phases, "phases"), queuesSection(report),
    rows("layers", "By layer", `${count(c.layers.length)} layers`, c.layers, "layers"), rows("kernels", "By kernel", `${count(c.kernels.length)} kernels`, c.kernels, "kernels")] };
}
