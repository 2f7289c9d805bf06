// Kernel time by layer type and by layer, with the distribution of a level over the kernels of each.
import type { Distribution, LayerRow, LevelSpread } from "../model.ts";
import type { Report } from "../page_data.ts";
import { typeColour } from "../parts/colours.ts";
import { h, section } from "../parts/dom.ts";
import { count, lengthOf, share, time } from "../parts/format.ts";
import { spreadPicture } from "../parts/spread.ts";
import { commonPath, rolled } from "../parts/roll.ts";
import { middleCut, table, type Column } from "../parts/table.ts";
import { exactly } from "../timeline/filter.ts";

export function spreadText(d: Distribution, show: (value: number) => string): string {
  return `median ${show(d.median)}, quartiles ${show(d.p25)} to ${show(d.p75)}, 5th to 95th percentile ${show(d.p5)} to ${show(d.p95)}, ${d.count} kernels`;
}

export function levelOf(levels: LevelSpread[], id: string): LevelSpread | null {
  return levels.find((l) => l.id === id && l.value !== null) ?? null;
}

/** Levels that at least one row has data for, in the order of the ladder. */
export function levelsIn(rows: { levels: LevelSpread[] }[], report: Report): string[] {
  const known = new Set(rows.flatMap((r) => r.levels.filter((l) => l.value !== null).map((l) => l.id)));
  const order = report.labels.levels.map((l) => l.id);
  return [...known].sort((a, b) => (order.indexOf(a) + 1 || 99) - (order.indexOf(b) + 1 || 99));
}

/** A column a level: mean over time, and the picture of its distribution. */
export function levelColumns<Row extends { levels: LevelSpread[] }>(rows: Row[], report: Report): Column<Row>[] {
  return levelsIn(rows, report).filter((id) => report.analysis.levels.some((l) => l.id === id && l.unit === "ratio") || id.startsWith("tensor")).map((id) => {
    const label = report.labels.levels.find((l) => l.id === id);
    const max = Math.max(...rows.map((r) => levelOf(r.levels, id)?.spread.max ?? 0));
    return {
      id, title: label?.short_text ?? id, meaning: `${label?.meaning ?? ""} Mean weighted by time; the picture spans 0 to ${share(max)}.`, numeric: true,
      key: (row: Row) => levelOf(row.levels, id)?.value ?? null,
      cell: (row: Row) => {
        const l = levelOf(row.levels, id);
        if (!l) return h("span", { class: "dim" }, "no data");
        if (l.spread.count === 0) return h("span", { class: "level" }, share(l.value));
        return h("span", { class: "level" }, share(l.value), spreadPicture(l.spread, max, spreadText(l.spread, share)));
      },
    };
  });
}

/** Shares as numbers; with bars where no levels need the room. */
export function shareColumn<Row extends { share: number | null; levels: LevelSpread[] }>(rows: Row[], report: Report, most = Math.max(...rows.map((row) => row.share ?? 0), 0)): Column<Row> {
  const bars = most > 0 && levelColumns(rows, report).length === 0;
  return { id: "share", title: "Share", numeric: true, key: (row) => row.share, cell: (row) => (bars ? h("span", { class: "level" }, h("span", { class: "share-bar", "aria-hidden": "true" }, h("span", { style: `width:${lengthOf(row.share ?? 0, most)}` })), h("span", { class: "share-number" }, share(row.share))) : share(row.share)) };
}

export function typeMark(type: string): HTMLElement {
  return h("span", { class: "mark" }, h("span", { class: "swatch", style: `background:${typeColour(type)}` }), type || "Other");
}

/** Equal blocks as one row: times add up, levels are means over time; the picture of a distribution belongs to single rows. */
function mergedLayers(rows: LayerRow[]): LayerRow {
  const sum = (of: (row: LayerRow) => number): number => rows.reduce((total, row) => total + of(row), 0), first = rows[0]!;
  const levels = [...new Set(rows.flatMap((row) => row.levels.map((l) => l.id)))].map((id): LevelSpread => {
    const known = rows.map((row) => [row.ns, levelOf(row.levels, id)] as const).filter(([, l]) => l !== null), time = known.reduce((total, [ns]) => total + ns, 0);
    const value = time > 0 ? known.reduce((total, [ns, l]) => total + ns * l!.value!, 0) / time : null;
    return { id, value, spread: { ...first.levels[0]!.spread, count: 0, shape: [] } };
  });
  return { ...first, name: commonPath(rows.map((row) => row.name)), kernels: sum((row) => row.kernels), ns: sum((row) => row.ns), share: first.share === null ? null : sum((row) => row.share ?? 0), levels };
}

/** The largest share that a row may have, equal blocks together. */
function mostTogether(rows: LayerRow[]): number {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(together(row), (sums.get(together(row)) ?? 0) + (row.share ?? 0));
  return Math.max(...sums.values(), 0);
}

const together = (l: LayerRow): string => `${rolled(l.name)}/${l.type}/${l.phase}`;

function layerTable(rows: LayerRow[], report: Report, named: boolean): HTMLElement {
  const columns: Column<LayerRow>[] = [
    ...(named ? [{ id: "layer", title: "Layer", key: (l: LayerRow) => l.name, cell: (l: LayerRow) => middleCut(l.name || "(unknown)") }] : []),
    { id: "type", title: "Type", key: (l) => l.type, cell: (l) => typeMark(l.type) },
    ...(named ? [{ id: "phase", title: "Phase", key: (l: LayerRow) => l.phase, cell: (l: LayerRow) => l.phase }] : []),
    { id: "kernels", title: "Kernels", numeric: true, key: (l) => l.kernels, cell: (l) => count(l.kernels) },
    { id: "ns", title: "Time", meaning: "Exclusive kernel time: instants that kernels share are split evenly, so that the rows add up.", numeric: true, key: (l) => l.ns, cell: (l) => time(l.ns) },
    shareColumn(rows, report, named ? mostTogether(rows) : undefined),
    ...levelColumns(rows, report),
  ];
  return table({ caption: named ? "Kernel time by layer" : "Kernel time by layer type", columns, rows, sortBy: "ns", noun: named ? "layers" : "layer types",
    ...(report.hasTimeline ? { events: (l: LayerRow) => (named ? exactly("layer", l.name, l.type, l.phase) : exactly("type", l.type)) } : {}),
    ...(named ? { together: { key: together, merge: mergedLayers } } : {}),
    ...(named ? { search: (l: LayerRow) => `${l.name} ${l.type} ${l.phase}` } : {}) });
}

export function layersSection(report: Report): HTMLElement | null {
  const a = report.analysis;
  if (a.layer_types.length === 0 && a.layers.length === 0) return null;
  return section("layers", "By layer", levelsIn(a.layer_types, report).length > 0 ? "pictures: shape, quartiles, median, 5th to 95th percentile over kernels, weighted by time" : "share of the window",
    a.layer_types.length > 0 ? layerTable(a.layer_types, report, false) : null, a.layers.length > 0 ? layerTable(a.layers, report, true) : null);
}
