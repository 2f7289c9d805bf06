// The timeline: streams, idle causes, queues and host threads on one clock.
import type { Report } from "../page_data.ts";
import { fitted, repainter } from "../parts/canvas.ts";
import { causeColour, typeColour } from "../parts/colours.ts";
import { h, section } from "../parts/dom.ts";
import { count, share, time } from "../parts/format.ts";
import { hideTip, showTip } from "../parts/tips.ts";
import { draw, type Scene } from "./draw.ts";
import { itemAt, layout, type Hit } from "./layout.ts";
import { clampView, steer, viewButtons, type View } from "../parts/view.ts";

function describe(hit: Hit, scene: Scene): [string, string][] {
  const { lane } = hit.band, i = hit.item, texts = scene.timeline.texts;
  const text = (column: number[]) => texts[column[i] ?? 0] ?? "";
  if (lane.kind === "queue") {
    const low = lane.low[i]!, high = lane.depth[i]!;
    return [["", lane.title], ["depth", low === high ? count(high) : `${count(low)} to ${count(high)}`], [high === 0 ? "empty for" : "for", time(lane.duration[i]!)], ["from", time(lane.start[i]!)]];
  }
  const name = text(lane.name), rows: [string, string][] = [["", lane.kind === "idle" ? `idle: ${scene.causes.get(name) ?? name}` : name]];
  rows.push(["duration", time(lane.duration[i]!)], ["start", time(lane.start[i]!)]);
  const add = (title: string, value: string) => { if (value) rows.push([title, value]); };
  add("operator", text(lane.op));
  add("module", text(lane.module));
  if (lane.kind === "stream") add("type", text(lane.type));
  const launch = lane.launch[i] ?? -1, tensor = lane.tensor[i] ?? -1;
  if (launch >= 0) add("launched", `${time(lane.start[i]! - launch)} before it started`);
  if (tensor >= 0) add("tensor issue", share(tensor / 1000));
  return rows;
}

const SHOW = "showspan";

/** Asks the timeline to show a span of the capture's clock. */
export function showSpan(report: Report, start: number, duration: number): void {
  const from = start - (report.timeline?.start_ns ?? 0);
  dispatchEvent(new CustomEvent(SHOW, { detail: { from, to: from + duration } }));
}

function onShowSpan(show: (from: number, to: number) => void): void {
  addEventListener(SHOW, (event) => {
    const { from, to } = (event as CustomEvent<{ from: number; to: number }>).detail;
    show(from, to);
  });
}

function details(rows: [string, string][]): HTMLElement[] {
  const [first, ...others] = rows;
  return [h("strong", {}, first?.[1] ?? ""), h("dl", { class: "facts" }, ...others.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))];
}

export function timelineSection(report: Report): HTMLElement | null {
  const timeline = report.timeline;
  if (!timeline || timeline.duration_ns <= 0 || timeline.lanes.length === 0) return null;
  const { bands, height } = layout(timeline), whole = timeline.duration_ns;
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": "Timeline of streams, idle causes, queues and host threads. Arrow keys move, plus and minus zoom, 0 shows everything." });
  const facts = h("div", { class: "facts-panel", "aria-live": "polite" }, h("span", { class: "dim" }, "Point at anything for its facts; press it to keep them here. Drag to move; once the picture is pressed, the wheel zooms."));
  const scene: Scene = { timeline, bands, from: 0, to: whole, width: 1, height, colourBy: "type", hit: null, chosen: null, causes: new Map(report.labels.causes.map((c) => [c.id, c.text])) };
  const repaint = repainter(canvas, () => {
    const context = fitted(canvas, height);
    if (!context) return;
    scene.width = canvas.clientWidth;
    Object.assign(canvas.dataset, { from: Math.round(scene.from), to: Math.round(scene.to) });  // ns in sight
    draw(context, scene);
  });
  const set = (view: View) => { Object.assign(scene, clampView(view, whole)); repaint(); };
  const find = (event: PointerEvent) => {
    const r = canvas.getBoundingClientRect(), perPixel = (scene.to - scene.from) / r.width;
    return itemAt(bands, scene.from + (event.clientX - r.left) * perPixel, event.clientY - r.top, 2 * perPixel);
  };
  canvas.style.height = `${height}px`;
  steer(canvas, whole, () => scene, set, (event) => {
    scene.hit = event ? find(event) : null;
    if (event && scene.hit) showTip("timeline", event.clientX, event.clientY, ...details(describe(scene.hit, scene)));
    else hideTip("timeline");
    repaint();
  }, (event) => {
    scene.chosen = find(event);
    if (scene.chosen) facts.replaceChildren(...details(describe(scene.chosen, scene)));
    repaint();
  });

  onShowSpan((from, to) => {
    const margin = (to - from) / 2;
    set({ from: from - margin, to: to + margin });
    canvas.scrollIntoView({ block: "center" });
    canvas.focus({ preventScroll: true });
  });

  const steps = bands.find((b) => b.lane.kind === "steps")?.lane;
  const zoomStep = steps && steps.start.length > 0 ? Math.floor(steps.start.length / 2) : -1;
  const first: View = zoomStep >= 0 && steps!.start.length > 1 ? { from: steps!.start[zoomStep]!, to: steps!.start[zoomStep]! + steps!.duration[zoomStep]! } : { from: 0, to: whole };
  set(first);
  const hasTensor = bands.some((b) => b.lane.tensor.some((t) => t >= 0));
  const types = [...new Set(bands.filter((b) => b.lane.kind === "stream").flatMap((b) => b.lane.type.map((t) => timeline.texts[t] ?? "")))].filter(Boolean).sort();
  const idle = [...new Set(bands.filter((b) => b.lane.kind === "idle").flatMap((b) => b.lane.name.map((t) => timeline.texts[t] ?? "")))].filter(Boolean);
  const swatch = (colour: string, text: string) => h("li", {}, h("span", { class: "swatch", style: `background:${colour}` }), text);
  const legend = h("ul", { class: "legend" });
  const fillLegend = () => legend.replaceChildren(...(scene.colourBy === "type" ? types.map((t) => swatch(typeColour(t), t)) :
    ["0 %", "< 10 %", "< 20 %", "< 30 %", "< 40 %", "40 % and more"].map((text, i) => swatch(`var(--heat-${i})`, text))), ...idle.map((c) => swatch(causeColour(c), `idle: ${scene.causes.get(c) ?? c}`)));
  fillLegend();
  const tools = h("div", { class: "tools" }, ...viewButtons(whole, () => scene, set),
    zoomStep >= 0 ? h("button", { type: "button", click: () => set({ from: steps!.start[zoomStep]!, to: steps!.start[zoomStep]! + steps!.duration[zoomStep]! }) }, "One step") : null,
    hasTensor ? h("label", {}, "Colour kernels by ", h("select", { change: (event: Event) => { scene.colourBy = (event.target as HTMLSelectElement).value as Scene["colourBy"]; fillLegend(); repaint(); } },
      h("option", { value: "type" }, "layer type"), h("option", { value: "tensor" }, "tensor issue"))) : null);
  return section("timeline", "Timeline", timeline.shown < timeline.total ? `${count(timeline.shown)} of ${count(timeline.total)} events: ${timeline.note}` : `${count(timeline.total)} events`,
    tools, h("div", { class: "canvas" }, canvas), facts, legend);
}
