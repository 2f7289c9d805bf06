// The timeline: every event of the window on one clock, with search, sums of a span, and ways to the tables and back.
import type { Report } from "../page_data.ts";
import { commandNote } from "../parts/note.ts";
import { causeColour, typeColour } from "../parts/colours.ts";
import { h, section } from "../parts/dom.ts";
import { count, plural, time } from "../parts/format.ts";
import { onShow, type Asked } from "../parts/links.ts";
import { hideTip, showTip } from "../parts/tips.ts";
import { viewButtons, type View } from "../parts/view.ts";
import { shortFacts } from "./details.ts";
import type { EventAt, Timeline } from "./events.ts";
import { placeOf, search, step } from "./filter.ts";
import { readFragment, writeFragment, type Place } from "./fragment.ts";
import type { ColourBy } from "./palette.ts";
import { eventPanel, factList, rangePanel, type PanelActions } from "./panel.ts";
import { Picture } from "./picture.ts";
import { addTracks } from "./tracks.ts";

const HELP = "Hover for details; click to pin them. Drag, or A and D, to move; W and S to zoom; Shift and drag, or drag on the axis, to sum a span.";

/** Everything that can be done with a timeline that is there. */
class Desk {
  private readonly picture: Picture;
  private readonly panel = h("div", { class: "facts-panel", "aria-live": "polite" }, h("span", { class: "dim" }, HELP));
  private readonly found = h("output", { class: "told", "aria-live": "polite" });
  private readonly field = h("input", { type: "search", change: () => this.find(this.field.value), keydown: (event: KeyboardEvent) => this.key(event) });
  private readonly back = h("button", { type: "button", hidden: true }, "Back to the table");
  private readonly mode = h("button", { type: "button", "aria-pressed": "false", click: () => this.mode.setAttribute("aria-pressed", String(this.mode.getAttribute("aria-pressed") !== "true")) }, "Choose a span");
  private readonly coarse = h("div", { class: "coarse", "aria-live": "polite" });
  private readonly legend = h("ul", { class: "legend" });
  private readonly actions: PanelActions;
  private colourBy: ColourBy = "type";
  private waiting = 0;

  constructor(private readonly report: Report, private readonly timeline: Timeline) {
    const causes = new Map(report.labels.causes.map((cause) => [cause.id, cause.text]));
    this.picture = new Picture(timeline, causes, {
      hover: (event) => this.hover(event), press: (event) => this.choose(this.picture.find(event), false),
      select: (view, done) => this.select(view, done), selecting: () => this.mode.getAttribute("aria-pressed") === "true",
    });
    this.actions = { find: (text) => this.find(text), zoom: (view) => this.picture.show(view), choose: (at) => this.choose(at, true), clear: () => this.clear() };
    this.picture.changed = () => this.remember();
    this.picture.coarse = (is) => this.tellCoarse(is);
    onShow((asked) => this.answer(asked));
    const asksFor = report.page === "ranks" ? "collective, step" : "kernel, operator, module";
    this.field.placeholder = asksFor;
    this.field.setAttribute("aria-label", `Search events: ${asksFor}`);
    this.fillLegend();
    addEventListener("hashchange", () => this.go(readFragment(timeline)));
    this.picture.show(this.oneStep() ?? { from: 0, to: timeline.duration });
    this.go(readFragment(timeline));
  }

  /** Shows what an address says. */
  private go(place: Place | null): void {
    if (!place) return;
    Object.assign(this.picture.scene, { range: null, chosen: null });
    if (place.view) this.picture.show(place.view);
    this.find(place.find, false);
    if (place.range) this.select(place.range, true);
    if (place.chosen) this.choose(place.chosen, false);
    if (place.chosen) this.picture.bringToSight(place.chosen);
  }

  elements(): HTMLElement[] {
    const whole = this.timeline.duration, step = this.oneStep();
    const move = (text: string, label: string, forward: boolean): HTMLElement => h("button", { type: "button", "aria-label": label, click: () => this.next(forward) }, text);
    return [
      h("div", { class: "tools" }, h("div", { class: "search" }, this.field, move("\u2039", "Previous event found", false), move("\u203a", "Next event found", true), this.found), this.back),
      h("div", { class: "tools" }, ...viewButtons(whole, () => this.picture.scene.view, (view) => this.picture.show(view)),
        step ? h("button", { type: "button", click: () => this.picture.show(step) }, "One step") : null, this.mode, this.colourChoice()),
      this.picture.element, this.coarse, this.panel, this.legend];
  }

  /** Beyond what the page holds one by one: the command for a page that does. */
  private tellCoarse(is: boolean): void {
    const { from, to } = this.picture.scene.view, path = this.report.analysis.source.path, begin = Math.round(from + this.timeline.start - this.timeline.origin);
    const file = /^[\w./:@%+=-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
    const command = `gpufathom analyze ${file} --window ${Math.max(begin, 0)}:${Math.max(begin, 0) + Math.round(to - from)} -o part.html`;
    if (this.coarse.dataset.command === (is ? command : "")) return;
    this.coarse.dataset.command = is ? command : "";
    this.coarse.replaceChildren(...(is ? [commandNote(`Faint: events that this page holds only as sums by cells of time. A page with every event of these ${time(to - from)}:`, command)] : []));
  }

  private oneStep(): View | null {
    const steps = this.timeline.lanes.find((lane) => lane.kind === "steps");
    if (!steps || steps.count < 2) return null;
    const middle = Math.floor(steps.count / 2);
    return { from: steps.start[middle]!, to: steps.start[middle]! + steps.duration[middle]! };
  }

  private hover(event: PointerEvent | null): void {
    const hit = event ? this.picture.find(event) : null, before = this.picture.scene.hit;
    if (event && hit) showTip("timeline", event.clientX, event.clientY, ...factList(shortFacts(this.report, this.timeline, hit)));
    else hideTip("timeline");
    if (hit?.lane === before?.lane && hit?.item === before?.item) return;
    this.picture.scene.hit = hit;
    this.picture.repaint();
  }

  private choose(at: EventAt | null, show: boolean): void {
    const { scene } = this.picture;
    scene.chosen = at;
    if (at) this.panel.replaceChildren(...eventPanel(this.report, this.timeline, at, this.actions));
    else if (!scene.range) this.panel.replaceChildren(h("span", { class: "dim" }, HELP));
    if (at && show) this.bring(at);
    if (scene.search && at) this.tell(at);
    this.picture.repaint();
    this.remember();
  }

  /** Moves so that an event stands in the middle, wide enough to be seen. */
  private bring(at: EventAt): void {
    const { view } = this.picture.scene, start = at.lane.start[at.item]!, length = at.lane.duration[at.item]!, span = view.to - view.from;
    const wanted = length > 0 && length < span / 60 ? length * 30 : Math.max(length * 1.5, Math.min(span, this.timeline.duration));
    if (start < view.from || start + length > view.to || length < span / 400 || wanted > span) this.picture.show({ from: start + length / 2 - wanted / 2, to: start + length / 2 + wanted / 2 });
    this.picture.bringToSight(at);
  }

  private select(view: View, done: boolean): void {
    this.picture.scene.range = view;
    this.picture.repaint();
    if (!done) return;
    this.picture.scene.chosen = null;
    this.panel.replaceChildren(...rangePanel(this.report, this.timeline, view, this.actions));
    this.remember();
  }

  private clear(): void {
    Object.assign(this.picture.scene, { chosen: null, range: null });
    this.panel.replaceChildren(h("span", { class: "dim" }, HELP));
    this.picture.repaint();
    this.remember();
    this.picture.canvas.focus({ preventScroll: true });
  }

  /** Marks what a search finds; with `go` the first of it is chosen. */
  private find(text: string, go = true): void {
    const { scene } = this.picture;
    this.field.value = text;
    scene.search = search(this.timeline, scene.layout.bands, text);
    this.found.textContent = scene.search ? plural(scene.search.count, "event") + this.alsoMerged() : "";
    if (go && scene.search && scene.search.count > 0) this.next(true, null);
    this.picture.repaint();
    this.remember();
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== "Enter" || this.field.value !== this.picture.scene.search?.text) return;
    event.preventDefault();
    this.next(!event.shiftKey);
  }

  private next(forward: boolean, from: EventAt | null = this.picture.scene.chosen): void {
    const { scene } = this.picture;
    if (!scene.search || scene.search.text !== this.field.value.trim()) return this.find(this.field.value);
    const at = step(scene.search, this.timeline.lanes, from, scene.view.from, forward);
    if (at) this.choose(at, true);
  }

  private tell(at: EventAt): void {
    const { search: found } = this.picture.scene;
    if (!found?.byLane.has(at.lane)) return;
    this.found.textContent = `${count(placeOf(found, at))} of ${plural(found.count, "event")}${this.alsoMerged()}`;
  }

  private alsoMerged(): string {
    const merged = this.picture.scene.search?.merged ?? 0;
    return merged > 0 ? `, and ${count(merged)} merged` : "";
  }

  /** Shows what a table or a finding asks for. */
  private answer(asked: Asked): void {
    if (asked.find !== undefined) this.find(asked.find);
    else {
      const from = asked.from - this.timeline.start, to = asked.to - this.timeline.start;
      this.picture.show({ from: from - (to - from) / 2, to: to + (to - from) / 2 });
    }
    this.back.hidden = !asked.back;
    this.back.onclick = () => {
      asked.back!.scrollIntoView({ block: "center" });
      asked.back!.focus({ preventScroll: true });
      this.back.hidden = true;
    };
    this.picture.element.closest("section")!.scrollIntoView({ block: "start" });
    this.picture.canvas.focus({ preventScroll: true });
  }

  private remember(): void {
    clearTimeout(this.waiting);
    const { view, range, chosen, search: found } = this.picture.scene;
    this.waiting = setTimeout(() => writeFragment(this.timeline, { view, range, chosen, find: found?.text ?? "" }), 150) as unknown as number;
  }

  private colourChoice(): HTMLElement | null {
    const streams = this.timeline.lanes.filter((lane) => lane.kind === "stream");
    const levels = ([["tensor", "tensor issue"], ["issue", "issue slots"], ["sm", "SM active"]] as const).filter(([id]) => streams.some((lane) => lane.column(id) !== null));
    if (levels.length === 0) return null;
    return h("label", {}, "Color kernels by ", h("select", { change: (event: Event) => {
      this.colourBy = (event.target as HTMLSelectElement).value as ColourBy;
      this.picture.colour(this.colourBy);
      this.fillLegend();
    } }, h("option", { value: "type" }, "layer type"), ...levels.map(([id, text]) => h("option", { value: id }, text))));
  }

  private fillLegend(): void {
    const swatch = (colour: string, text: string): HTMLElement => h("li", {}, h("span", { class: "swatch", style: `background:${colour}` }), text);
    const types = [...new Set(this.timeline.sites.map((site) => site.type))].filter(Boolean).sort();
    const shown = this.report.analysis.devices.flatMap((device) => device.idle.filter((cause) => cause.ns > 0).map((cause) => cause.cause));
    const heat = ["0 %", "< 10 %", "< 20 %", "< 30 %", "< 40 %", "40 % and more"];
    const ranks = this.timeline.lanes.some((lane) => lane.kind === "wait" || lane.kind === "move") ? [swatch("var(--bar-waiting)", "waits for other ranks"), swatch("var(--exchange)", "transfers")] : [];
    this.legend.replaceChildren(...ranks, ...(this.colourBy === "type" ? types.map((type) => swatch(typeColour(type), type)) : heat.map((text, i) => swatch(`var(--heat-${i})`, text))),
      ...[...new Set(shown)].map((cause) => swatch(causeColour(cause), `idle: ${this.report.labels.causes.find((each) => each.id === cause)?.text ?? cause}`)));
  }
}

/** The section at once; its picture when the events are there. */
export function timelineSection(report: Report): HTMLElement | null {
  if (!report.hasTimeline) return null;
  const wait = h("p", { class: "note" }, "Reading the events\u2026"), remark = h("span", {}), box = section("timeline", "Timeline", "", wait);
  box.classList.add("unread");  // not on paper yet
  box.querySelector("header")!.append(h("p", { class: "remark" }, remark));
  void report.timeline.then((timeline) => {
    if (!timeline || timeline.duration <= 0 || timeline.lanes.length === 0) return box.remove();
    addTracks(report, timeline);
    remark.textContent = `all ${plural(timeline.total, "event")} of the window${timeline.shown < timeline.total ? `: ${count(timeline.shown)} one by one, the others as exact sums by cells of time` : ""}`;
    wait.remove();
    box.classList.remove("unread");
    box.append(...new Desk(report, timeline).elements());
    performance.mark("timeline");
  });
  return box;
}
