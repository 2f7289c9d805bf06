// What the framework runtime does: phases, queues over time, phases by operation, and why the GPU idled.
import type { PhaseTime, Queue, Report, Runtime } from "../model.ts";
import { h, section, svg } from "../parts/dom.ts";
import { count, share, time } from "../parts/format.ts";
import { spreadPicture } from "../parts/spread.ts";
import { table } from "../parts/table.ts";

function phaseList(phases: PhaseTime[]): HTMLElement {
  return h("ol", { class: "ladder" }, ...phases.filter((p) => p.present_ns > 0).map((p) =>
    h("li", {}, h("span", { class: "name" }, p.phase), h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "fill", style: `width:${Math.min((p.share ?? 0) * 100, 100)}%` })),
      h("span", { class: "value" }, `${time(p.ns)}, ${share(p.share)}${p.per_item_ns === null ? "" : `, ${time(p.per_item_ns)} an item`}`))));
}

function kernelsLine(r: Runtime): HTMLElement {
  const k = r.kernels;
  const item = k.overhead_per_item_ns === null ? "" : ` (${time(k.overhead_per_item_ns)} an item)`;
  return h("p", {}, `Kernels: CPU alone ${share(k.cpu_kernel)}, GPU alone ${share(k.gpu_kernel)}, both ${share(k.both)}; no kernel ${share(k.overhead)}${item}.`);
}

/** Depth over the window: the range of each part as a band and its mean as a line; transfers as ticks under it. */
function depthPicture(q: Queue, r: Runtime): SVGElement {
  const width = 900, height = 90, floor = 70, top = Math.max(q.max_depth, 1);
  const x = (ns: number): number => ((ns - r.start_ns) / r.duration_ns) * width;
  const y = (depth: number): number => floor - (depth / top) * (floor - 6);
  const text = `Depth of the ${q.id} queue over the window: mean ${q.mean_depth.toFixed(2)}, at most ${q.max_depth}, empty ${share(q.empty)} of the time`;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": text, style: "color:var(--text,currentColor)" }, svg("title", {}, text));
  for (const b of q.curve)
    picture.append(svg("rect", { x: x(b.start_ns).toFixed(2), y: y(b.max).toFixed(2), width: Math.max(x(b.start_ns + b.duration_ns) - x(b.start_ns), 0.3).toFixed(2), height: Math.max(y(b.min) - y(b.max), 0.6).toFixed(2), fill: "currentColor", opacity: 0.25 }));
  picture.append(svg("polyline", { points: q.curve.map((b) => `${x(b.start_ns + b.duration_ns / 2).toFixed(2)},${y(b.mean).toFixed(2)}`).join(" "), fill: "none", stroke: "currentColor", "stroke-width": 1 }),
    svg("line", { x1: 0, x2: width, y1: floor, y2: floor, stroke: "currentColor", opacity: 0.4 }));
  for (const t of [...r.transfers, ...r.waits])
    picture.append(svg("rect", { x: x(t.start_ns).toFixed(2), y: t.kind === "wait" ? 80 : 72, width: Math.max((t.duration_ns / r.duration_ns) * width, 1).toFixed(2), height: 6, fill: "currentColor", opacity: t.kind === "wait" ? 0.45 : 0.8 },
      svg("title", {}, `${t.kind}: ${t.name}, ${time(t.duration_ns)}`)));
  return picture;
}

function queueBlock(q: Queue, r: Runtime): HTMLElement {
  const most = (phases: PhaseTime[]): string => phases.filter((p) => (p.share ?? 0) >= 0.005).sort((a, b) => b.ns - a.ns).slice(0, 4).map((p) => `${p.phase} ${share(p.share)}`).join(", ") || "nothing";
  return h("div", {}, h("h3", {}, q.kind === "device" ? `Launch queue of device ${q.id.split(":")[1]}` : `Queue of the framework: ${q.id}`), depthPicture(q, r),
    h("p", { class: "note" }, `${count(q.items)} items, mean depth ${q.mean_depth.toFixed(2)}, at most ${q.max_depth}, empty ${share(q.empty)} of the time. Median wait ${q.wait.count ? time(q.wait.median) : "no data"}. Under the line: transfers (upper) and waits of the host (lower), the longest of each.`),
    h("p", {}, `When empty: ${most(q.when_empty)}. When loaded: ${most(q.when_loaded)}.`),
    q.dry.length === 0 ? null : h("details", {}, h("summary", {}, `Why it ran dry: the ${q.dry.length} longest stretches`),
      h("ul", {}, ...q.dry.map((d) => h("li", {}, `${time(d.duration_ns)} from ${time(d.start_ns - r.start_ns)} on: ${most(d.phases)}${d.host ? `; the thread that fills it was in ${d.host}` : ""}`)))));
}

function operations(r: Runtime): HTMLElement | null {
  const rows = r.operations.flatMap((o, i) => o.phases.map((p) => ({ type: i === 0 ? "all operations" : o.type, count: o.count, ...p })));
  if (rows.length === 0) return null;
  const longest = Math.max(...rows.map((x) => x.spread.p95));
  return table({
    caption: "Phases by type of operation", noun: "row", rows, sortBy: "total", step: 12, search: (x) => `${x.type} ${x.phase}`,
    columns: [
      { id: "type", title: "Operation", cell: (x) => x.type, key: (x) => x.type },
      { id: "phase", title: "Phase", cell: (x) => x.phase, key: (x) => x.phase },
      { id: "count", title: "Operations", numeric: true, cell: (x) => count(x.spread.count), key: (x) => x.spread.count },
      { id: "total", title: "Time", numeric: true, cell: (x) => time(x.total_ns), key: (x) => x.total_ns },
      { id: "median", title: "Median", numeric: true, cell: (x) => time(x.spread.median), key: (x) => x.spread.median },
      { id: "p95", title: "95 %", numeric: true, cell: (x) => time(x.spread.p95), key: (x) => x.spread.p95 },
      { id: "shape", title: "Shape", cell: (x) => spreadPicture(x.spread, longest, `${x.type}, ${x.phase}: ${time(x.spread.min)} to ${time(x.spread.max)}, median ${time(x.spread.median)}`) },
    ],
  });
}

function origins(report: Report): HTMLElement | null {
  const rows = report.analysis.runtime.idle;
  if (rows.length === 0) return null;
  return table({
    caption: "Why the GPU idled", noun: "reason", rows, sortBy: "time", step: 10, search: (o) => `${o.cause} ${o.phase} ${o.operation} ${o.module} ${o.python}`,
    columns: [
      { id: "cause", title: "Cause", cell: (o) => report.labels.causes.find((l) => l.id === o.cause)?.text ?? o.cause, key: (o) => o.cause },
      { id: "phase", title: "Phase", cell: (o) => o.phase, key: (o) => o.phase },
      { id: "operation", title: "Operation", cell: (o) => o.operation || "\u2013", key: (o) => o.operation },
      { id: "module", title: "Module", cell: (o) => o.module || "\u2013", key: (o) => o.module },
      { id: "python", title: "Python", cell: (o) => o.python || "\u2013", key: (o) => o.python },
      { id: "time", title: "Idle", numeric: true, cell: (o) => time(o.ns), key: (o) => o.ns },
      { id: "speedup", title: "At most", meaning: "Amdahl's bound: how many times faster the window would be without this idle time", numeric: true, cell: (o) => (o.speedup === null ? "no data" : `${o.speedup.toFixed(2)}\u00d7`), key: (o) => o.speedup },
    ],
  });
}

export function runtimeSection(report: Report): HTMLElement | null {
  const r = report.analysis.runtime;
  if (r.phases.length === 0) return null;
  return section("runtime", "What the framework runtime does", r.modes.join(", "), phaseList(r.phases), kernelsLine(r), ...r.queues.map((q) => queueBlock(q, r)), origins(report), operations(r));
}
