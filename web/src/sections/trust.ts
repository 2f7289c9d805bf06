// Evidence behind the answer: how trace and counters were matched, damage in the data, and the words used.
import type { Report } from "../page_data.ts";
import { h, section } from "../parts/dom.ts";
import { bytes, count, lengthOf, partOf, plural, share } from "../parts/format.ts";

export function matchSection(report: Report): HTMLElement | null {
  const a = report.analysis, m = a.match;
  if (!a.counters_source && m.report_kernels === 0) return null;
  const whole = m.matched + m.ambiguous + m.trace_only;
  const parts = [["matched", m.matched], ["ambiguous", m.ambiguous], ["trace-only", m.trace_only]] as const;
  const numbers: [string, string][] = [["kernels in the trace", count(m.trace_kernels)], ["kernels in the report", count(m.report_kernels)], ["matched", `${count(m.matched)} (${share(partOf(m.matched, whole))})`],
    ["ambiguous", count(m.ambiguous)], ["only in the trace", count(m.trace_only)], ["only in the report", count(m.report_only)],
    ["mean score", m.confidence === null ? "no data" : m.confidence.toFixed(3)], ["steps the report was applied to", count(m.copies_of_report)]];
  return section("match", "Counters matched to the trace", m.verdict.replaceAll("_", " "),
    h("div", { class: "stack", "aria-hidden": "true" }, ...parts.map(([id, n]) => h("span", { class: `match-${id}`, style: `width:${lengthOf(n, whole)}` }))),
    h("dl", { class: "numbers" }, ...numbers.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))), m.note ? h("p", { class: "note" }, m.note) : null);
}

export function qualitySection(report: Report): HTMLElement {
  const a = report.analysis;
  return section("quality", "Data quality", `${plural(a.source.events, "event")}, ${bytes(a.source.bytes)}, read as ${a.source.format}`,
    a.quality.length === 0 ? h("p", {}, "No problems found.") :
      h("ul", { class: "quality" }, ...a.quality.map((q) => h("li", {}, h("span", { class: "number" }, count(q.count)), h("code", {}, q.code), h("span", {}, q.detail)))));
}

export function definitionsSection(report: Report): HTMLElement {
  const list = (title: string, labels: { id: string; text: string; meaning: string }[]) => h("div", {}, h("h3", {}, title),
    h("dl", { class: "words" }, ...labels.filter((l) => l.meaning).flatMap((l) => [h("dt", {}, l.text, l.text === l.id ? null : " ", l.text === l.id ? null : h("code", {}, l.id)), h("dd", {}, l.meaning)])));
  const samples = report.analysis.samples, read = new Set([...samples.devices.flatMap((d) => d.readings), ...samples.host].map((r) => r.id));
  const readings = report.labels.readings.filter((l) => read.has(l.id) && !report.labels.levels.some((level) => level.id === l.id));
  return section("definitions", "Definitions", "", h("details", {}, h("summary", {}, `Levels, bars of the waterfall, causes of idle time, phases of the runtime${readings.length > 0 ? ", readings" : ""}`),
    h("div", { class: "columns" }, list("Levels", report.labels.levels), list("Waterfall", report.labels.bars), list("Idle causes", report.labels.causes), list("Runtime phases", report.labels.phases),
      readings.length > 0 ? list("Readings", readings) : null)));
}
