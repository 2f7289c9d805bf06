// The colours of events as small numbers, so that a million of them are a byte each.
import { causeColour, resolve, typeColour } from "../parts/colours.ts";
import type { Lane, Timeline } from "./events.ts";
import { mixed, packedColour } from "./pixels.ts";

export type ColourBy = "type" | "tensor" | "issue" | "sm";

/** Share of a colour that stays where a search has not found an event. */
const FADED = 0.16;
/** And of one where events are summed up. */
const PALE = 0.45;

export class Palette {
  private readonly variables: string[] = [];
  private readonly numbers = new Map<string, number>();
  full = new Uint32Array(0);
  faded = new Uint32Array(0);
  /** Colors of merged events, where one would look for the events. */
  pale = new Uint32Array(0);
  paper = 0; line = 0; ink = 0; dim = 0; panel = 0; accent = 0;
  css: Record<"ink" | "dim" | "onFill" | "accent" | "paper", string> = { ink: "", dim: "", onFill: "", accent: "", paper: "" };

  number(variable: string): number {
    let number = this.numbers.get(variable);
    if (number === undefined) {
      number = this.variables.length;
      this.variables.push(variable);
      this.numbers.set(variable, number);
    }
    return number;
  }

  /** The values that the colours have in the present theme. */
  resolve(): void {
    const colour = (name: string): number => packedColour(resolve(`var(--${name})`));
    [this.paper, this.line, this.ink, this.dim, this.panel, this.accent] = [colour("paper"), colour("line"), colour("ink"), colour("dim"), colour("panel"), colour("accent")];
    this.css = { ink: resolve("var(--ink)"), dim: resolve("var(--dim)"), onFill: resolve("var(--on-fill)"), accent: resolve("var(--accent)"), paper: resolve("var(--paper)") };
    this.full = Uint32Array.from(this.variables, (variable) => packedColour(resolve(variable)));
    this.faded = Uint32Array.from(this.full, (value) => mixed(value, this.paper, FADED));
    this.pale = this.full.map((value) => mixed(value, this.paper, PALE));
  }
}

/** A level in thousandths + 1, 0 without data, as one of six steps. */
function heat(value: number): string {
  if (value === 0) return "var(--type-other)";
  return `var(--heat-${Math.min(5, value === 1 ? 0 : 1 + Math.floor((value - 1) / 100))})`;
}

/** The colour of every event of a lane. */
export function laneColours(timeline: Timeline, lane: Lane, by: ColourBy, palette: Palette): Uint8Array {
  const colours = new Uint8Array(lane.count);
  if (lane.kind === "idle") {
    for (let i = 0; i < lane.count; ++i) colours[i] = palette.number(causeColour(timeline.text(lane.name[i])));
    return colours;
  }
  if (lane.kind !== "stream") return colours.fill(palette.number(`var(--${{ steps: "step", band: "band", api: "api", python: "python", queue: "queue", curve: "line-issue", wait: "bar-waiting", move: "exchange" }[lane.kind as string] ?? "host"})`));
  const level = by === "type" ? null : lane.column(by);
  if (by !== "type") {
    const steps = Uint8Array.from({ length: 1002 }, (_, value) => palette.number(heat(value)));
    return colours.map((_, i) => steps[level?.[i] ?? 0]!);
  }
  const bySite = timeline.sites.map((site) => palette.number(typeColour(site.type))), sites = lane.column("site");
  for (let i = 0; i < lane.count; ++i) colours[i] = bySite[sites?.[i] ?? 0] ?? 0;
  return colours;
}
