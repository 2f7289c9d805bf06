// Serving: tokens and their times, its batch over time, steps by kind, and its requests.
import type { EngineStep, ServedRequest, Serving, StepKind, StepKindUse } from "../model.ts";
import type { Report } from "../page_data.ts";
import { axisTop, timeMarks } from "../parts/axis.ts";
import { h, section, svg } from "../parts/dom.ts";
import { fitted } from "../parts/figure.ts";
import { count, energy, partOf, perSecond, plural, share, time } from "../parts/format.ts";
import { table, type Column } from "../parts/table.ts";
import { hideTip, showTip } from "../parts/tips.ts";

const COLOURS: Record<StepKind, string> = { unknown: "var(--series-6)", prefill: "var(--series-1)", decode: "var(--series-0)", mixed: "var(--series-3)", chunked: "var(--series-4)", speculative: "var(--series-2)" };
const H = 170, LEFT = 46, RIGHT = 8, TOP = 10, BASE = 126, LANE = 16, LANES = 134;

function known(value: number | null, text: (value: number) => string): string { return value === null ? "not known" : text(value); }

function percentiles(p50: number | null, p90: number | null, p99: number | null): string {
  return p50 === null || p90 === null || p99 === null ? "not known" : `${time(p50)} (p50), ${time(p90)} (p90), ${time(p99)} (p99)`;
}

function joules(value: number): string { return energy(value * 1e9); }

function facts(serving: Serving): HTMLElement {
  const rows: [string, string][] = [
    ["tokens a second", known(serving.tokens_per_second, perSecond)],
    ["between tokens", percentiles(serving.between_p50_ns, serving.between_p90_ns, serving.between_p99_ns)],
    ["to the first token", percentiles(serving.first_p50_ns, serving.first_p90_ns, serving.first_p99_ns)],
    ["requests of a step that decodes", serving.batch_p50 === null || serving.batch_most === null ? "not known" : `${count(serving.batch_p50)} (p50), ${count(serving.batch_most)} at most`],
    ["energy of a generated token", known(serving.joules_per_token, joules)],
  ];
  if (serving.engines > 1) rows.unshift(["engines in the capture", `${count(serving.engines)}; these are the steps of one`]);
  if (serving.mixed_longer_ns !== null) rows.push(["a mixed step takes longer than a decode step", time(serving.mixed_longer_ns)]);
  return h("dl", { class: "numbers" }, ...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** The batch as a line, and below it a lane of the steps in the colours of their kinds. */
function draw(serving: Serving, width: number): SVGElement {
  const first = serving.steps[0]!.start_ns, span = Math.max(1, serving.duration_ns);
  const top = axisTop(Math.max(1, ...serving.steps.map((s) => s.requests ?? 0)));
  const x = (ns: number): number => LEFT + ((ns - first) / span) * (width - LEFT - RIGHT), y = (requests: number): number => TOP + (1 - requests / top) * (BASE - TOP);
  const picture = svg("svg", { class: "power", viewBox: `0 0 ${width} ${H}`, role: "img", "aria-label": `Requests of each step over ${time(span)}, ${known(serving.batch_most, count)} at most` });
  for (const requests of [0, top / 2, top]) picture.append(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(requests), y2: y(requests) }), svg("text", { x: LEFT - 6, y: y(requests) + 4, "text-anchor": "end" }, count(requests)));
  for (const { at, text } of timeMarks(0, span, width - LEFT - RIGHT)) picture.append(svg("text", { x: x(first + at), y: H - 4, "text-anchor": at === 0 ? "start" : "middle" }, text));
  let path = "";
  for (const s of serving.steps) {
    if (s.requests !== null) path += `M${x(s.start_ns).toFixed(1)},${y(s.requests).toFixed(1)}H${x(s.start_ns + s.duration_ns).toFixed(1)}`;
    picture.append(svg("rect", { x: x(s.start_ns).toFixed(2), y: LANES, width: Math.max(0.3, x(s.start_ns + s.duration_ns) - x(s.start_ns)).toFixed(2), height: LANE, style: `fill:${COLOURS[s.kind]}` }));
  }
  picture.append(svg("path", { class: "line", d: path }), svg("text", { x: LEFT - 6, y: LANES + 12, "text-anchor": "end" }, "steps"));
  picture.addEventListener("pointermove", (event) => {
    const at = picture.getBoundingClientRect(), ns = first + ((((event.clientX - at.left) / at.width) * width - LEFT) / (width - LEFT - RIGHT)) * span;
    const step = serving.steps.find((s) => s.start_ns <= ns && ns < s.start_ns + s.duration_ns);
    if (step) showTip("serving", event.clientX, event.clientY, words(step)); else hideTip("serving");
  });
  picture.addEventListener("pointerleave", () => hideTip("serving"));
  return picture;
}

function words(s: EngineStep): string {
  const padded = s.run_tokens !== null && s.tokens !== null && s.run_tokens > s.tokens ? ` of ${count(s.run_tokens)}` : "", tokens = s.tokens ?? s.run_tokens;
  return [`step ${s.index}: ${s.kind}`, time(s.duration_ns), ...(s.requests === null ? [] : [plural(s.requests, "request")]), ...(tokens === null ? [] : [`${count(tokens)}${padded} tokens`]), ...(s.graph ? ["CUDA graph"] : [])].join(", ");
}

function kindColumns(report: Report, serving: Serving): Column<StepKindUse>[] {
  const devices = Math.max(1, report.analysis.devices.length);
  const waits = (k: StepKindUse): string => k.idle.filter((c) => c.ns > 0.01 * k.duration_ns * devices).slice(0, 3)
    .map((c) => `${report.labels.causes.find((l) => l.id === c.cause)?.text ?? c.cause} ${share(partOf(c.ns, k.duration_ns * devices))}`).join(", ");
  const all: Column<StepKindUse>[] = [
    { id: "kind", title: "Steps", key: (k) => k.kind, cell: (k) => h("span", {}, h("span", { class: "swatch", style: `background:${COLOURS[k.kind]}` }), ` ${k.kind}`) },
    { id: "number", title: "Steps", numeric: true, key: (k) => k.steps, cell: (k) => count(k.steps) },
    { id: "graphs", title: "Graphs", numeric: true, meaning: "Steps that CUDA graphs launched.", key: (k) => k.graphs || null, cell: (k) => count(k.graphs) },
    { id: "time", title: "Time", numeric: true, key: (k) => k.duration_ns, cell: (k) => time(k.duration_ns) },
    { id: "share", title: "Share", numeric: true, key: (k) => k.share, cell: (k) => share(k.share) },
    { id: "p50", title: "p50", numeric: true, key: (k) => k.p50_ns, cell: (k) => time(k.p50_ns) },
    { id: "p99", title: "p99", numeric: true, key: (k) => k.p99_ns, cell: (k) => time(k.p99_ns) },
    { id: "tokens", title: "Tokens", numeric: true, meaning: "Tokens of requests that went through the model; else all that did.", key: (k) => k.tokens ?? k.run_tokens, cell: (k) => known(k.tokens ?? k.run_tokens, count) },
    { id: "padding", title: "Padding", numeric: true, meaning: "Tokens that only fill up a CUDA graph, as a share of those that went through the model.", key: (k) => k.padding, cell: (k) => known(k.padding, share) },
    { id: "dram", title: "DRAM", numeric: true, meaning: "DRAM throughput while these steps ran, as samples saw it, of the most.", key: (k) => k.dram, cell: (k) => known(k.dram, share) },
    { id: "mfu", title: "MFU", numeric: true, meaning: "Model FLOPs utilization of these steps.", key: (k) => k.mfu, cell: (k) => known(k.mfu, share) },
    { id: "joules", title: "Per token", numeric: true, meaning: "Energy of all devices in these steps, for each token of requests.", key: (k) => k.joules_per_token, cell: (k) => known(k.joules_per_token, joules) },
    { id: "waits", title: "Waits", cell: (k) => waits(k) },
  ];
  const always = ["waits"];
  return all.filter((column) => always.includes(column.id) || serving.kinds.some((k) => column.key?.(k) !== null));
}

function requestTable(requests: ServedRequest[]): HTMLElement | null {
  if (requests.length === 0) return null;
  const columns: Column<ServedRequest>[] = [
    { id: "id", title: "Request", key: (r) => r.id, cell: (r) => r.id },
    { id: "steps", title: "Steps", numeric: true, key: (r) => r.steps, cell: (r) => count(r.steps) },
    { id: "tokens", title: "Tokens", numeric: true, key: (r) => r.tokens, cell: (r) => count(r.tokens) },
    { id: "queued", title: "Queued", numeric: true, key: (r) => r.queued_ns, cell: (r) => known(r.queued_ns, time) },
    { id: "first", title: "First token", numeric: true, key: (r) => r.first_token_ns, cell: (r) => known(r.first_token_ns, time) },
    { id: "time", title: "Step time", numeric: true, meaning: "Its share of the time of its steps, by its tokens in each.", key: (r) => r.step_ns, cell: (r) => time(r.step_ns) },
    { id: "energy", title: "Energy", numeric: true, key: (r) => r.nj, cell: (r) => known(r.nj, energy) },
  ];
  return table({ caption: "Requests", columns, rows: requests, sortBy: "time", noun: "requests", search: (r) => r.id });
}

export function servingSection(report: Report): HTMLElement | null {
  const { serving } = report.analysis;
  if (serving === null || serving.steps.length === 0) return null;
  const remark = `${plural(serving.steps.length, "step")} by ${serving.source}${serving.kind_confidence === null ? "" : `; kinds fit tokens in ${share(serving.kind_confidence)} of them`}`;
  return section("serving", "Serving", remark, facts(serving), fitted((width) => draw(serving, width)),
    table({ caption: "Steps by kind", columns: kindColumns(report, serving), rows: serving.kinds, sortBy: "time", noun: "kinds" }), requestTable(serving.requests));
}
