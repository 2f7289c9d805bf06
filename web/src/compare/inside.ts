// Inside the runs: a step of each under the other on one scale, the differential call tree, operators by shape.
import type { ComparedNode, ComparedRole, ComparedShape, ComparedStrip } from "../model.ts";
import { typeColour } from "../parts/colours.ts";
import { h, section, svg } from "../parts/dom.ts";
import { fitted } from "../parts/figure.ts";
import { count, rate, time } from "../parts/format.ts";
import { middleCut, table, type Column } from "../parts/table.ts";
import { hideTip, showTip } from "../parts/tips.ts";
import { changeCell, letter, type CompareReport } from "./page.ts";
import { shortRun } from "./runs.ts";

const LANE = 20, GAP = 4;

/** Steps of all runs from the same left edge, a nanosecond as wide in each; what is chosen moves and widens all of them. */
class Strips {
  private from = 0;
  private zoom = 1;
  private readonly longest: number;
  private readonly redraws: (() => void)[] = [];

  constructor(private readonly report: CompareReport) { this.longest = Math.max(...report.comparison.strips.map((strip) => strip.ns), 1); }

  private picture(strip: ComparedStrip, width: number): SVGElement {
    const seen = this.longest / this.zoom, start = this.from * (this.longest - seen), x = (ns: number): number => ((ns - start) / seen) * width;
    const label = `${letter(strip.run)}: a step of ${time(strip.ns)}, ${strip.lanes.map((lane) => `${lane.name} ${count(lane.events.reduce((sum, n) => sum + n, 0))} events`).join(", ")}`;
    const picture = svg("svg", { class: "strip", width, height: strip.lanes.length * (LANE + GAP), role: "img", "aria-label": label });
    strip.lanes.forEach((lane, row) => {
      const top = row * (LANE + GAP), paths = new Map<string, string>();
      picture.append(svg("rect", { class: "lane", x: Math.max(0, x(0)).toFixed(1), y: top, width: Math.max(0, x(strip.ns) - Math.max(0, x(0))).toFixed(1), height: LANE }));
      lane.start.forEach((at, i) => {
        const left = Math.max(0, x(at)), right = Math.min(width, x(at + lane.length[i]!));
        if (right < 0 || left > width || right <= left - 1) return;
        const type = strip.types[lane.what[i]!]!;
        paths.set(type, `${paths.get(type) ?? ""}M${left.toFixed(1)} ${top}h${Math.max(0.4, right - left).toFixed(1)}v${LANE}H${left.toFixed(1)}z`);
      });
      for (const [type, d] of paths) picture.append(svg("path", { d, style: `fill:${typeColour(type)}` }));
    });
    picture.addEventListener("pointermove", (event) => this.tell(strip, event, start + ((event.clientX - picture.getBoundingClientRect().left) / width) * seen, seen / width));
    picture.addEventListener("pointerleave", () => hideTip("strip"));
    return picture;
  }

  private tell(strip: ComparedStrip, event: PointerEvent, at: number, pixel: number): void {
    const box = (event.currentTarget as Element).getBoundingClientRect(), lane = strip.lanes[Math.floor((event.clientY - box.top) / (LANE + GAP))];
    const later = lane?.start.findIndex((start) => start > at + 2 * pixel) ?? 0, i = later < 0 ? (lane?.start.length ?? 0) - 1 : later - 1;
    if (!lane || i < 0 || lane.start[i]! + lane.length[i]! < at - 2 * pixel) return hideTip("strip");
    const more = lane.events[i]! - 1;
    showTip("strip", event.clientX, event.clientY, `${strip.names[lane.what[i]!]!}${more > 0 ? ` and ${count(more)} more` : ""}: ${time(lane.length[i]!)} at ${time(lane.start[i]!)}`);
  }

  element(): HTMLElement {
    const { strips, runs } = this.report.comparison, types = [...new Set(strips.flatMap((strip) => strip.types))].sort();
    const boxes = strips.map((strip) => {
      const box = h("div", {});
      const draw = (): void => box.replaceChildren(fitted((width) => this.picture(strip, width)));
      this.redraws.push(draw);
      draw();
      return h("div", { "data-strip": strip.run, "data-ns": strip.ns }, h("h3", {}, `${letter(strip.run)} ${shortRun(runs[strip.run]!.label)}: ${time(strip.ns)}`), box);
    });
    const redraw = (): void => this.redraws.forEach((draw) => draw());
    return h("div", {}, h("div", { class: "tools" },
      h("label", {}, "Zoom ", h("select", { change: (event: Event) => { this.zoom = Number((event.target as HTMLSelectElement).value); redraw(); } }, ...[1, 2, 4, 8, 16].map((zoom) => h("option", { value: zoom }, `${zoom}\u00d7`)))),
      h("label", {}, "Place ", h("input", { type: "range", min: 0, max: 1000, value: 0, input: (event: Event) => { this.from = Number((event.target as HTMLInputElement).value) / 1000; redraw(); } }))),
      ...boxes, h("ul", { class: "legend" }, ...types.map((type) => h("li", {}, h("span", { class: "swatch", style: `background:${typeColour(type)}` }), type))));
  }
}

export function stripsSection(report: CompareReport): HTMLElement | null {
  const { strips, per } = report.comparison;
  return strips.length === 0 ? null : section("strips", "Timelines", `the ${per} of median length of each run, from one left edge and on one scale`, new Strips(report).element());
}

/** Rows of a tree that open and close; what changed most is open. */
export function treeSection(report: CompareReport): HTMLElement | null {
  const { tree, runs } = report.comparison;
  if (tree.length < 3) return null;
  const below = new Map<number, ComparedNode[]>(), most = Math.max(...tree.slice(1).flatMap((node) => node.change_ns.map(Math.abs)), 1);
  for (const node of tree) if (node.parent !== null) below.set(node.parent, [...(below.get(node.parent) ?? []), node]);
  const name = (node: ComparedNode): string => (node.kind === "idle" ? `idle, ${report.labels.causes.find((cause) => cause.id === node.name)?.text ?? node.name}` : node.name);
  const line = (node: ComparedNode): HTMLElement => h("span", { class: "tree-line", "data-node": node.id }, h("span", { class: "tree-name", title: name(node) }, name(node)), ...runs.slice(1).map((_, r) => h("span", { class: "tree-change" }, h("span", { class: "dim" }, `${time(node.ns[0]!)} \u2192 ${time(node.ns[r + 1]!)}`), changeCell(node.change_ns[r + 1]!, most))));
  const item = (node: ComparedNode): HTMLElement => {
    const inner = below.get(node.id) ?? [], open = node.depth < 2 || Math.max(...node.change_ns.map(Math.abs)) * 4 > most;
    return h("li", {}, inner.length === 0 ? line(node) : h("details", { open }, h("summary", {}, line(node)), h("ul", {}, ...inner.map(item))));
  };
  return section("tree", "Call tree", "device time by phase, module and operator, down to kernels and idle causes; all parts add up, the largest change first", h("ul", { class: "tree" }, item(tree[0]!)));
}

/** "new" and "gone" are said of what is computed, never of a name. */
function state(row: ComparedRole, r: number): string {
  if (row.calls[0] === 0 && row.calls[r]! > 0) return "new";
  return row.calls[r] === 0 && row.calls[0]! > 0 ? "gone" : "";
}

/** Kernel time by what is computed, whatever the operators and kernels are called. */
export function rolesSection(report: CompareReport): HTMLElement | null {
  const { roles, runs } = report.comparison;
  if (roles.length === 0) return null;
  const most = Math.max(...roles.flatMap((row) => row.change_ns.map(Math.abs)), 1);
  const under = (row: ComparedRole, r: number): string => (r > 0 && state(row, r)) || (row.calls[r]! > 0 ? `${Number(row.calls[r]!.toPrecision(4))} kernels` : "");
  const columns: Column<ComparedRole>[] = [
    { id: "role", title: "Role", key: (row) => row.role, cell: (row) => h("span", {}, row.role, h("span", { class: "range" }, row.phase === "all" ? "" : row.phase)) },
    { id: "kernel", title: "Kernel with most of it", key: (row) => row.kernels.join(" "), cell: (row) => h("span", {}, ...[...new Set(row.kernels)].map((kernel) => h("span", { class: "range", title: kernel }, middleCut(kernel)))) },
    ...runs.map((_, r): Column<ComparedRole> => ({ id: `run-${r}`, title: letter(r), numeric: true, key: (row) => row.ns[r]!, cell: (row) => h("span", {}, row.ns[r] === 0 ? "\u2013" : time(row.ns[r]!), h("span", { class: "range" }, under(row, r))) })),
    ...runs.slice(1).map((_, r): Column<ComparedRole> => ({ id: `change-${r + 1}`, title: `${letter(r + 1)} \u2212 A`, numeric: true, key: (row) => Math.abs(row.change_ns[r + 1]!), cell: (row) => changeCell(row.change_ns[r + 1]!, most) })),
  ];
  return section("roles", "Kernels by role", "what is computed, in which phase; another name for it is the same role", table({ caption: "Kernel time by role, by run", columns, rows: roles, sortBy: "change-1", noun: "rows", step: 12 }));
}

export function shapesSection(report: CompareReport): HTMLElement | null {
  const { shapes, runs } = report.comparison;
  if (shapes.every((row) => row.shapes === "")) return null;
  const most = Math.max(...shapes.flatMap((row) => row.change_ns.map(Math.abs)), 1);
  const rates = (row: ComparedShape, r: number): string | HTMLElement => {
    const flops = row.flops_per_s[r], bytes = row.bytes_per_s[r];
    if ((flops ?? null) === null && (bytes ?? null) === null) return "\u2013";
    return h("span", {}, flops ? rate(flops, "FLOP/s") : "\u2013", h("span", { class: "range" }, bytes ? rate(bytes, "B/s") : ""));
  };
  const columns: Column<ComparedShape>[] = [
    { id: "operator", title: "Operator", key: (row) => row.name, cell: (row) => h("span", {}, row.name.replace(/^aten::/, ""), h("span", { class: "range" }, [row.phase === "all" ? "" : row.phase, row.module].filter((part) => part !== "").join(" \u00b7 "))) },
    { id: "shapes", title: "Inputs", key: (row) => row.shapes, cell: (row) => h("details", { class: "inputs" }, h("summary", {}, row.shapes || "kernels"), row.python ? h("p", {}, h("span", { class: "dim" }, "from "), row.python) : null, ...runs.map((_, r) => (row.kernels[r] ? h("p", {}, h("span", { class: "dim" }, `${letter(r)} `), `${row.types[r] ? `${row.types[r]}; ` : ""}${row.kernels[r]}`) : null))) },
    ...runs.map((_, r): Column<ComparedShape> => ({ id: `run-${r}`, title: letter(r), numeric: true, key: (row) => row.ns[r]!, cell: (row) => h("span", {}, row.ns[r] === 0 ? "\u2013" : time(row.ns[r]!), h("span", { class: "range" }, row.calls[r]! > 0 ? `${Number(row.calls[r]!.toPrecision(4))} calls` : "")) })),
    ...runs.map((_, r): Column<ComparedShape> => ({ id: `rate-${r}`, title: `Rate ${letter(r)}`, numeric: true, meaning: "Operations and bytes a second of the median call.", key: (row) => row.flops_per_s[r] ?? null, cell: (row) => rates(row, r) })),
    ...runs.slice(1).map((_, r): Column<ComparedShape> => ({ id: `change-${r + 1}`, title: `${letter(r + 1)} \u2212 A`, numeric: true, key: (row) => Math.abs(row.change_ns[r + 1]!), cell: (row) => changeCell(row.change_ns[r + 1]!, most) })),
  ];
  return section("shapes", "By shape", "kernel time of operators with the same inputs, the largest change first", table({ caption: "Operators by shape, by run", columns, rows: shapes, sortBy: "change-1", noun: "rows", step: 12, search: (row) => `${row.name} ${row.shapes} ${row.phase} ${row.module} ${row.python} ${row.kernels.join(" ")}` }));
}
