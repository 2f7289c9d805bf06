// Every reading of the samples in numbers, with its course.
import type { SampledReading } from "../model.ts";
import type { Report } from "../page_data.ts";
import { h, section, term } from "../parts/dom.ts";
import { plural, reading } from "../parts/format.ts";
import { sparkPicture } from "../parts/spark.ts";
import { table, type Column } from "../parts/table.ts";
import { labelOf } from "../samples/charts.ts";

interface Row { device: string; order: number; r: SampledReading }

export function readingsSection(report: Report): HTMLElement | null {
  const s = report.analysis.samples;
  if (s.devices.length === 0) return null;
  const rows: Row[] = [...s.devices.map((d) => ({ device: `GPU ${d.id}`, readings: d.readings })), { device: "host", readings: s.host }]
    .flatMap(({ device, readings }) => readings.filter((r) => r.mean !== null).map((r) => ({ device, r }))).map((row, order) => ({ ...row, order }));
  const label = (r: SampledReading) => labelOf(report, r.id), unitOfTotal = (r: SampledReading) => r.unit.replace(/\/s$/, "");
  const columns: Column<Row>[] = [
    { id: "reading", title: "Reading", key: ({ r }) => label(r).text, cell: ({ r }) => h("span", {}, term(label(r).text, label(r).meaning), label(r).text === r.id ? null : h("code", {}, ` ${r.id}`)) },
    ...(s.devices.length > 1 ? [{ id: "device", title: "Device", key: (row: Row) => row.device, cell: (row: Row) => row.device }] : []),
    { id: "mean", title: "Mean", meaning: "Weighted by time, over the time that has data; of counts the rate.", numeric: true, key: ({ r }) => r.mean, cell: ({ r }) => reading(r.mean, r.unit) },
    { id: "low", title: "Lowest", meaning: "The lowest single sample.", numeric: true, key: ({ r }) => r.low, cell: ({ r }) => reading(r.low, r.unit) },
    { id: "high", title: "Highest", meaning: "The highest single sample.", numeric: true, key: ({ r }) => r.high, cell: ({ r }) => reading(r.high, r.unit) },
    ...(rows.some(({ r }) => r.total !== null) ? [{ id: "total", title: "Total", meaning: "Of counts: the sum over the window.", numeric: true, key: ({ r }: Row) => r.total, cell: ({ r }: Row) => (r.total === null ? "" : reading(r.total, unitOfTotal(r))) }] : []),
    { id: "course", title: "Over time", cell: ({ r }) => sparkPicture(r.values, `${label(r).text} over time, from 0 to ${reading(Math.max(0, ...r.values.map((v) => v ?? 0)), r.unit)}`) },
  ];
  return section("readings", "Readings", plural(rows.length, "reading"),
    table({ caption: "Readings of sensors and counters", columns, rows, sortBy: "", noun: "readings", step: 40, search: s.devices.length > 1 ? ({ device, r }) => `${device} ${label(r).text} ${r.id}` : undefined }));
}
