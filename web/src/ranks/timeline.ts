// All ranks on one timeline: the steps of each, its waiting and transfers on the common clock, and the rank on the critical path.
import type { CollectiveRow, JobRanks } from "../model.ts";
import type { Report } from "../page_data.ts";
import { Lane, Timeline } from "../timeline/events.ts";
import { timelineSection } from "../timeline/section.ts";

/** The name of a collective everywhere; its number tells those of a kind apart. */
export function collectiveName(row: CollectiveRow, place: number, groups: number): string {
  return `${row.type.replaceAll("_", " ")} ${row.sequence >= 0 ? row.sequence : place + 1}${groups > 1 && row.group ? ` in ${row.group}` : ""}${row.step === null ? "" : `, step ${row.step}`}`;
}

interface Span { start: number; duration: number; name: string }

class Texts {
  readonly all = [""];
  private readonly numbers = new Map<string, number>();
  number(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    this.numbers.set(text, this.all.length);
    return this.all.push(text) - 1;
  }
}

function laneOf(kind: "steps" | "wait" | "move" | "band", title: string, group: string, rank: number, spans: Span[], from: number, texts: Texts): Lane {
  spans.sort((a, b) => a.start - b.start);
  const lane = Lane.of(kind, title, group, rank, { start: Float64Array.from(spans, (span) => span.start - from), duration: Float64Array.from(spans, (span) => span.duration) });
  lane.name.set(spans.map((span) => texts.number(span.name)));
  return lane;
}

function timelineOf(job: JobRanks): Timeline | null {
  const texts = new Texts(), begins = [...job.ranks.map((rank) => rank.start_ns), ...job.steps.map((step) => step.start_ns), ...job.collectives.flatMap((row) => row.ranks.map((each) => each.start_ns))];
  const ends = [...job.ranks.map((rank) => rank.start_ns + rank.span_ns), ...job.collectives.flatMap((row) => row.ranks.map((each) => each.start_ns + each.duration_ns))];
  const from = begins.reduce((a, b) => Math.min(a, b), Infinity), to = ends.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!(to > from)) return null;
  const path = laneOf("band", "rank on the critical path", "", -1, job.critical_path.map((piece) => ({ start: piece.start_ns, duration: piece.duration_ns, name: `rank ${piece.rank}` })), from, texts);
  const waits = new Map<number, Span[]>(), moves = new Map<number, Span[]>();
  for (const { rank } of job.ranks) {
    waits.set(rank, []);
    moves.set(rank, []);
  }
  job.collectives.forEach((row, place) => {
    const name = collectiveName(row, place, job.groups.length);
    for (const each of row.ranks) {
      if (each.wait_ns > 0) waits.get(each.rank)?.push({ start: each.start_ns, duration: each.wait_ns, name });
      moves.get(each.rank)?.push({ start: each.start_ns + each.wait_ns, duration: each.transfer_ns, name });
    }
  });
  const lanes = job.ranks.flatMap(({ rank }) => {
    const group = `rank ${rank}`, steps = job.steps.filter((step) => step.rank === rank).map((step) => ({ start: step.start_ns, duration: step.duration_ns, name: `step ${step.step}` }));
    return [laneOf("steps", "steps", group, rank, steps, from, texts), laneOf("wait", "waits for other ranks", group, rank, waits.get(rank)!, from, texts), laneOf("move", "transfers", group, rank, moves.get(rank)!, from, texts)];
  });
  const all = [path, ...lanes].filter((lane) => lane.count > 0), shown = all.reduce((sum, lane) => sum + lane.count, 0);
  return all.length === 0 ? null : Timeline.of({ start: from, duration: to - from, shown, total: shown, texts: texts.all }, all);
}

/** A timeline needs the page's answer for names and sums; of ranks there is none of a single device. */
export function ranksTimeline(job: JobRanks): HTMLElement | null {
  const timeline = timelineOf(job);
  if (!timeline) return null;
  const nothing = { devices: [], kernels: [], layers: [], energy: { devices: [] }, samples: { devices: [], start_ns: 0, bucket_ns: 1 } };
  return timelineSection({ page: "ranks", hasTimeline: true, timeline: Promise.resolve(timeline), labels: { levels: [], causes: [], bars: [], phases: [], energy: [], readings: [] }, analysis: nothing } as unknown as Report);
}
