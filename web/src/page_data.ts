// The data inside the page: the analysis (model.ts, made from its declaration), single events for the timeline, and words.
import type { Analysis } from "./model.ts";

/** One band of the timeline. The columns run in parallel; one that does not apply is empty. Times count from the timeline's start. */
export interface Lane {
  kind: "steps" | "stream" | "idle" | "queue" | "host" | "api"; title: string; device: number; rows: number;
  start: number[]; duration: number[]; row: number[]; name: number[]; op: number[]; module: number[]; type: number[];
  tensor: number[]; launch: number[]; launch_lane: number[];
  low: number[]; depth: number[];  // of a queue: smallest and largest depth in the span
}
export interface Timeline { start_ns: number; duration_ns: number; texts: string[]; lanes: Lane[]; shown: number; total: number; note: string }

export interface Label { id: string; text: string; short_text: string; meaning: string }
export interface Report {
  version: string; headline: string; subject: string; shortcomings: string[]; exact: string; analysis: Analysis; timeline: Timeline | null;
  labels: { levels: Label[]; causes: Label[]; bars: Label[]; phases: Label[]; energy: Label[]; readings: Label[] };
}

/** Reads the block that the report writer put into the page: gzip in base64. `exact` is the analysis as it was written: its
 *  last key, with times that a JavaScript number cannot hold. */
export async function readReport(text: string): Promise<Report> {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const json = await new Response(stream).text();
  return { ...(JSON.parse(json) as Report), exact: json.slice(json.lastIndexOf(',"analysis":{') + 12, -1) };
}
