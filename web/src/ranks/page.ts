// The page of `ranks`: which rank is late and why, ranks by steps, collectives with waiting and transfer told apart.
import type { CollectiveRow, FallingBehind, JobRanks, RankStep, RankUse, SlowLink, Straggler } from "../model.ts";
import { causeColour } from "../parts/colours.ts";
import { filesLine, h, section } from "../parts/dom.ts";
import type { Label } from "../page_data.ts";
import { bytes, count, lengthOf, partOf, plural, share, time } from "../parts/format.ts";
import { table, type Column } from "../parts/table.ts";
import { exactly } from "../timeline/filter.ts";
import { collectiveName, ranksTimeline } from "./timeline.ts";

export interface RanksReport { version: string; sentences: string[]; job: JobRanks; labels: { causes: Label[] } }

let causes = new Map<string, string>();

/** Idle causes have the same names as in every other answer. */
function words(id: string): string { return causes.get(id) ?? id.replaceAll("_", " "); }

function partColour(part: string): string {
  const known: Record<string, string> = { kernels: "var(--bar-tensor)", copies: "var(--bar-copy)", waiting: "var(--bar-waiting)", exchange: "var(--exchange)" };
  return known[part] ?? causeColour(part);
}

/** Darker is longer: the share of the largest value, over the paper. */
function heat(value: number, most: number): string { return `color-mix(in srgb, var(--bar-waiting) ${Math.round((partOf(value, most) ?? 0) * 100)}%, var(--panel))`; }

/** False of a rank whose collectives no other capture holds: a part of them is waiting, and how much is not known. */
function knowsWaiting(rank: RankUse): boolean { return rank.matched > 0 || rank.collectives === 0; }

/** A cell a step and rank: how long the rank waited in it. */
function heatSection(job: JobRanks): HTMLElement | null {
  const numbers = [...new Set(job.steps.map((step) => step.step))].sort((a, b) => a - b), ranks = job.ranks.map((rank) => rank.rank);
  if (numbers.length === 0 || job.collectives_matched === 0) return null;
  const at = new Map(job.steps.map((step) => [`${step.rank} ${step.step}`, step])), wait = (step: RankStep): number => step.wait_ns, most = Math.max(...job.steps.map(wait), 1);
  const cell = (rank: number, number: number): HTMLElement => {
    const step = at.get(`${rank} ${number}`);
    if (!step) return h("td", { class: "cell" });
    const said = `rank ${rank}, step ${number}: ${time(step.duration_ns)}; kernels ${time(step.kernels_ns)}, waiting ${time(step.wait_ns)}, exchange ${time(step.exchange_ns)}, copies ${time(step.copies_ns)}, idle ${time(step.idle_ns)}`;
    return h("td", { class: "cell", "data-rank": rank, "data-step": number, "data-wait": step.wait_ns, "data-tip": said, style: `background:${heat(step.wait_ns, most)}` }, h("span", { class: "spoken" }, said));
  };
  return section("steps", "Waiting, rank by step", `darker is longer, up to ${time(most)}; the rank that waits least is the one that the others wait for`,
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Waiting by rank and step" }, h("table", { class: "heat" }, h("caption", {}, "Waiting by rank and step"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "rank"), ...numbers.map((number) => h("th", { scope: "col" }, String(number))))),
      h("tbody", {}, ...ranks.map((rank) => h("tr", {}, h("th", { scope: "row" }, String(rank)), ...numbers.map((number) => cell(rank, number))))))));
}

function stragglersSection(job: JobRanks): HTMLElement | null {
  if (job.stragglers.length === 0) return null;
  const columns: Column<Straggler>[] = [
    { id: "rank", title: "Rank", key: (s) => s.rank, cell: (s) => String(s.rank) },
    { id: "cause", title: "It had more", key: (s) => s.cause, cell: (s) => h("span", { class: "mark" }, h("span", { class: "swatch", style: `background:${partColour(s.cause)}` }), words(s.cause)) },
    { id: "operation", title: "Operator", key: (s) => s.op, cell: (s) => s.op || "\u2013" }, { id: "module", title: "Module", key: (s) => s.module, cell: (s) => s.module || "\u2013" },
    { id: "gain", title: "Gain", numeric: true, key: (s) => s.gain_ns, cell: (s) => time(s.gain_ns) }, { id: "wait", title: "Others waited", numeric: true, key: (s) => s.wait_ns, cell: (s) => time(s.wait_ns) },
    { id: "late", title: "Late", numeric: true, key: (s) => s.late_ns, cell: (s) => time(s.late_ns) }, { id: "count", title: "Collectives", numeric: true, key: (s) => s.collectives, cell: (s) => count(s.collectives) }];
  return section("stragglers", "Late ranks by cause", "by what the job would gain", table({ caption: "Stragglers", columns, rows: job.stragglers, sortBy: "gain", noun: "causes", step: 8 }));
}

function linksSection(job: JobRanks): HTMLElement | null {
  if (job.links.length === 0) return null;
  const columns: Column<SlowLink>[] = [{ id: "group", title: "Group", key: (l) => l.group, cell: (l) => l.group }, { id: "type", title: "Collective", key: (l) => l.type, cell: (l) => words(l.type) }, { id: "bytes", title: "Size", numeric: true, key: (l) => l.bytes, cell: (l) => bytes(l.bytes) },
    ...([["transfer", "Transfer", "transfer_ns"], ["others", "In other groups", "others_ns"], ["gain", "Gain", "gain_ns"]] as const).map(([id, title, key]): Column<SlowLink> => ({ id, title, numeric: true, key: (l) => l[key], cell: (l) => time(l[key]) }))];
  return section("links", "Slow links", "against groups that move as much between as many ranks", table({ caption: "Slow links", columns, rows: job.links, sortBy: "gain", noun: "links", step: 8 }));
}

function behindSection(job: JobRanks): HTMLElement | null {
  if (job.falling_behind.length === 0) return null;
  const columns: Column<FallingBehind>[] = [
    { id: "rank", title: "Rank", key: (b) => b.rank, cell: (b) => String(b.rank) },
    { id: "cause", title: "Its host does longer", key: (b) => b.cause, cell: (b) => h("span", { class: "mark" }, h("span", { class: "swatch", style: `background:${partColour(b.cause)}` }), words(b.cause)) },
    { id: "operation", title: "Where", key: (b) => b.op, cell: (b) => b.op || "\u2013" },
    ...([["host", "Host a step", "host_step_ns"], ["next", "Next one", "next_step_ns"], ["more", "More a step", "more_ns"], ["gain", "Gain a step", "gain_step_ns"], ["doubt", "Doubt", "doubt_ns"]] as const).map(([id, title, key]): Column<FallingBehind> => ({ id, title, numeric: true, key: (b) => b[key], cell: (b) => time(b[key]) }))];
  return section("behind", "Hosts falling behind", "nothing waited for them yet: their launches are not late yet", table({ caption: "Hosts falling behind", columns, rows: job.falling_behind, sortBy: "gain", noun: "causes", step: 8 }));
}

function ranksSection(job: JobRanks): HTMLElement {
  const most = Math.max(...job.ranks.map((rank) => rank.span_ns), 1), parts = [...new Set(job.ranks.flatMap((rank) => rank.time.filter((part) => part.ns > 0).map((part) => part.part)))];
  const bar = (rank: RankUse): HTMLElement[] => [h("span", { class: "name" }, `rank ${rank.rank}${rank.host ? ` on ${rank.host}` : ""}`),
    h("div", { class: "energy-bar", role: "img", "data-rank": rank.rank, "aria-label": rank.time.map((part) => `${words(part.part)} ${time(part.ns)}`).join(", ") }, ...rank.time.filter((part) => part.ns > 0).map((part) =>
      h("span", { style: `width:${lengthOf(part.ns, most)};background:${partColour(part.part)}`, "data-ns": part.ns, "data-tip": `rank ${rank.rank}, ${words(part.part)}: ${time(part.ns)}` }))), h("span", { class: "value" }, time(rank.span_ns))];
  const columns: Column<RankUse>[] = [{ id: "rank", title: "Rank", key: (r) => r.rank, cell: (r) => String(r.rank) }, { id: "device", title: "Device", key: (r) => r.device, cell: (r) => r.device },
    ...([["busy", "Busy", "busy_ns"], ["compute", "Computes", "compute_ns"], ["exposed", "Communication exposed", "exposed_ns"]] as const).map(([id, title, key]): Column<RankUse> => ({ id, title, numeric: true, key: (r) => r[key], cell: (r) => time(r[key]) })),
    ...([["wait", "Waits", "wait_ns"], ["transfer", "Transfers", "transfer_ns"]] as const).map(([id, title, key]): Column<RankUse> => ({ id, title, numeric: true, key: (r) => (knowsWaiting(r) ? r[key] : null), cell: (r) => (knowsWaiting(r) ? time(r[key]) : "no data") })),
    { id: "last", title: "Last to arrive", numeric: true, key: (r) => r.last, cell: (r) => `${count(r.last)} of ${count(r.matched)}` },
    { id: "clock", title: "Clock", numeric: true, meaning: "What its clock shows more than the first rank's; differences below the second number mean nothing.", key: (r) => r.offset_ns, cell: (r) => (r.offset_ns === null ? "no data" : r === job.ranks[0] ? "the common clock" : `${time(r.offset_ns)} \u00b1 ${r.residual_ns === null ? "?" : time(r.residual_ns)}`) }];
  return section("ranks", "Time breakdown by rank", job.ranks.some(knowsWaiting) ? "waiting separated from work" : "waiting not known: part of the exchange", h("div", { class: "energy-stacks three" }, ...job.ranks.flatMap(bar)), h("ul", { class: "legend" }, ...parts.map((part) => h("li", {}, h("span", { class: "swatch", style: `background:${partColour(part)}` }), words(part)))),
    table({ caption: "Ranks", columns, rows: job.ranks, sortBy: "last", noun: "ranks", step: 16 }));
}

/** One collective: a bar a rank on the common clock, waiting light, transfer solid. */
function drawn(row: CollectiveRow): HTMLElement {
  const begin = Math.min(...row.ranks.map((r) => r.start_ns)), whole = Math.max(...row.ranks.map((r) => r.start_ns + r.duration_ns)) - begin || 1, part = (ns: number): number => (ns / whole) * 100;
  return h("div", { class: "lanes", role: "img", "aria-label": row.ranks.map((r) => `rank ${r.rank} waits ${time(r.wait_ns)}, transfers ${time(r.transfer_ns)}`).join("; ") }, ...row.ranks.slice(0, 16).map((r) => h("span", { class: "lane" },
    h("span", { class: "waits", style: `left:${part(r.start_ns - begin)}%;width:${part(r.wait_ns)}%` }), h("span", { class: "moves", style: `left:${part(r.start_ns - begin + r.wait_ns)}%;width:${part(r.transfer_ns)}%` }))));
}

function collectivesSection(job: JobRanks): HTMLElement | null {
  if (job.collectives.length === 0) return null;
  const names = new Map(job.collectives.map((row, place) => [row, collectiveName(row, place, job.groups.length)]));
  const columns: Column<CollectiveRow>[] = [{ id: "type", title: "Collective", key: (c) => c.type, cell: (c) => `${words(c.type)}${c.sequence >= 0 ? ` ${c.sequence}` : ""}` }, { id: "arrivals", title: "Ranks on one clock", cell: drawn },
    { id: "wait", title: "Waiting", numeric: true, key: (c) => c.wait_ns, cell: (c) => time(c.wait_ns) }, { id: "last", title: "Last", numeric: true, key: (c) => c.last_rank, cell: (c) => `rank ${c.last_rank}` },
    { id: "margin", title: "Margin", numeric: true, key: (c) => c.margin_ns, cell: (c) => (c.margin_ns <= c.doubt_ns ? "within error" : time(c.margin_ns)) }, { id: "cause", title: "Why", key: (c) => c.cause, cell: (c) => (c.cause ? words(c.cause) : "\u2013") },
    { id: "bytes", title: "Size", numeric: true, key: (c) => c.bytes, cell: (c) => (c.bytes < 0 ? "no data" : bytes(c.bytes)) }, { id: "step", title: "Step", numeric: true, key: (c) => c.step, cell: (c) => (c.step === null ? "\u2013" : String(c.step)) }];
  return section("collectives", "Collectives", "light: waiting for the last rank; solid: transfer", table({ caption: "Collectives by waiting", columns, rows: job.collectives, sortBy: "wait", noun: "collectives", step: 15, events: (c) => exactly("event", names.get(c)!), search: (c) => `${c.type} ${c.group} rank ${c.last_rank} ${c.cause ?? ""}` }));
}

function ratesSection(job: JobRanks): HTMLElement | null {
  if (job.rates.length === 0) return null;
  const gigabytes = (rate: number): string => `${Number(rate.toPrecision(3))} GB/s`;
  return section("rates", "Collective transfer rates", "", table({ caption: "Rates of collectives", rows: job.rates, sortBy: "bytes", noun: "sizes", columns: [
    { id: "type", title: "Collective", key: (r) => r.type, cell: (r) => words(r.type) }, { id: "bytes", title: "Size", numeric: true, key: (r) => r.bytes, cell: (r) => bytes(r.bytes) }, { id: "count", title: "Count", numeric: true, key: (r) => r.count, cell: (r) => count(r.count) },
    { id: "transfer", title: "Transfer", numeric: true, key: (r) => r.transfer_ns, cell: (r) => time(r.transfer_ns) }, { id: "bus", title: "Per link", numeric: true, key: (r) => r.bus_gb_per_s, cell: (r) => gigabytes(r.bus_gb_per_s) }, { id: "of", title: "% of link", numeric: true, key: (r) => r.of_link, cell: (r) => share(r.of_link) }] }));
}

export function ranksPage(report: RanksReport, tools: HTMLElement[]): { header: HTMLElement; parts: (HTMLElement | null)[] } {
  causes = new Map(report.labels.causes.map((cause) => [cause.id, cause.text]));
  const { job } = report, doubts = job.quality.map((note) => note.detail);
  if (job.missing_ranks.length > 0) doubts.unshift(`ranks without a file: ${job.missing_ranks.join(", ")}`);
  return { header: h("header", { class: "top" }, h("div", { class: "bar" }, h("span", { class: "brand" }, "gpufathom"), filesLine(`${plural(job.ranks.length, "rank")}${job.world_size > 0 ? ` of ${job.world_size}` : ""}, ${time(job.span_ns)}`), h("span", { class: "spring" }), ...tools),
    h("h1", {}, report.sentences[0] ?? ""), ...report.sentences.slice(1).map((line) => h("p", { class: "verdict" }, line)), doubts.length > 0 ? h("ul", { class: "checks" }, ...doubts.map((doubt) => h("li", {}, doubt))) : null),
  parts: [stragglersSection(job), linksSection(job), behindSection(job), heatSection(job), ranksSection(job), ranksTimeline(job), collectivesSection(job), ratesSection(job)] };
}
