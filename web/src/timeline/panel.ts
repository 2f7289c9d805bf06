// Beside the timeline: what is known of the chosen event, and the sums of a chosen span.
import type { Report } from "../page_data.ts";
import { causeColour } from "../parts/colours.ts";
import { h } from "../parts/dom.ts";
import { count, energy, plural, share, time } from "../parts/format.ts";
import { revealRow } from "../parts/links.ts";
import type { View } from "../parts/view.ts";
import { allFacts, likeIt, type Fact } from "./details.ts";
import type { EventAt, Lane, Timeline } from "./events.ts";
import { exactly } from "./filter.ts";
import { sumsOf, type DeviceSums } from "./sums.ts";

export function factList(facts: Fact[]): HTMLElement[] {
  const [first, ...others] = facts;
  return [h("strong", {}, first?.[1] ?? ""), h("dl", { class: "facts" }, ...others.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))))];
}

/** Actions of the panel's buttons. */
export interface PanelActions { find: (text: string) => void; zoom: (view: View) => void; choose: (at: EventAt) => void; clear: () => void }

function button(text: string, press: () => void): HTMLElement { return h("button", { type: "button", click: press }, text); }

export function eventPanel(report: Report, timeline: Timeline, at: EventAt, actions: PanelActions): HTMLElement[] {
  const { lane, item } = at, like = likeIt(timeline, at), launch = timeline.launchOf(at), first = timeline.started(at)[0];
  const span = Math.max(lane.duration[item]!, 100), tools = h("div", { class: "tools" },
    button("Zoom to it", () => actions.zoom({ from: lane.start[item]! - span, to: lane.start[item]! + 2 * span })),
    lane.kind === "queue" ? null : button("All like it", () => actions.find(like.all)),
    launch ? button("Its launch", () => actions.choose(launch)) : null, first ? button("What it started", () => actions.choose(first)) : null,
    ...like.rows.map(([text, key]) => button(`${text} in the table`, () => { revealRow(key); })), button("Close", actions.clear));
  return [...factList(allFacts(report, timeline, at)), tools];
}

function deviceSums(report: Report, sums: DeviceSums, many: boolean, actions: PanelActions): HTMLElement {
  const cause = (id: string): string => report.labels.causes.find((each) => each.id === id)?.text ?? id;
  const level = (id: string): string => report.labels.levels.find((each) => each.id === ({ sm: "sm.active", issue: "issue.active", tensor: "tensor.issue" } as Record<string, string>)[id])?.text ?? id;
  const of = (ns: number): string => (sums.ns > 0 ? ` (${share(ns / sums.ns)})` : "");
  const facts: Fact[] = [["busy", time(sums.busy) + of(sums.busy)], ["idle", time(sums.ns - sums.busy) + of(sums.ns - sums.busy)],
    ["kernels and copies", count(Math.round(sums.instances))], ...(sums.cut > 0 ? [["merged at the ends of the span, counted in part", count(sums.cut)] as Fact] : []), ...sums.levels.map(([id, value]): Fact => [`${level(id)}, in kernels`, share(value)]),
    ...(sums.levels.length > 0 && sums.covered < 0.9995 ? [["kernel time with counters", share(sums.covered)] as Fact] : []),
    ["energy", sums.joules === null ? "no data" : energy(sums.joules * 1e9)]];
  return h("div", { "data-device": sums.device, "data-busy": Math.round(sums.busy), "data-idle": Math.round(sums.ns - sums.busy) }, many ? h("h3", { class: "minor" }, `GPU ${sums.device} ${sums.name}`) : null,
    h("dl", { class: "facts" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    h("div", { class: "columns" },
      sums.idle.length === 0 ? null : h("div", {}, h("h3", { class: "minor" }, "Idle by cause"), h("ul", { class: "short" }, ...sums.idle.slice(0, 6).map(([id, ns]) =>
        h("li", { "data-cause": id, "data-ns": Math.round(ns) }, h("span", { class: "swatch", style: `background:${causeColour(id)}` }), h("span", { class: "what" }, cause(id)), h("span", { class: "number" }, time(ns)))))),
      h("div", {}, h("h3", { class: "minor" }, "Kernels and copies with most time"), h("ol", { class: "short" }, ...sums.kernels.slice(0, 8).map((kernel) =>
        h("li", { "data-ns": Math.round(kernel.ns) }, h("button", { type: "button", class: "link", title: kernel.full, click: () => actions.find(exactly("kernel", kernel.full)) }, kernel.name), h("span", { class: "number" }, `${count(Math.round(kernel.count))} \u00d7`), h("span", { class: "number" }, time(kernel.ns))))))));
}

/** The waiting and transfer time of each rank of a job in the span. */
function rankSums(timeline: Timeline, range: View): HTMLElement[] {
  const within = (lane: Lane): number => lane.start.reduce((sum, start, i) => sum + Math.max(0, Math.min(start + lane.duration[i]!, range.to) - Math.max(start, range.from)), 0);
  return timeline.lanes.filter((lane) => lane.kind === "wait" || lane.kind === "move").map((lane) => h("dl", { class: "facts", "data-rank-sum": `${lane.group} ${lane.kind}`, "data-ns": Math.round(within(lane)) }, h("div", {}, h("dt", {}, `${lane.group} ${lane.title}`), h("dd", {}, time(within(lane))))));
}

export function rangePanel(report: Report, timeline: Timeline, range: View, actions: PanelActions): HTMLElement[] {
  const sums = sumsOf(report, timeline, range);
  return [h("strong", {}, `${time(range.to - range.from)} chosen, from ${time(range.from)} on${sums.length > 1 ? `, ${plural(sums.length, "device")}` : ""}`),
    ...rankSums(timeline, range),
    ...sums.map((each) => deviceSums(report, each, sums.length > 1, actions)),
    h("div", { class: "tools" }, button("Zoom to it", () => actions.zoom(range)), button("Close", actions.clear))];
}
