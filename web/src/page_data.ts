// The data inside the page: the answer (model.ts, made from its declaration) with words, and apart from it the timeline's events.
import type { Analysis, CallNode, WorkUse } from "./model.ts";
import type { Timeline } from "./timeline/events.ts";

/** A step with every set of some changes: bit i of a set's number is change i (analyze/results/whatif.def). */
export interface WhatIfSwitches { own_ns: number; switches: { change: string; meaning: string }[]; step_ns: number[] }
export interface Label { id: string; text: string; short_text: string; meaning: string }
export interface Report {
  /** The kind of the page, and its beginning. */
  page: "analysis" | "energy" | "compare" | "ranks" | "sweep" | "claims";
  version: string; headline: string; subject: string; shortcomings: string[]; exact: string; analysis: Analysis;
  labels: { levels: Label[]; causes: Label[]; bars: Label[]; phases: Label[]; energy: Label[]; readings: Label[] };
  /** Operations, bytes, roofline, memory; null without a device. */
  work: WorkUse | null;
  /** Device time by module and by call path; empty without a trace. */
  tree: CallNode[];
  /** A step with every set of changes that recommendations ask for; null where replay knows none. */
  switches: WhatIfSwitches | null;
  /** True if there is a timeline to come. */
  hasTimeline: boolean;
  /** Comes after the page is there: unpacking a million events takes a moment. */
  timeline: Promise<Timeline | null>;
}

interface NewBytes { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }

function decoded(text: string): Uint8Array<ArrayBuffer> {
  const modern = (Uint8Array as NewBytes).fromBase64;
  if (modern) return modern.call(Uint8Array, text);
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** A block of the page: gzip in base64. */
export async function unpacked(text: string): Promise<ArrayBuffer> {
  const stream = new Blob([decoded(text.trim())]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** `exact` is the analysis as it was written: its last key, with times that a JavaScript number cannot hold. */
export async function readReport(text: string): Promise<Report> {
  const json = new TextDecoder().decode(await unpacked(text));
  return { ...(JSON.parse(json) as Report), exact: json.slice(json.lastIndexOf(',"analysis":{') + 12, -1) };
}
