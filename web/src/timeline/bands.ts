// Layout of the lanes. Lanes of one device or thread form a group; groups and lanes fold.
import type { Lane, LaneKind, Timeline } from "./events.ts";
import { cellAt } from "./cells.ts";
import { nearest, rowsOf, type Row } from "./rows.ts";

/** Fingers need targets of 24 pixels; parts.css has the same condition. */
const TOUCHED = matchMedia("(pointer: coarse), (max-width: 560px)").matches;
export const ROW = 16, TITLE = TOUCHED ? 24 : 18, GROUP = TOUCHED ? 24 : 22, GAP = 4, CURVE = 40;

export interface Band {
  lane: Lane;
  rows: Row[];
  rowOf: Uint16Array | null;
  colours: Uint8Array;
  folded: boolean;
  /** Top of the title, top of the first row, end of the last one. */
  top: number; body: number; bottom: number;
  hidden: boolean;
  /** The largest value of a curve. */
  most: number;
}

export interface Group { name: string; bands: Band[]; folded: boolean; top: number; bottom: number }

const CURVES: LaneKind[] = ["queue", "curve"];

export function isCurve(band: Band): boolean { return CURVES.includes(band.lane.kind); }

function events(group: { bands: Band[] }): number { return group.bands.reduce((sum, band) => sum + band.lane.events, 0); }

export class Layout {
  readonly groups: Group[] = [];
  readonly bands: Band[];
  height = 0;

  constructor(timeline: Timeline) {
    this.bands = timeline.lanes.map((lane): Band => {
      let most = 0;
      for (const value of lane.column("depth") ?? []) if (value > most) most = value;
      return { lane, ...rowsOf(lane), colours: new Uint8Array(0), folded: lane.kind === "python", top: 0, body: 0, bottom: 0, hidden: false, most };
    });
    for (const band of this.bands) {
      const last = this.groups.find((group) => group.name === band.lane.group);
      if (last) last.bands.push(band);
      else this.groups.push({ name: band.lane.group, bands: [band], folded: false, top: 0, bottom: 0 });
    }
    this.foldTheIdle();
    this.place();
  }

  /** Folds threads that launch nothing and hold little, where there are many. */
  private foldTheIdle(): void {
    const hosts = this.groups.filter((group) => group.name !== "" && group.bands.every((band) => band.lane.device < 0));
    const all = hosts.reduce((sum, group) => sum + events(group), 0);
    if (hosts.length < 4) return;
    for (const group of hosts) group.folded = events(group) < all / 50 && !group.bands.some((band) => band.lane.kind === "api" && band.lane.events > 20);
  }

  place(): void {
    let at = 4;
    for (const group of this.groups) {
      group.top = at;
      if (group.name !== "") at += GROUP;
      for (const band of group.bands) {
        band.hidden = group.folded;
        band.top = band.body = band.bottom = at;
        if (band.hidden) continue;
        band.body = at + TITLE;
        band.bottom = band.body + (isCurve(band) ? CURVE : ROW * (band.folded ? 1 : band.rows.length));
        at = band.bottom + GAP;
      }
      group.bottom = at;
      at += GAP;
    }
    this.height = at;
  }

  bandOf(lane: Lane): Band { return this.bands.find((band) => band.lane === (lane.of ?? lane))!; }

  /** The top of the row that an event stands in, on the whole picture. */
  topOf(lane: Lane, item: number): number {
    const band = this.bandOf(lane);
    if (band.hidden) return this.groups.find((group) => group.bands.includes(band))!.top + GROUP / 2 - ROW / 2;
    return band.body + (band.folded ? 0 : ((lane.of ? lane.column("row") : band.rowOf)?.[item] ?? 0) * ROW);
  }

  at(time: number, height: number, slack: number): { lane: Lane; item: number } | null {
    const band = this.bands.find((each) => !each.hidden && height >= each.body && height < each.bottom);
    if (!band || band.lane.kind === "curve") return null;
    const row = band.rows[isCurve(band) ? 0 : Math.floor((height - band.body) / ROW)];
    const item = row ? nearest(row, time, slack) : null;
    if (item !== null) return { lane: band.lane, item };
    const cell = row?.cells ? cellAt(row.cells, time) : null;
    return cell === null ? null : { lane: band.lane.sums!, item: cell };
  }
}
