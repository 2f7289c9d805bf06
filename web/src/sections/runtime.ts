// Framework runtime: phases, queues over time, phases by operation, and why the GPU idled.
import type { IdleOrigin, PhaseTime, QueueInfo, RuntimeInfo } from "../model.ts";
import type { Report } from "../page_data.ts";
import { phaseColour } from "../parts/colours.ts";
import { h, section, svg, term } from "../parts/dom.ts";
import { count, partOf, plural, share, time } from "../parts/format.ts";
import { spreadPicture } from "../parts/spread.ts";
import { table, type TableOptions } from "../parts/table.ts";
import { exactly } from "../timeline/filter.ts";
import { showSpan } from "../parts/links.ts";

/** The phases one after the other, as the waterfall draws its bars: they add up to the span. */
function phaseList(report: Report): HTMLElement {
  const r = report.analysis.runtime, perItem = r.phases.some((p) => p.per_item_ns !== null);
  let before = 0;
  return h("ol", { class: perItem ? "waterfall phases per-item" : "waterfall phases" }, ...r.phases.filter((p) => p.present_ns > 0).map((p) => {
    const from = before * 100, width = (p.share ?? 0) * 100;
    before += p.share ?? 0;
    return h("li", { class: "row", "data-phase": p.phase, "data-ns": p.ns },
      h("span", { class: "name" }, term(p.phase, report.labels.phases.find((l) => l.id === p.phase)?.meaning ?? "")),
      h("span", { class: "track", "aria-hidden": "true" }, p.ns > 0 ? h("span", { class: "fill", style: `left:${from}%;width:${width}%;background:${phaseColour(p.phase)}` }) : null),
      h("span", { class: "value" }, time(p.ns)), h("span", { class: "value share" }, share(p.share)), perItem ? h("span", { class: "value" }, p.per_item_ns === null ? "" : `${time(p.per_item_ns)} per item`) : null);
  }));
}

function kernelsLine(r: RuntimeInfo): HTMLElement {
  const k = r.kernels;
  const item = k.overhead_per_item_ns === null ? "" : ` (${time(k.overhead_per_item_ns)} per item)`;
  return h("p", {}, `Kernels: CPU alone ${share(k.cpu_kernel)}, GPU alone ${share(k.gpu_kernel)}, both ${share(k.both)}; no kernel ${share(k.overhead)}${item}.`);
}

/** Depth over the window: the range of each part as a band and its mean as a line; transfers as ticks under it. */
function depthPicture(q: QueueInfo, r: RuntimeInfo): SVGElement {
  const width = 900, height = 90, floor = 70, top = Math.max(q.max_depth, 1);
  const long = (ns: number): number => (partOf(ns, r.duration_ns) ?? 0) * width, x = (ns: number): number => long(ns - r.start_ns);
  const y = (depth: number): number => floor - (depth / top) * (floor - 6);
  const text = `Depth of the ${q.id} queue over the window: mean ${q.mean_depth.toFixed(2)}, at most ${q.max_depth}, empty ${share(q.empty)} of the time`;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": text, class: "depth" }, svg("title", {}, text));
  for (const b of q.curve)
    picture.append(svg("rect", { x: x(b.start_ns).toFixed(2), y: y(b.max).toFixed(2), width: Math.max(x(b.start_ns + b.duration_ns) - x(b.start_ns), 0.3).toFixed(2), height: Math.max(y(b.min) - y(b.max), 0.6).toFixed(2), fill: "currentColor", opacity: 0.25 }));
  picture.append(svg("polyline", { points: q.curve.map((b) => `${x(b.start_ns + b.duration_ns / 2).toFixed(2)},${y(b.mean).toFixed(2)}`).join(" "), fill: "none", stroke: "currentColor", "stroke-width": 1 }),
    svg("line", { x1: 0, x2: width, y1: floor, y2: floor, stroke: "currentColor", opacity: 0.4 }));
  for (const t of [...r.transfers, ...r.waits])
    picture.append(svg("rect", { x: x(t.start_ns).toFixed(2), y: t.kind === "wait" ? 80 : 72, width: Math.max(long(t.duration_ns), 1).toFixed(2), height: 6, fill: "currentColor", opacity: t.kind === "wait" ? 0.45 : 0.8 },
      svg("title", {}, `${t.kind}: ${t.name}, ${time(t.duration_ns)}`)));
  return picture;
}

function most(phases: PhaseTime[]): string {
  return phases.filter((p) => (p.share ?? 0) >= 0.005).sort((a, b) => b.ns - a.ns).slice(0, 4).map((p) => `${p.phase} ${share(p.share)}`).join(", ") || "nothing";
}

/** The longest stretches without an item, each with a way to its place in the timeline. */
function drySpells(q: QueueInfo, report: Report): HTMLElement | null {
  if (q.dry.length === 0) return null;
  const r = report.analysis.runtime;
  return h("details", { class: "dry" }, h("summary", {}, q.dry.length === 1 ? "Why it ran dry: the longest stretch" : `Why it ran dry: the ${q.dry.length} longest stretches`),
    h("ul", {}, ...q.dry.map((d) => h("li", {},
      report.hasTimeline ? h("button", { type: "button", "aria-label": `Show ${time(d.duration_ns)} in the timeline`, click: () => showSpan(d.start_ns, d.duration_ns) }, "Show") : null,
      h("span", {}, h("strong", {}, time(d.duration_ns)), ` from ${time(d.start_ns - r.start_ns)} on: ${most(d.phases)}${d.host ? `; the thread that fills it was in ${d.host}` : ""}`)))));
}

function queueTitle(q: QueueInfo): string {
  if (q.kind === "device") return `Launch queue of GPU ${q.id.split(":")[1]}`;
  return q.id === "threadpool" ? "Queue of the framework's thread pool" : q.id === "framework" ? "Scheduling queue of the framework" : `Queue of the framework: ${q.id}`;
}

function queueBlock(q: QueueInfo, report: Report): HTMLElement {
  const r = report.analysis.runtime;
  if (q.max_depth === 0)
    return h("div", { class: "queue", "data-queue": q.id }, h("h3", {}, queueTitle(q)), h("p", { class: "note" }, q.items === 0 ? "Nothing passed through it." : `${plural(q.items, "item")} passed through it, none of which waited.`),
      q.items === 0 ? null : h("p", {}, `Meanwhile: ${most(q.when_empty)}.`));
  return h("div", { class: "queue", "data-queue": q.id }, h("h3", {}, queueTitle(q)), depthPicture(q, r),
    h("p", { class: "note" }, `${count(q.items)} items, mean depth ${q.mean_depth.toFixed(2)}, at most ${q.max_depth}, empty ${share(q.empty)} of the time. Median wait ${q.wait.count ? time(q.wait.median) : "no data"}. `,
      `Under the line: transfers (upper) and waits of the host (lower), the longest of each.${report.hasTimeline ? " The timeline shows every change of it." : ""}`),
    h("p", {}, `When empty: ${most(q.when_empty)}. When loaded: ${most(q.when_loaded)}.`), drySpells(q, report));
}

function titled<Row>(title: string, options: TableOptions<Row>): HTMLElement {
  return h("div", {}, h("h3", {}, title), table(options));
}

function operations(r: RuntimeInfo): HTMLElement | null {
  const rows = r.operations.flatMap((o, i) => o.phases.map((p) => ({ type: i === 0 ? "all operations" : o.type, count: o.count, ...p })));
  if (rows.length === 0) return null;
  const longest = Math.max(...rows.map((x) => x.spread.p95));
  return titled("Phases by type of operation", {
    caption: "Phases by type of operation", noun: "rows", rows, sortBy: "total", step: 12, events: (x) => (x.type === "all operations" ? "" : exactly("op", x.type)), search: (x) => `${x.type} ${x.phase}`,
    columns: [
      { id: "operation", title: "Operation", cell: (x) => x.type, key: (x) => x.type },
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
  return titled("Idle time by operation and source line", {
    caption: "Idle time by operation and source line", noun: "reasons", rows, sortBy: "time", step: 10, search: (o) => `${o.cause} ${o.phase} ${o.operation} ${o.module} ${o.python}`,
    columns: [
      { id: "cause", title: "Cause", cell: (o) => report.labels.causes.find((l) => l.id === o.cause)?.text ?? o.cause, key: (o) => o.cause },
      { id: "phase", title: "Phase", cell: (o) => o.phase, key: (o) => o.phase },
      { id: "operation", title: "Operation", cell: (o) => o.operation || "\u2013", key: (o) => o.operation },
      ...(["module", "python"] as const).filter((id) => rows.some((o) => o[id])).map((id) => ({ id, title: id === "module" ? "Module" : "Python", cell: (o: IdleOrigin) => o[id] || "\u2013", key: (o: IdleOrigin) => o[id] })),
      { id: "time", title: "Idle", numeric: true, cell: (o) => time(o.ns), key: (o) => o.ns },
      { id: "speedup", title: "Speedup, up to", meaning: "Amdahl's bound: how many times faster the window would be without this idle time", numeric: true, cell: (o) => (o.speedup === null ? "no data" : `${o.speedup.toFixed(2)}\u00d7`), key: (o) => o.speedup },
    ],
  });
}

export function runtimeSection(report: Report): HTMLElement | null {
  const r = report.analysis.runtime;
  if (r.phases.length === 0) return null;
  return section("runtime", "Framework runtime", r.modes.join(", "), phaseList(report), kernelsLine(r), ...r.queues.map((q) => queueBlock(q, report)), origins(report), operations(r));
}
