// Each level over all kernels of the series that have counters: a histogram a series, weighted by time.
import type { Distribution } from "../model.ts";
import { h, svg, term } from "../parts/dom.ts";
import { fitted } from "../parts/figure.ts";
import { count, share } from "../parts/format.ts";
import { labelIn, type Drawn, type SweepReport } from "./charts.ts";

const ROW = 46, TOP = 4, BOTTOM = 20, RIGHT = 22;

function histogram(spread: Distribution, x: (value: number) => number, floor: number, colour: string): SVGElement[] {
  const shape = spread.shape.length > 0 ? spread.shape.map((part) => part ?? 0) : [1], highest = Math.max(...shape), step = (spread.max - spread.min) / shape.length;
  return shape.flatMap((part, i) => {
    if (part <= 0) return [];
    const left = spread.min + step * i, tall = Math.max(1, (part / highest) * (ROW - 22));
    return [svg("rect", { x: x(left).toFixed(1), y: (floor - tall).toFixed(1), width: Math.max(2, x(left + step) - x(left) - 1).toFixed(1), height: tall.toFixed(1), style: `fill:${colour}` }, svg("title", {}, `${share(part)} of kernel time from ${share(left)}`))];
  });
}

function picture(title: string, rows: { name: string; colour: string; spread: Distribution }[], width: number): SVGElement {
  const height = TOP + rows.length * ROW + BOTTOM, x = (value: number): number => 4 + value * (width - 4 - RIGHT);
  const drawn = svg("svg", { class: "curve spreads", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${rows.map((row) => `${row.name} median ${share(row.spread.median)}`).join(", ")}` });
  for (const value of [0, 0.25, 0.5, 0.75, 1]) drawn.append(svg("line", { class: "grid", x1: x(value), x2: x(value), y1: TOP, y2: height - BOTTOM }), svg("text", { x: x(value), y: height - 5, "text-anchor": value === 0 ? "start" : "middle" }, `${value * 100} %`));
  rows.forEach(({ name, colour, spread }, i) => {
    const floor = TOP + (i + 1) * ROW - 2;
    drawn.append(svg("line", { class: "grid", x1: x(0), x2: x(1), y1: floor, y2: floor }), ...histogram(spread, x, floor, colour), svg("line", { class: "median", x1: x(spread.median), x2: x(spread.median), y1: floor - ROW + 22, y2: floor + 2 }),
      svg("text", { x: x(1), y: floor - ROW + 13, "text-anchor": "end" }, `${name}, median ${share(spread.median)}`));
  });
  return drawn;
}

export function spreadCharts(report: SweepReport, all: Drawn[]): HTMLElement | null {
  const counted = all.flatMap(({ name, colour, runs }) => {
    const having = runs.filter((run) => run.spreads.length > 0);
    return having.map((run) => ({ name: having.length > 1 && run.batch !== null ? `${name}, batch ${count(run.batch)}` : name, colour, spreads: run.spreads.filter((level) => level.spread.count > 0) }));
  });
  // A value above 1 is a reading, not a share.
  const ids = [...new Set(counted.flatMap(({ spreads }) => spreads.filter((level) => level.spread.max <= 1.0001).map((level) => level.id)))];
  if (ids.length === 0) return null;
  const order = report.labels.levels.map((each) => each.id), rows = (id: string) => counted.flatMap(({ name, colour, spreads }) => spreads.filter((level) => level.id === id).map(({ spread }) => ({ name, colour, spread })));
  return h("div", {}, h("h3", {}, "Each level over all kernels, by their time"), h("div", { class: "plots" }, ...ids.sort((a, b) => (order.indexOf(a) + 1 || 99) - (order.indexOf(b) + 1 || 99)).map((id) => {
    const label = labelIn(report, id);
    return h("div", { class: "sweep-plot", "data-level": id }, h("h3", { class: "minor" }, term(label.text, label.meaning)), fitted((width) => picture(label.text, rows(id), width), 460));
  })));
}
