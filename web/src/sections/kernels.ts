// Kernels: sort, search, durations and levels.
import type { KernelRow } from "../model.ts";
import type { Report } from "../page_data.ts";
import { h, section } from "../parts/dom.ts";
import { count, plural, time } from "../parts/format.ts";
import { spreadPicture } from "../parts/spread.ts";
import { middleCut, table, type Column } from "../parts/table.ts";
import { exactly } from "../timeline/filter.ts";
import { levelColumns, shareColumn, spreadText, typeMark } from "./layers.ts";

export function kernelsSection(report: Report): HTMLElement | null {
  const rows = report.analysis.kernels;
  if (rows.length === 0) return null;
  const columns: Column<KernelRow>[] = [
    { id: "kernel", title: "Kernel", key: (k) => k.short_name || k.name, cell: (k) => h("span", { "data-tip": `${k.name} \u2014 grid ${k.grid}, block ${k.block}${k.registers >= 0 ? `, ${k.registers} registers` : ""}` , tabindex: 0 }, middleCut(k.short_name || k.name)) },
    { id: "type", title: "Type", key: (k) => k.layer_type, cell: (k) => typeMark(k.layer_type) },
    { id: "operator", title: "Operator", key: (k) => k.operator, cell: (k) => k.operator || h("span", { class: "dim" }, "no data") },
    { id: "count", title: "Count", numeric: true, key: (k) => k.count, cell: (k) => count(k.count) },
    { id: "ns", title: "Time", numeric: true, meaning: "Exclusive kernel time: instants that kernels share are split evenly, so that the rows add up.", key: (k) => k.ns, cell: (k) => time(k.ns) },
    shareColumn(rows, report),
    { id: "median", title: "Duration", numeric: true, meaning: "Median duration of an instance; each picture spans 0 to the longest instance of its kernel.", key: (k) => k.duration.median,
      cell: (k) => h("span", { class: "level" }, time(k.duration.median), spreadPicture(k.duration, k.duration.max, spreadText(k.duration, time))) },
    ...levelColumns(rows, report),
  ];
  return section("kernels", "By kernel", plural(rows.length, "kernel"),
    table({ caption: "Kernel time by kernel", columns, rows, sortBy: "ns", noun: "kernels", ...(report.hasTimeline ? { events: (k: KernelRow) => exactly("kernel", k.name) } : {}), search: (k) => `${k.name} ${k.short_name} ${k.operator} ${k.layer_type}` }));
}
