// The timeline's canvases: an axis that stays, under it the bands, of which only those in sight are painted.
import { repainter } from "../parts/canvas.ts";
import { timeMarks } from "../parts/axis.ts";
import { h } from "../parts/dom.ts";
import { count } from "../parts/format.ts";
import { clampView, steer, type Steering, type View } from "../parts/view.ts";
import { paintFrames } from "./arrows.ts";
import { GROUP, Layout, TITLE, type Band, type Group } from "./bands.ts";
import type { EventAt, Timeline } from "./events.ts";
import { laneColours, Palette, type ColourBy } from "./palette.ts";
import { paintNames, paintPixels, type Scene } from "./paint.ts";
import { Pixels } from "./pixels.ts";
import { indexCells } from "./cells.ts";
import { indexRow } from "./rows.ts";

const AXIS = 22;

export class Picture {
  readonly scene: Scene;
  readonly element: HTMLElement;
  readonly canvas = h("canvas", { class: "events", tabindex: 0, role: "application", "aria-roledescription": "timeline",
    "aria-label": "Timeline. A and D or arrows move, W and S zoom, 0 shows everything. Search finds events by name and the Next and Previous buttons choose them." });
  private readonly axis = h("canvas", { class: "axis", "aria-hidden": "true" });
  private readonly labels = h("div", { class: "labels" });
  private readonly inner: HTMLElement;
  private readonly scroller: HTMLElement;
  private pixels = new Pixels(1, 1);
  readonly repaint: () => void;
  /** Told after the view or what is chosen has changed. */
  changed: () => void = () => {};
  /** Told when cells of merged events have become too wide to tell what ran when, or are so no more. */
  coarse: (is: boolean) => void = () => {};

  constructor(timeline: Timeline, causes: Map<string, string>, steering: Steering) {
    const layout = new Layout(timeline);
    this.scene = { timeline, layout, palette: new Palette(), view: { from: 0, to: timeline.duration }, width: 1, height: 1, scroll: 0, ratio: 1, search: null, range: null, hit: null, chosen: null, causes, coarse: false };
    this.inner = h("div", { class: "inner" }, this.canvas, this.labels);
    this.scroller = h("div", { class: "scroller", scroll: () => this.repaint() }, this.inner);
    this.element = h("div", { class: "canvas" }, this.axis, this.scroller);
    this.repaint = repainter(this.scroller, () => this.paint());
    for (const canvas of [this.canvas, this.axis])
      steer(canvas, timeline.duration, () => this.scene.view, (view) => this.show(view), canvas === this.axis ? { ...steering, hover: () => {}, selecting: () => true } : steering);
    this.colour("type");
    this.label();
  }

  colour(by: ColourBy): void {
    for (const band of this.scene.layout.bands) {
      band.colours = laneColours(this.scene.timeline, band.lane, by, this.scene.palette);
      const sums = band.lane.sums ? laneColours(this.scene.timeline, band.lane.sums, by, this.scene.palette) : null;
      for (const row of band.rows) {
        indexRow(row, band.colours);
        if (row.cells) indexCells(row.cells, sums!);
      }
    }
    this.repaint();
  }

  show(view: View): void {
    this.scene.view = clampView(view, this.scene.timeline.duration);
    this.repaint();
    this.changed();
  }

  /** Unfolds and scrolls so that an event can be seen. */
  bringToSight({ lane, item }: EventAt): void {
    const band = this.scene.layout.bandOf(lane), group = this.scene.layout.groups.find((each) => each.bands.includes(band))!;
    if (group.folded || (band.folded && (band.rowOf?.[item] ?? 0) > 0)) {
      group.folded = band.folded = false;
      this.place();
    }
    const top = this.scene.layout.topOf(lane, item);
    if (top < this.scroller.scrollTop + TITLE || top > this.scroller.scrollTop + this.scroller.clientHeight - 2 * TITLE) this.scroller.scrollTop = top - this.scroller.clientHeight / 3;
  }

  /** The event under a point of the window. */
  find(event: { clientX: number; clientY: number }): EventAt | null {
    const at = this.canvas.getBoundingClientRect(), perPixel = (this.scene.view.to - this.scene.view.from) / at.width;
    return this.scene.layout.at(this.scene.view.from + (event.clientX - at.left) * perPixel, event.clientY - at.top + this.scene.scroll, 2 * perPixel);
  }

  private place(): void {
    this.scene.layout.place();
    this.label();
    this.repaint();
  }

  private label(): void {
    const { groups, height } = this.scene.layout, limit = Math.max(240, Math.min(innerHeight * 0.72, 900));
    this.inner.style.height = `${height}px`;
    this.scroller.style.height = `${Math.min(height, limit)}px`;
    const toggle = (of: Band | Group, text: string, height: number, className: string): HTMLElement => {
      const button = h("button", { type: "button", class: className, "aria-expanded": String(!of.folded), title: text, style: `top:${of.top}px;height:${height}px`, click: () => {
        of.folded = !of.folded;
        const again = [...this.labels.children].indexOf(button);
        this.place();
        (this.labels.children[again] as HTMLElement | undefined)?.focus();
      } }, h("span", { class: "sign", "aria-hidden": "true" }, of.folded ? "\u25b8" : "\u25be"), text);
      return button;
    };
    this.labels.replaceChildren(...groups.flatMap((group) => [
      group.name === "" ? null : toggle(group, `${group.name}${group.folded ? `: ${group.bands.map((band) => `${count(band.lane.events)} ${band.lane.title}`).join(", ")}` : ""}`, GROUP, "group"),
      ...group.bands.filter((band) => !band.hidden).map((band) => {
        const title = band.lane.kind === "queue" ? `${band.lane.title}, at most ${band.most}` : band.lane.title;
        if (band.rows.length > 1) return toggle(band, `${title}${band.folded ? `, ${band.rows.length} deep` : ""}`, TITLE, "band");
        return h("span", { class: "band", style: `top:${band.top}px;height:${TITLE}px` }, title);
      })]).filter((label): label is HTMLElement => label !== null));
  }

  private paint(): void {
    const { scene } = this, width = this.scroller.clientWidth, height = this.scroller.clientHeight;
    if (width === 0) return;
    const begin = performance.now(), ratio = devicePixelRatio || 1;
    Object.assign(scene, { width, height, ratio, scroll: this.scroller.scrollTop });
    scene.palette.resolve();
    if (this.pixels.width !== Math.round(width * ratio) || this.pixels.height !== Math.round(height * ratio)) this.pixels = new Pixels(Math.round(width * ratio), Math.round(height * ratio));
    const context = this.sized(this.canvas, width, height, ratio);
    const before = scene.coarse;
    paintPixels(scene, this.pixels);
    if (before || scene.coarse) this.coarse(scene.coarse);
    this.pixels.show(context);
    context.scale(ratio, ratio);
    paintNames(scene, context);
    paintFrames(scene, context);
    this.paintAxis(width, ratio);
    // For tests: what is in sight, in ns, and how long it took.
    Object.assign(this.canvas.dataset, { from: Math.round(scene.view.from), to: Math.round(scene.view.to), ms: (performance.now() - begin).toFixed(2) });
  }

  private sized(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): CanvasRenderingContext2D {
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    return canvas.getContext("2d")!;
  }

  private paintAxis(width: number, ratio: number): void {
    const { view, palette } = this.scene, context = this.sized(this.axis, width, AXIS, ratio);
    context.scale(ratio, ratio);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = palette.css.dim;
    for (const { at, text } of timeMarks(view.from, view.to, width)) {
      const left = Math.round(((at - view.from) / (view.to - view.from)) * width);
      context.fillRect(left, AXIS - 5, 1, 5);
      context.fillText(text, left + 4, 10);
    }
  }
}
