// The data inside the page: the analysis (docs/analysis.schema.json), single events for the timeline, and words.

export interface NamedTime { name: string; ns: number }
export interface IdleCause { cause: string; ns: number; gaps: number; operators: NamedTime[]; modules: NamedTime[] }
export interface Level { id: string; value: number | null; low: number | null; high: number | null; unit: string; coverage: number | null; why_missing: string }
export interface WaterfallBar { id: string; label: string; ns: number; parts: NamedTime[] }
export interface Device {
  id: number; name: string; span_ns: number; busy_ns: number; kernel_busy_ns: number; kernel_time_sum_ns: number; idle_ns: number;
  gpu_events: number; kernels: number; idle: IdleCause[]; waterfall: WaterfallBar[];
}
export interface Distribution {
  count: number; min: number; p5: number; p25: number; median: number; p75: number; p95: number; max: number; mean: number; shape: number[];
}
export interface LevelSpread { id: string; value: number | null; spread: Distribution }
export interface Layer { type: string; name: string; phase: string; kernels: number; ns: number; share: number | null; levels: LevelSpread[] }
export interface Kernel {
  name: string; short_name: string; layer_type: string; operator: string; count: number; counted: number; ns: number; duration_sum_ns: number;
  share: number | null; grid: string; block: string; registers: number; shared_bytes: number; duration: Distribution; levels: LevelSpread[];
}
export interface Source { path: string; format: string; framework: string; events: number; bytes: number }
export interface Step { index: number; start_ns: number; duration_ns: number; stable: boolean }
export interface Match {
  trace_kernels: number; report_kernels: number; matched: number; ambiguous: number; trace_only: number; report_only: number;
  confidence: number | null; verdict: string; note: string; copies_of_report: number;
}
export interface PhaseTime { phase: string; ns: number; share: number | null; present_ns: number; per_item_ns: number | null }
export interface DepthBucket { start_ns: number; duration_ns: number; min: number; max: number; mean: number }
export interface Queue {
  id: string; kind: string; items: number; from_before: number; max_depth: number; mean_depth: number; empty_ns: number; empty: number | null;
  wait: Distribution; when_empty: PhaseTime[]; when_loaded: PhaseTime[]; curve: DepthBucket[];
  dry: { start_ns: number; duration_ns: number; phases: PhaseTime[]; host: string }[];
}
export interface RuntimeMark { kind: string; name: string; start_ns: number; duration_ns: number; bytes: number }
export interface IdleOrigin { cause: string; phase: string; operation: string; module: string; python: string; ns: number; gaps: number; share: number | null; speedup: number | null }
export interface Runtime {
  start_ns: number; duration_ns: number; modes: string[]; items: number | null; phases: PhaseTime[];
  kernels: { cpu_kernel: number | null; gpu_kernel: number | null; both: number | null; overhead: number | null; overhead_per_item_ns: number | null };
  operation_count: number; operations: { type: string; count: number; total_ns: number; phases: { phase: string; total_ns: number; spread: Distribution }[] }[];
  queues: Queue[]; waits: RuntimeMark[]; transfers: RuntimeMark[];
  idle: IdleOrigin[];
}
export interface EnergyPart { component: string; nj: number; low_nj: number; high_nj: number; share: number | null }
export interface EnergyRow { name: string; type: string; phase: string; kernels: number; ns: number; nj: number; share: number | null; parts: EnergyPart[] }
export interface DeviceEnergy {
  device: number; name: string; start_ns: number; span_ns: number; source: string; counts_source: string; coverage: number | null; nj: number; mean_watts: number;
  sm_mhz: number | null; celsius: number | null; parts: EnergyPart[];
  step: { count: number; joules: number; seconds: number; edp: number; joules_per_item: number | null } | null;
  steps: EnergyRow[]; layer_types: EnergyRow[]; layers: EnergyRow[]; kernels: EnergyRow[]; power: { ns: number; watts: number }[]; warnings: { code: string; text: string }[];
}
export interface EnergyUse { model: string; model_gpu: string; model_date: string; gain_error: number | null; why_missing: string; devices: DeviceEnergy[] }
/** One metric over the window; of a count, mean, low, high and values are rates. */
export interface SampledReading { id: string; unit: string; mean: number | null; low: number | null; high: number | null; total: number | null; values: (number | null)[] }
export interface SampledDevice {
  id: number; name: string; source: string; samples: number; sample_ns: number; covered_ns: number; step_ns: number | null; step_confidence: number | null; readings: SampledReading[];
}
export interface SampledUse { start_ns: number; bucket_ns: number; devices: SampledDevice[]; host: SampledReading[]; idle_devices: number }
export interface Analysis {
  schema: string; source: Source; counters_source: Source | null; quality: { code: string; count: number; detail: string }[];
  window: { kind: string; start_ns: number; end_ns: number; duration_ns: number; step_source: string; steps: Step[]; all_steps: Step[] };
  devices: Device[]; levels: Level[]; match: Match; runtime: Runtime;
  layer_types: Layer[]; layers: Layer[]; kernels: Kernel[]; tensor_curve: { utilization: number; time_share: number }[];
  energy: EnergyUse; samples: SampledUse;
  findings: { id: string; text: string; evidence: string; gain_ns: number | null }[];
}

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
