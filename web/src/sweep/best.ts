// All levels at the fastest batch of each series: how far down the ladder the GPU's work reaches.
import { h, svg } from "../parts/dom.ts";
import { fitted } from "../parts/figure.ts";
import { count, share } from "../parts/format.ts";
import { labelIn, levelIn, type Drawn, type SweepReport } from "./charts.ts";

const LEVELS = ["gpu.busy", "sm.active", "issue.active", "tensor.active", "tensor.issue"];
const BAR = 13, HEAD = 18, GAP = 8, BOTTOM = 20, NAMES = 70, RIGHT = 48;

interface Best { name: string; colour: string; levels: { text: string; value: number }[] }

/** The fastest run of a series whose levels are known, without those that nothing measured. */
function bestOf(report: SweepReport, { name, colour, runs }: Drawn): Best[] {
  const known = runs.filter((run) => run.throughput !== null && levelIn(run, "gpu.busy") !== null);
  const run = known.sort((a, b) => b.throughput! - a.throughput!)[0];
  if (!run) return [];
  const levels = LEVELS.flatMap((id) => { const value = levelIn(run, id); return value === null ? [] : [{ text: labelIn(report, id).short_text, value }]; });
  return [{ name: run.batch === null ? name : `${name}, batch ${count(run.batch)}`, colour, levels }];
}

function picture(id: string, title: string, all: Best[], width: number): SVGElement {
  const height = all.reduce((sum, each) => sum + HEAD + each.levels.length * BAR + GAP, BOTTOM), x = (value: number): number => NAMES + value * (width - NAMES - RIGHT);
  const drawn = svg("svg", { id, class: "curve best", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}, ${all.map((each) => `${each.name}: ${each.levels.map((level) => `${level.text} ${share(level.value)}`).join(" ")}`).join("; ")}` });
  for (const value of [0, 0.25, 0.5, 0.75, 1]) drawn.append(svg("line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: height - BOTTOM }), svg("text", { x: x(value), y: height - 5, "text-anchor": "middle" }, `${value * 100} %`));
  let y = 0;
  for (const { name, colour, levels } of all) {
    drawn.append(svg("text", { x: x(0), y: y + HEAD - 5 }, name));
    y += HEAD;
    for (const { text, value } of levels) {
      drawn.append(svg("text", { x: NAMES - 6, y: y + BAR - 3, "text-anchor": "end" }, text),
        svg("rect", { x: x(0).toFixed(1), y, width: Math.max(1, x(Math.min(value, 1)) - x(0)).toFixed(1), height: BAR - 2, style: `fill:${colour}` }),
        svg("text", { x: (x(Math.min(value, 1)) + 4).toFixed(1), y: y + BAR - 3 }, share(value)));
      y += BAR;
    }
    y += GAP;
  }
  return drawn;
}

export function bestChart(report: SweepReport, model: string, all: Drawn[]): HTMLElement | null {
  const best = all.flatMap((each) => bestOf(report, each));
  return best.length === 0 ? null : h("div", {}, h("h3", {}, "All levels at the fastest batch"), fitted((width) => picture(`best_${model.replaceAll(/[^\w]/g, "_")}`, `${model}: all levels at the fastest batch`, best, width), 460));
}
