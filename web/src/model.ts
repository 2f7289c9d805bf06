// The answers of analyze, as docs/analysis.schema.json has it, and of compare.
// Made by `./dev docs` from src/analyze/results/*.def and src/analyze/names/*.def: change those.

export type WindowKind =
  | "all"
  | "recording_window"
  | "steps"
  | "stable"
  | "step"
  | "range"
  | "common";

/** One of the runs. */
export interface ComparedRun {
  /** input file. */
  path: string;
  /** all captures of its version, where several are compared as one; `path` is the one with the middle step, which the tables are of. */
  captures: string[];
  /** the shortest end of the path that no other run has. */
  label: string;
  /** product name of its first device. */
  device: string;
  /** devices that worked. */
  devices: number;
  /** its window: all, recording_window, steps, stable, step, range or common. */
  window: WindowKind;
  /** what made its steps. */
  step_source: string;
  /** steps in its window. */
  steps: number;
  /** windows of all its devices together; without device work, of the host. */
  total_ns: number;
  /** the same for one step, rounded; without steps the total. */
  time_ns: number;
  /** the same by the clock: of one device, not of all together. */
  wall_ns: number;
  /** kernel time of a step, over all devices; without steps of the window. */
  kernel_ns: number;
  /** items of a step. */
  batch: number | null;
  /** given, shapes, or empty when it is not known. */
  batch_source: string;
  /** tokens of a step, by recorded sizes. */
  tokens: number | null;
  /** wall_ns for one item. */
  item_ns: number | null;
  /** items per second. */
  items_per_s: number | null;
  /** tokens per second, where the program has tokens. */
  tokens_per_s: number | null;
  /** achieved operations a second, of all devices together: a model, or measured. */
  flops_per_s: number | null;
  /** model FLOPs utilization. */
  mfu: number | null;
  /** measured energy of a step; without steps of the window. */
  joules: number | null;
  /** the same for one item. */
  joules_per_item: number | null;
  /** types in which its matrix products read, by kernel names, most time first. */
  precision: string;
  /** what recorded it, and what else it recorded. */
  profiler: string;
  /** the profiler is likely to have slowed the host. */
  slowed: boolean;
  /** of `wall_ns`, what the profiler itself may have taken at most. */
  profiler_ns: number;
  /** rank of a distributed job. */
  rank: number | null;
  /** duration of each step. */
  step_ns: number[];
  /** time of the first run over the time of this one: of an item where both batches are known, else of a step by the clock. */
  speedup: number | null;
}

export type ComparedVerdict =
  | "faster"
  | "slower"
  | "no_difference"
  | "undecided"
  | "same_job"
  | "not_known"
  | "different_programs";

/** The verdict about a run compared with the first. */
export interface ComparedChange {
  /** which, counted from 0. */
  run: number;
  /** no_difference (within 3 %, shown), faster, slower, undecided, same_job (ranks of one job), different_programs, or not_known: too few steps to tell noise, or inputs of another size. */
  verdict: ComparedVerdict;
  /** why nothing is judged, such as steps of another kind or a capture given twice; empty: it is judged. */
  refused: string;
  /** what the ratios are of: item, step or window. */
  of: string;
  /** its time over that of the first. */
  ratio: number | null;
  /** lower end of the ratio's 95 % interval. */
  low: number | null;
  /** upper end. */
  high: number | null;
  /** the same of the kernel time alone. */
  kernel_verdict: ComparedVerdict;
  /** its kernel time over that of the first. */
  kernel_ratio: number | null;
  /** lower end of that ratio's 95 % interval. */
  kernel_low: number | null;
  /** upper end. */
  kernel_high: number | null;
  /** captures of the version that has fewer. */
  captures: number;
  /** of an undecided verdict: about how many captures of each version, recorded in turns, would decide; null where nobody can tell. */
  captures_needed: number | null;
  /** what the interval does not say, a sentence each: rare long steps, a tail, a single capture. */
  remarks: string[];
  /** least ratio of the programs without their profilers: the first with all of its time, this one less what its profiler may have taken; null where no profiler slowed a host. */
  own_low: number | null;
  /** the greatest: the other way round. */
  own_high: number | null;
}

export type ComparedSetting =
  | "device"
  | "device_count"
  | "batch"
  | "tokens"
  | "precision"
  | "profiler"
  | "steps"
  | "length"
  | "rank";

/** Something other than the program that differs between the runs. */
export interface ComparedDifference {
  /** device, device_count, batch, tokens, precision, profiler, steps (what made them), length (how many) or rank. */
  setting: ComparedSetting;
  /** by run; empty: not known. */
  values: string[];
}

/** One level, for every run. */
export interface ComparedLevel {
  /** metric id. */
  id: string;
  /** share of the window, by run. */
  value: (number | null)[];
}

export type ComparedRowKind =
  | "idle"
  | "copy"
  | "layer_type"
  | "layer"
  | "kernel"
  | "bar"
  | "phase";

/** One part of the time, for every run in the order of `runs`. */
export interface ComparedTime {
  /** idle, copy, layer_type, layer, kernel, phase (of the runtime) or, of samples alone, bar. */
  kind: ComparedRowKind;
  /** cause, layer, kernel, phase or bar. */
  name: string;
  /** the same for a table: kernels by their short name, and what distinguishes those that look alike. */
  label: string;
  /** device time, by run; of phases wall time. */
  ns: number[];
  /** less that of the first run, by run. */
  change_ns: number[];
  /** kernel instances a step, by run. */
  count: (number | null)[];
}

/** One queue, for every run. */
export interface ComparedQueue {
  /** framework, threadpool, or device:N. */
  id: string;
  /** mean depth over the window, by run. */
  mean_depth: (number | null)[];
  /** share of the window in which it was empty, by run. */
  empty: (number | null)[];
  /** median time from entering to leaving, by run. */
  wait_ns: (number | null)[];
}

export type TrainingPhase =
  | "other"
  | "forward"
  | "backward"
  | "optimizer"
  | "recompute"
  | "all"
  | "";

/** Kernel time of one operator with one set of inputs in one module and phase, for every run. */
export interface ComparedShape {
  /** operator; kernels without recorded shapes are one row. */
  name: string;
  /** phase. */
  phase: TrainingPhase;
  /** sizes of its inputs. */
  shapes: string;
  /** its module; * for numbers in which equal blocks differ. */
  module: string;
  /** line of the program, of the last run that says it. */
  python: string;
  /** kernel time, by run; all rows sum to `kernel_ns` of the run. */
  ns: number[];
  /** less that of the first run, by run. */
  change_ns: number[];
  /** calls a step, by run; 0: the run does not have it. */
  calls: (number | null)[];
  /** data types of its inputs, by run. */
  types: string[];
  /** operations a second of the median call, by run. */
  flops_per_s: (number | null)[];
  /** bytes a second of the median call, by run. */
  bytes_per_s: (number | null)[];
  /** kernel with most of its time, by run. */
  kernels: string[];
}

/** What the program computes in a phase, whatever the operators and kernels for it are called; kernel time for every run. */
export interface ComparedRole {
  /** layer types, such as Normalization; several where a compiler joined them in a run. */
  role: string;
  /** phase; all: a run does not tell phases apart. */
  phase: TrainingPhase;
  /** kernel time, by run; all rows sum to `kernel_ns` of the run. */
  ns: number[];
  /** less that of the first run, by run. */
  change_ns: number[];
  /** kernels a step, by run; 0: the run lacks the role. */
  calls: (number | null)[];
  /** kernel with most of its time, by run. */
  kernels: string[];
}

export type ComparedProgram =
  | "same"
  | "other_size"
  | "different";

/** Whether a run does the same work as the first. */
export interface ComparedLikeness {
  /** which run, counted from 0. */
  run: number;
  /** same, other_size (the same program on other inputs of unknown batch) or different. */
  program: ComparedProgram;
  /** share of the kernels of a step with the same role in the same order. */
  alike: number | null;
  /** share of the weights of forward passes that have the same sizes; null without shapes. */
  weights: number | null;
  /** in which way, where the program is not `same`. */
  differs: string;
  /** time of its kernels over that of the first, where all changed alike, as by a clock, power limit or another GPU; null where they did not. */
  common_ratio: number | null;
}

export type TreeNodeKind =
  | "window"
  | "phase"
  | "module"
  | "operator"
  | "python"
  | "annotation"
  | "kernel"
  | "copy"
  | "idle"
  | "others";

/** A node of the differential call tree. What lies under a node sums to it, for every run. */
export interface ComparedNode {
  /** number of the node. */
  id: number;
  /** the node above it; null at the top. */
  parent: number | null;
  /** nodes above it. */
  depth: number;
  /** window, phase, module, operator, kernel, copy, idle (by cause) or others. */
  kind: TreeNodeKind;
  /** what it is. */
  name: string;
  /** device time, by run; the top has `time_ns`. */
  ns: number[];
  /** less that of the first run, by run. */
  change_ns: number[];
}

export type CulpritKind =
  | "slower"
  | "replaced"
  | "more_calls"
  | "new"
  | "idle"
  | "few_steps";

/** A role, copies, or an idle cause that adds time to a run; up to three, the most first. */
export interface ComparedCulprit {
  /** which run, counted from 0. */
  run: number;
  /** slower: the same kernels; replaced: other kernels; more_calls; new: the first run does not have the role; idle: an idle cause; few_steps: single steps, in or outside the window. */
  kind: CulpritKind;
  /** layer types, kind of copy, idle, or outlier steps (which the window leaves out). */
  role: string;
  /** of idle time: its cause. */
  cause: string;
  /** the operator that gained most in it; of idle time and outlier steps, what the host did longer for most of it. */
  name: string;
  /** phase. */
  phase: TrainingPhase;
  /** sizes of its inputs, where these have most of the gain. */
  shapes: string;
  /** module with most of the gain. */
  module: string;
  /** line of the program, where stacks were recorded. */
  python: string;
  /** the kernel that gained most time there. */
  kernel: string;
  /** the one in whose place it runs, if it was replaced. */
  kernel_before: string;
  /** what it adds to a step: device time, and the host's for added calls. */
  adds_ns: number;
  /** 2.5 % bound of that, by the spread of the steps; null with fewer than three. */
  low_ns: number | null;
  /** 97.5 % bound. */
  high_ns: number | null;
  /** of it, of the host for added calls, as far as the device idles more. */
  host_ns: number;
  /** device time of the role in the first run; where batches differ, for as many items. */
  before_ns: number;
  /** in this one. */
  after_ns: number;
  /** kernels or copies a step in the first run; of few_steps all steps. */
  calls_before: number;
  /** in this one; of few_steps those that it is in. */
  calls_after: number;
}

/** What one stream ran in a step; what is too short to see is joined. */
export interface ComparedLane {
  /** stream. */
  name: string;
  /** after the start of the step. */
  start: number[];
  /** durations. */
  length: number[];
  /** of `names`: the longest of those that are joined. */
  what: number[];
  /** how many are joined. */
  events: number[];
}

/** The step of median length of a run's first device, for a picture. */
export interface ComparedStrip {
  /** which run, counted from 0. */
  run: number;
  /** length of the step; of the window without steps. */
  ns: number;
  /** short names of kernels and copies. */
  names: string[];
  /** layer type of each. */
  types: string[];
  /** streams, the busiest first, eight at most. */
  lanes: ComparedLane[];
}

export type CheckOutcome =
  | "ok"
  | "failed"
  | "undecided"
  | "refused";

/** One --fail-on rule, tried on one run. */
export interface ComparedCheck {
  /** as it was given. */
  rule: string;
  /** which run, counted from 0. */
  run: number;
  /** what was compared with the limit, in the limit's unit (per cent, nanoseconds or joules). */
  value: number | null;
  /** lower end of its 95 % interval, in the same unit. */
  low: number | null;
  /** upper end. */
  high: number | null;
  /** the run is worse than the rule allows. */
  failed: boolean;
  /** ok, failed, undecided (no data, or too few captures or steps to tell), refused (a run is incomplete, or the runs cannot be compared). */
  outcome: CheckOutcome;
  /** undecided: about how many captures of each version, recorded in turns, would decide. */
  captures_needed: number | null;
  /** one sentence. */
  text: string;
}

/** The answer of `gpufathom compare`. */
export interface Comparison {
  /** name and version of this layout. */
  schema: string;
  /** what times are of: a step or the window. */
  per: string;
  /** the runs are ranks of one job, which wait for each other: none is faster. */
  ranks_of_one_job: boolean;
  /** the runs, in the order given. */
  runs: ComparedRun[];
  /** each run but the first, compared with the first. */
  changes: ComparedChange[];
  /** what differs other than the program and may explain a difference in time. */
  differences: ComparedDifference[];
  /** the ladder of each run. */
  levels: ComparedLevel[];
  /** idle causes, copies and layer types, or bars of the waterfall, or, where a run has no device work, phases of the runtime; sum to time_ns. */
  time: ComparedTime[];
  /** bars of the waterfall, down to the SMs and tensor cores where counters are; sum to time_ns of each run with device work. */
  waterfall: ComparedTime[];
  /** the runtime's phases for a step; sum to its span for a step. */
  phases: ComparedTime[];
  /** the queues of each run. */
  queues: ComparedQueue[];
  /** kernel time by layer. */
  layers: ComparedTime[];
  /** kernel time by kernel. */
  kernels: ComparedTime[];
  /** kernel time by operator and shapes. */
  shapes: ComparedShape[];
  /** kernel time by role, the largest change first. */
  roles: ComparedRole[];
  /** of each run but the first: whether it does the same work. */
  likeness: ComparedLikeness[];
  /** differential call tree: phase, module, operators, kernel; the largest change first. */
  tree: ComparedNode[];
  /** of each run, up to three: what adds most time beyond noise. */
  culprits: ComparedCulprit[];
  /** a step of each run, for the page's timelines. */
  strips: ComparedStrip[];
  /** --fail-on rules and what became of them. */
  checks: ComparedCheck[];
}

/** A file that was read. */
export interface SourceInfo {
  /** input file. */
  path: string;
  /** importer that read it. */
  format: string;
  /** pytorch, jax, tensorflow or empty. */
  framework: string;
  /** events in the source, damaged ones included. */
  events: number;
  /** bytes of the source after decompression. */
  bytes: number;
}

/** Damage of the input, or a suspected error. */
export interface QualityNote {
  /** kind of damage or suspected error. */
  code: string;
  /** how often. */
  count: number;
  /** one sentence, with the first place where it happened. */
  detail: string;
}

/** Kernels that repeat, and nothing shows that they are steps: mostly layers of one pass. */
export interface BlockInfo {
  /** blocks; 0: nothing repeats, or there are steps. */
  count: number;
  /** kernels of a block. */
  kernels: number;
  /** a block's median time. */
  duration_ns: number;
  /** the module that the host calls once a block, or empty. */
  module: string;
  /** where four and more that are no module's begin, on the capture's clock, after a pause inside the first of them alone: what is before happens once. */
  begin_ns: number | null;
}

export type StepRole =
  | "ordinary"
  | "start_up"
  | "outlier";

/** One training or inference iteration. */
export interface StepInfo {
  /** step number of the source. */
  index: number;
  /** start. */
  start_ns: number;
  /** duration. */
  duration_ns: number;
  /** at or after the first stable step. */
  stable: boolean;
  /** ordinary; start_up or outlier: far longer than others, left out of the steps' window, the mean step and advice. */
  role: StepRole;
}

/** The fuller side of a gap that takes more than half of the window. */
export interface DenseSpan {
  /** the gap: nothing ran on any device. */
  gap_ns: number;
  /** start of that side, on the capture's clock. */
  start_ns: number;
  /** length of that side. */
  duration_ns: number;
  /** share of it in which kernels run, over all devices. */
  kernel_busy: number | null;
  /** what most of the rest of it goes to, over all devices: an idle cause, or copy. */
  loss: string;
  /** that time, of all devices together. */
  loss_ns: number;
  /** the same as a share of that side, over all devices. */
  loss_share: number | null;
  /** what --window takes to analyze that side alone. */
  window: string;
}

/** What lies outside the steps, where that takes longer than they do. */
export interface OutsideSteps {
  /** from the first activity to the last, less the steps. */
  duration_ns: number;
  /** of it, kernels run on some device. */
  kernel_busy_ns: number;
  /** of it, only copies and sets run. */
  copies_ns: number;
  /** of it, nothing runs while the host allocates or frees memory. */
  allocation_ns: number;
}

/** The half-open span that is analyzed. */
export interface WindowInfo {
  /** all; common: all, as one span for several devices; recording_window, steps, stable, step or range. */
  kind: WindowKind;
  /** start on the capture's clock. */
  start_ns: number;
  /** end, exclusive. */
  end_ns: number;
  /** length. */
  duration_ns: number;
  /** what made the steps: a mark, a sampler and the copy of its tokens, a period of the kernel sequence, or none. */
  step_source: string;
  /** how alike the detected steps are, 0..1; null with marks. */
  step_confidence: number | null;
  /** what shows that a period is one of steps: the optimizer, the data loader, .... */
  step_sign: string;
  /** what repeats in a capture without steps. */
  blocks: BlockInfo;
  /** steps inside the window. */
  steps: StepInfo[];
  /** steps of the whole capture. */
  all_steps: StepInfo[];
  /** where one gap is most of the window: the rest. */
  dense: DenseSpan | null;
  /** where most of the capture is outside the steps: what is there. */
  outside: OutsideSteps | null;
  /** time of the window that the profiler itself may have taken, at most: what it recorded of the host, as far as a device was idle; null where no profiler slowed the host. */
  profiler_ns: number | null;
}

export type IdleReason =
  | "launch_bound"
  | "sync"
  | "memcpy"
  | "input"
  | "communication"
  | "dependency"
  | "kernel_gap"
  | "host_other"
  | "allocation"
  | "start_up"
  | "unexplained"
  | "no_launch_record"
  | "not_recorded"
  | "no_samples";

/** How long something took. */
export interface NamedTime {
  /** what. */
  name: string;
  /** how long. */
  ns: number;
}

/** Idle time with one cause. */
export interface IdleCause {
  /** why the device idled. */
  cause: IdleReason;
  /** idle time with this cause. */
  ns: number;
  /** number of idle spans. */
  gaps: number;
  /** framework operations on the launching thread. */
  operators: NamedTime[];
  /** modules of those operations. */
  modules: NamedTime[];
}

/** One rung of the ladder: value = low when everything is known, [low, high] when some kernels have no counters. */
export interface Level {
  /** metric id of the catalog. */
  id: string;
  /** share of the window, taking the unknown as 0; null: no data. */
  value: number | null;
  /** bound with every unknown kernel at 0, or at the level that is a part of it. */
  low: number | null;
  /** bound with every unknown kernel at its upper level. */
  high: number | null;
  /** low and high come from launch shapes and the limits of the chip, without a counter; there is no value. */
  estimated: boolean;
  /** unit. */
  unit: string;
  /** share of kernel time that has data. */
  coverage: number | null;
  /** the same with kernels weighted by the report's cycles instead of the trace's time. */
  by_cycles: number | null;
  /** counters it comes from. */
  formula: string;
  /** what to collect when there is no data. */
  why_missing: string;
}

export type Bar =
  | "idle"
  | "copy"
  | "waiting"
  | "sm_inactive"
  | "stalled"
  | "other_instructions"
  | "tensor"
  | "unknown";

/** One bar of the waterfall; the bars of a device add up to its window exactly. */
export interface WaterfallBar {
  /** bar: idle, copy, sm_inactive, stalled, other_instructions, tensor, unknown. */
  id: Bar;
  /** display name. */
  label: string;
  /** time of the window lost or used here. */
  ns: number;
  /** the same time by cause, copy direction or layer type. */
  parts: NamedTime[];
  /** the same time by kernel. */
  kernels: NamedTime[];
}

/** How one device was used. */
export interface DeviceUse {
  /** device number. */
  id: number;
  /** product name. */
  name: string;
  /** start of this device's window. */
  start_ns: number;
  /** length of this device's window. */
  span_ns: number;
  /** union of kernels, copies and sets. */
  busy_ns: number;
  /** union of kernels. */
  kernel_busy_ns: number;
  /** sum of kernel durations (the papers' ratio). */
  kernel_time_sum_ns: number;
  /** busy with copies or sets and no kernel. */
  copy_only_ns: number;
  /** kernels, copies and sets. */
  gpu_events: number;
  /** kernel instances. */
  kernels: number;
  /** span less busy and unrecorded. */
  idle_ns: number;
  /** worked by its samples while nothing that was recorded ran; 0 where gaps between kernels explain it, or nothing was sampled. */
  unrecorded_ns: number;
  /** idle time by cause; sums to idle_ns. */
  idle: IdleCause[];
  /** the ladder of this device. */
  levels: Level[];
  /** bars that sum to span_ns. */
  waterfall: WaterfallBar[];
}

export type OtherReason =
  | "copies_only"
  | "few_kernels"
  | "idle"
  | "not_chosen";

/** A device of the capture that the answer does not speak of: it does not work, or --devices leaves it out. */
export interface OtherDevice {
  /** device number. */
  id: number;
  /** product name. */
  name: string;
  /** copies_only: it runs no kernel; few_kernels: under a hundredth of the kernel time of the device with most; idle: it does nothing in the window; not_chosen: --devices. */
  why: OtherReason;
  /** kernel instances in the window. */
  kernels: number;
  /** copies and sets in the window. */
  copies: number;
  /** union of kernels, copies and sets. */
  busy_ns: number;
}

export type WorkSource =
  | ""
  | "model"
  | "measured";

export type ItemsSource =
  | ""
  | "option"
  | "shapes";

/** Items and tokens per second. */
export interface Throughput {
  /** steps in the window. */
  steps: number;
  /** mean time of a step. */
  step_ns: number | null;
  /** items of a step: --batch, or from shapes. */
  items: number | null;
  /** option or shapes. */
  items_source: ItemsSource;
  /** the operation and sizes that it comes from. */
  items_from: string;
  /** tokens of a step, where the program has tokens. */
  tokens: number | null;
  /** items per second. */
  items_per_s: number | null;
  /** tokens per second. */
  tokens_per_s: number | null;
  /** energy of all devices, per item. */
  joules_per_item: number | null;
  /** operations of the model, per item. */
  flops_per_item: number | null;
}

export type MemorySource =
  | ""
  | "allocator_events"
  | "snapshot"
  | "board";

/** Memory of one device at its peak, and what is left of it. */
export interface MemoryRoom {
  /** device number. */
  device: number;
  /** allocator_events (profile_memory=True), snapshot, or board (NVML). */
  source: MemorySource;
  /** most bytes that the framework held; else of the board in use; else that tensors held. */
  peak: number;
  /** bytes that the device has. */
  capacity: number | null;
  /** capacity less the peak. */
  headroom: number | null;
  /** bytes that grow with the batch, where a larger one would run out first: activations and temporary memory. */
  growing: number | null;
  /** items of a step that would fit, where the step's items are known. */
  fitting_batch: number | null;
}

/** A summary of the work; `gpufathom work` has all of it. */
export interface WorkHeadline {
  /** achieved: operations of products and convolutions a second, of all devices together; null: neither sizes nor counts are known. */
  flops_per_s: number | null;
  /** model: what the program asks for by recorded sizes, recomputation left out; measured: operations that counters saw, on tensor cores and (where they were counted) beside them, where no sizes are known. */
  flops_source: WorkSource;
  /** tensor operations a second that counters saw; null without counters for every kernel. */
  measured_flops_per_s: number | null;
  /** model FLOPs utilization: operations of the model / (peak * window), of all devices. */
  mfu: number | null;
  /** data type of the peak: the fastest that products ran in, at least 16 bits. */
  peak_type: string;
  /** the data sheet's dense peak of that type, of all devices together. */
  peak_flops_per_s: number | null;
  /** share of the time of kernels that multiply, whose operations are known. */
  coverage: number | null;
  /** items and tokens per second. */
  throughput: Throughput;
  /** by device; empty: nothing recorded memory. */
  memory: MemoryRoom[];
}

export type StepKind =
  | "unknown"
  | "prefill"
  | "decode"
  | "mixed"
  | "chunked"
  | "speculative";

/** All steps of one kind in the window. */
export interface StepKindUse {
  /** which. */
  kind: StepKind;
  /** how many. */
  steps: number;
  /** of these, steps that CUDA graphs launched. */
  graphs: number;
  /** their time together. */
  duration_ns: number;
  /** the same as a share of all steps. */
  share: number | null;
  /** median time of a step. */
  p50_ns: number;
  /** nine of ten take no longer. */
  p90_ns: number;
  /** ninety-nine of a hundred take no longer. */
  p99_ns: number;
  /** tokens that went through the model; null where a step does not say. */
  run_tokens: number | null;
  /** of these, tokens of requests; null where a step does not say. */
  tokens: number | null;
  /** share of the tokens that went through the model and are of no request, in the steps that say both; null where under half do. */
  padding: number | null;
  /** DRAM throughput while these steps ran, as samples saw it, of the most; null without samples. */
  dram: number | null;
  /** model FLOPs utilization of these steps; null where the sizes of products are not recorded. */
  mfu: number | null;
  /** energy of all devices in these steps; null where the readings do not tell kinds apart. */
  joules: number | null;
  /** the same for each of `tokens`, else of `run_tokens`. */
  joules_per_token: number | null;
  /** time of these steps in which a device did nothing, of all devices. */
  idle_ns: number;
  /** the same by cause, most first. */
  idle: IdleCause[];
}

/** One request, by the marks that name it. */
export interface ServedRequest {
  /** its name in the marks. */
  id: string;
  /** when it arrived, where a mark says so. */
  arrival_ns: number | null;
  /** start of its first step. */
  start_ns: number;
  /** end of its last step. */
  end_ns: number;
  /** from its arrival to its first step. */
  queued_ns: number | null;
  /** from its arrival to its first token; null without an arrival. */
  first_token_ns: number | null;
  /** steps that it was in. */
  steps: number;
  /** its tokens in these. */
  tokens: number;
  /** its share of the time of its steps, by its tokens in each; all requests sum to the time of the steps that name any. */
  step_ns: number;
  /** its share of the energy of all devices in its steps, likewise, in nanojoules. */
  nj: number | null;
}

/** One step of a serving engine. */
export interface EngineStep {
  /** number of the step in window.all_steps. */
  index: number;
  /** start. */
  start_ns: number;
  /** duration. */
  duration_ns: number;
  /** prefill, decode, mixed (both), chunked (parts of prompts, and no token yet), speculative (tokens of a draft are checked) or unknown. */
  kind: StepKind;
  /** tokens that went through the model, with those that fill up a CUDA graph; null: not known. */
  run_tokens: number | null;
  /** of these, tokens of requests; null: not known. */
  tokens: number | null;
  /** requests of the step: the batch; without marks those that got a token. */
  requests: number | null;
  /** of these, requests whose prompt was done before. */
  decodes: number | null;
  /** tokens that requests got. */
  generated: number | null;
  /** CUDA graphs launched nine of ten kernels. */
  graph: boolean;
}

/** What a serving engine did in the window. */
export interface Serving {
  /** what shows the steps: window.step_source. */
  source: string;
  /** engines that the capture shows; with more than one the steps are those of one of them, and what all of them generated and took is not known. */
  engines: number;
  /** of kinds learned from kernels: the share of the steps whose tokens fit their kind; null with marks that say the kind. */
  kind_confidence: number | null;
  /** by kind, those that take most first. */
  kinds: StepKindUse[];
  /** from the first step that is no start-up to the end of the last. */
  duration_ns: number;
  /** tokens that requests got; null where a step does not say. */
  generated: number | null;
  /** the same a second. */
  tokens_per_second: number | null;
  /** energy of all devices from the first step to the last, for each of `generated`. */
  joules_per_token: number | null;
  /** median time from one token of a request to its next; null where steps do not say which requests go on. */
  between_p50_ns: number | null;
  /** nine of ten take no longer. */
  between_p90_ns: number | null;
  /** ninety-nine of a hundred take no longer. */
  between_p99_ns: number | null;
  /** median time to first token; null without marks of the requests' arrivals. */
  first_p50_ns: number | null;
  /** nine of ten take no longer. */
  first_p90_ns: number | null;
  /** ninety-nine of a hundred take no longer. */
  first_p99_ns: number | null;
  /** how much longer a mixed step takes than a decode step, medians: what prompts beside them cost the requests that decode. */
  mixed_longer_ns: number | null;
  /** requests of the middle step of those that decode. */
  batch_p50: number | null;
  /** the most requests of such a step. */
  batch_most: number | null;
  /** requests by their first step; empty where no mark names them. */
  requests: ServedRequest[];
  /** the steps in the window without start-up, by start. */
  steps: EngineStep[];
}

export type MatchVerdict =
  | "no_report"
  | "good"
  | "partial"
  | "different_program";

/** How trace and report kernels were paired. */
export interface MatchInfo {
  /** kernel instances of the trace window. */
  trace_kernels: number;
  /** kernel instances of the report. */
  report_kernels: number;
  /** trace kernels with one best partner. */
  matched: number;
  /** trace kernels paired with one of several equally good partners. */
  ambiguous: number;
  /** unmatched kernels of the trace. */
  trace_only: number;
  /** unmatched kernels of the report. */
  report_only: number;
  /** mean score of the pairs. */
  confidence: number | null;
  /** good, partial, different_program or no_report. */
  verdict: MatchVerdict;
  /** one sentence. */
  note: string;
  /** steps of the trace that the report was laid over. */
  copies_of_report: number;
}

export type RuntimePhase =
  | "gpu_kernel"
  | "cpu_kernel"
  | "dequeue"
  | "memcpy"
  | "wait"
  | "launch"
  | "enqueue"
  | "queued"
  | "other";

/** Time in one runtime phase. */
export interface PhaseTime {
  /** runtime phase. */
  phase: RuntimePhase;
  /** time labeled with this phase: where several hold at once the first in the order of this list; the list sums to its span. */
  ns: number;
  /** ns as a share of the span. */
  share: number | null;
  /** time in which this phase held at all, on any thread or device. */
  present_ns: number;
  /** ns for one item of the batch; null without a batch size or steps. */
  per_item_ns: number | null;
}

/** Who computes: the four parts sum to the window. */
export interface KernelShares {
  /** only kernels of the CPU run. */
  cpu_kernel_ns: number;
  /** only kernels of GPUs run. */
  gpu_kernel_ns: number;
  /** kernels of both run. */
  both_ns: number;
  /** no kernel runs: runtime overhead. */
  overhead_ns: number;
  /** share of the window. */
  cpu_kernel: number | null;
  /** share of the window. */
  gpu_kernel: number | null;
  /** share of the window. */
  both: number | null;
  /** share of the window. */
  overhead: number | null;
  /** runtime overhead for one item of the batch; null without a batch size or steps. */
  overhead_per_item_ns: number | null;
}

/** Weighted quantiles, and shares in equal bins. */
export interface Distribution {
  /** values. */
  count: number;
  /** smallest. */
  min: number;
  /** 5th percentile. */
  p5: number;
  /** 25th percentile. */
  p25: number;
  /** median. */
  median: number;
  /** 75th percentile. */
  p75: number;
  /** 95th percentile. */
  p95: number;
  /** largest. */
  max: number;
  /** mean. */
  mean: number;
  /** shares in 20 equal bins from min to max. */
  shape: (number | null)[];
}

/** One phase over the operations of a type. */
export interface PhaseSpread {
  /** runtime phase. */
  phase: RuntimePhase;
  /** sum over the operations. */
  total_ns: number;
  /** distribution over the operations that have this phase, in ns. */
  spread: Distribution;
}

/** Operations of one type. */
export interface OperationType {
  /** operation type, as the framework names it. */
  type: string;
  /** operations that began in the window. */
  count: number;
  /** all their phases together, host and device, overlaps included. */
  total_ns: number;
  /** how long each phase took. */
  phases: PhaseSpread[];
}

export type QueueKind =
  | "device"
  | "framework";

/** A stretch in which a queue was empty. */
export interface DrySpell {
  /** start. */
  start_ns: number;
  /** length. */
  duration_ns: number;
  /** what went on meanwhile; sums to duration_ns. */
  phases: PhaseTime[];
  /** what the thread that fills the queue was in for most of it: Python line or operation. */
  host: string;
}

/** The depth of a queue in a part of the window. */
export interface DepthBucket {
  /** start. */
  start_ns: number;
  /** length. */
  duration_ns: number;
  /** smallest depth inside. */
  min: number;
  /** largest depth inside. */
  max: number;
  /** mean depth inside. */
  mean: number;
}

/** A queue between host and device, or inside the framework. */
export interface QueueInfo {
  /** framework, threadpool, or device:N. */
  id: string;
  /** framework (operations waiting to be taken) or device (launches waiting to start). */
  kind: QueueKind;
  /** items that entered in the window. */
  items: number;
  /** items that were in the queue before the capture began. */
  from_before: number;
  /** largest depth. */
  max_depth: number;
  /** mean depth over the window. */
  mean_depth: number;
  /** time in which nothing was queued. */
  empty_ns: number;
  /** empty_ns as a share of the window. */
  empty: number | null;
  /** time from entering to leaving, in ns. */
  wait: Distribution;
  /** phases while it was empty; sums to empty_ns. */
  when_empty: PhaseTime[];
  /** phases while it was not; sums to the rest of the window. */
  when_loaded: PhaseTime[];
  /** the longest stretches in which it was empty. */
  dry: DrySpell[];
  /** depth over the window in equal parts. */
  curve: DepthBucket[];
}

/** A wait of a host thread for a value or for the device, or a transfer of data. */
export interface RuntimeMark {
  /** wait, or the direction of a transfer. */
  kind: string;
  /** operation and event. */
  name: string;
  /** start. */
  start_ns: number;
  /** length. */
  duration_ns: number;
  /** bytes moved, -1 unknown. */
  bytes: number;
}

/** Idle time with one cause, one operation and one line of the program behind it. */
export interface IdleOrigin {
  /** idle cause. */
  cause: IdleReason;
  /** runtime phase of the thread that launches. */
  phase: RuntimePhase;
  /** framework operation it was in. */
  operation: string;
  /** module of the kernel that came next. */
  module: string;
  /** Python line it was in, when the capture has stacks. */
  python: string;
  /** idle time, summed over the devices. */
  ns: number;
  /** stretches of idle time. */
  gaps: number;
  /** of the devices' windows. */
  share: number | null;
  /** Amdahl's bound: how many times faster the window would be without this idle time. */
  speedup: number | null;
}

/** Events that were taken for a phase. */
export interface PhaseSource {
  /** runtime phase. */
  phase: RuntimePhase;
  /** events that the rule takes: exact text, or a text with * where anything may stand. */
  event: string;
  /** where the framework writes them. */
  source: string;
  /** events of this capture it took. */
  events: number;
}

/** What the framework runtime did. */
export interface RuntimeInfo {
  /** start of the span. */
  start_ns: number;
  /** length of the span. */
  duration_ns: number;
  /** ways of execution seen: eager, eager_sync, eager_async, function, xla, compile, cuda_graphs. */
  modes: string[];
  /** batch size x steps in the span; null when one of them is not known. */
  items: number | null;
  /** phases of host and device; ns sums to duration_ns. */
  phases: PhaseTime[];
  /** who computes. */
  kernels: KernelShares;
  /** operations that began in the span. */
  operation_count: number;
  /** phases by type of operation, most time first; the first row, *, is all of them. */
  operations: OperationType[];
  /** queues over time. */
  queues: QueueInfo[];
  /** longest waits of the host. */
  waits: RuntimeMark[];
  /** longest transfers. */
  transfers: RuntimeMark[];
  /** why the GPU idled, most time first. */
  idle: IdleOrigin[];
  /** which events were taken for which phase. */
  rules: PhaseSource[];
}

export type LayerType =
  | "Other"
  | "Convolution"
  | "MatMul"
  | "Attention"
  | "Normalization"
  | "Embedding"
  | "Pooling"
  | "Activation"
  | "Elementwise"
  | "Reduction"
  | "Softmax"
  | "Loss"
  | "Recurrent"
  | "Optimizer"
  | "Communication"
  | "Copy"
  | "Data movement"
  | "Random";

/** One level over the instances of a layer or kernel, weighted by time. */
export interface LevelSpread {
  /** metric id. */
  id: string;
  /** time-weighted mean. */
  value: number | null;
  /** distribution over instances, weighted by time. */
  spread: Distribution;
}

/** A layer type, or a layer in one phase. */
export interface LayerRow {
  /** layer type. */
  type: LayerType;
  /** module path, or operator when no module is known. */
  name: string;
  /** forward, backward, recompute, optimizer or other. */
  phase: TrainingPhase;
  /** kernel instances. */
  kernels: number;
  /** exclusive kernel time. */
  ns: number;
  /** of the window. */
  share: number | null;
  /** levels inside its kernels. */
  levels: LevelSpread[];
}

/** All instances of one kernel. */
export interface KernelRow {
  /** kernel name. */
  name: string;
  /** name without namespaces, arguments and template details. */
  short_name: string;
  /** layer type of most of its time. */
  layer_type: string;
  /** operator of most of its time. */
  operator: string;
  /** instances. */
  count: number;
  /** instances with counters. */
  counted: number;
  /** exclusive time. */
  ns: number;
  /** sum of durations. */
  duration_sum_ns: number;
  /** exclusive time as a share of the window. */
  share: number | null;
  /** thread blocks of the first instance. */
  grid: string;
  /** threads a block of the first instance. */
  block: string;
  /** different grids among the instances. */
  grids: number;
  /** registers a thread, -1 unknown. */
  registers: number;
  /** shared memory a block, -1 unknown. */
  shared_bytes: number;
  /** thread blocks of the first instance over those that the GPU holds at once; empty where a limit is not known. */
  waves: number | null;
  /** warps that its blocks, registers and shared memory let an SM hold, of those that it can hold. */
  occupancy_limit: number | null;
  /** distribution of durations in ns. */
  duration: Distribution;
  /** levels inside the kernel. */
  levels: LevelSpread[];
}

/** Kernels ordered by tensor-issue utilization (DATE 2024, figure 8). */
export interface CurvePoint {
  /** tensor-issue utilization, 0..1. */
  utilization: number;
  /** share of kernel time at or below it. */
  time_share: number;
}

export type EnergySource =
  | ""
  | "energy_counter"
  | "power_instant"
  | "power_average";

export type CountsSource =
  | "none"
  | "samples"
  | "counter_report";

/** Energy of one component. */
export interface EnergyPart {
  /** static, active, instructions, pipe.*, tensor.*, shared, l1, tma, l2, dram, or rest: what the model does not explain, negative where it explains more than was measured. */
  component: string;
  /** energy in nanojoules. */
  nj: number;
  /** 2.5 % bound of the model. */
  low_nj: number;
  /** 97.5 % bound of the model. */
  high_nj: number;
  /** of the row's energy. */
  share: number | null;
}

/** How often something happened that costs energy. */
export interface EnergyCount {
  /** feature of the model, or what samples count in place of several: tensor.cycle, shared.access, l1.fill. */
  feature: string;
  /** in the window. */
  count: number;
}

/** The mean step. */
export interface EnergyStepMean {
  /** steps in the window. */
  count: number;
  /** mean energy of a step. */
  joules: number;
  /** mean duration of a step. */
  seconds: number;
  /** energy-delay product of the mean step, joule seconds. */
  edp: number;
  /** energy of one item of the batch: of --batch, else of what shapes tell; null without either. */
  joules_per_item: number | null;
}

/** The energy of a step, a layer type, a layer, a kernel, or of time without kernels. */
export interface EnergyRow {
  /** step, layer type, layer or kernel; (idle) and (copies) are time without kernels. */
  name: string;
  /** layer type, of layers. */
  type: string;
  /** forward, backward, recompute, optimizer or other, of layers. */
  phase: TrainingPhase;
  /** kernel instances. */
  kernels: number;
  /** exclusive time. */
  ns: number;
  /** energy in nanojoules, the rest included. */
  nj: number;
  /** of the device's energy. */
  share: number | null;
  /** of nj, what went in time in which the device only waits for other ranks; null: these are not known. */
  wait_nj: number | null;
  /** the same energy by component; sums to nj. */
  parts: EnergyPart[];
}

/** Power from one instant on. */
export interface EnergyReading {
  /** after the start of the device's window. */
  ns: number;
  /** power from here on. */
  watts: number;
}

/** A caveat about the energy. */
export interface EnergyWarning {
  /** kind of caveat. */
  code: string;
  /** what it means, and what to do. */
  text: string;
}

/** The energy of one device. */
export interface DeviceEnergy {
  /** device number. */
  device: number;
  /** product name. */
  name: string;
  /** start of the span. */
  start_ns: number;
  /** length of the span. */
  span_ns: number;
  /** what measured the energy: energy_counter, power_instant or power_average. */
  source: EnergySource;
  /** what counted accesses and operations: samples, counter_report or none. */
  counts_source: CountsSource;
  /** share of the window (samples) or of kernel time (report) that has counts. */
  coverage: number | null;
  /** update period of the sensor, as its readings show it: the window's ends are known to it; 0: not known. */
  period_ns: number;
  /** measured energy in nanojoules. */
  nj: number;
  /** measured energy over the span. */
  mean_watts: number;
  /** 2.5 % bound of the model's sum; null without model. */
  predicted_low_nj: number | null;
  /** 97.5 % bound of the model's sum. */
  predicted_high_nj: number | null;
  /** mean SM clock. */
  sm_mhz: number | null;
  /** lowest SM clock. */
  sm_mhz_low: number | null;
  /** mean temperature. */
  celsius: number | null;
  /** the energy by component; sums to nj; empty without a model. */
  parts: EnergyPart[];
  /** what the window's parts are made of; empty without a model or counts. */
  counts: EnergyCount[];
  /** the mean step; null without steps. */
  step: EnergyStepMean | null;
  /** by step, and the time outside steps; sums to nj. */
  steps: EnergyRow[];
  /** by layer type, largest first; with (idle) and (copies) sums to nj. */
  layer_types: EnergyRow[];
  /** by layer; sums to nj. */
  layers: EnergyRow[];
  /** by kernel; sums to nj. */
  kernels: EnergyRow[];
  /** time in which the device only waits for other ranks, which is part of the rows above; null: these are not known. */
  waiting: EnergyRow | null;
  /** power over the span. */
  power: EnergyReading[];
  /** doubts, and what to do. */
  warnings: EnergyWarning[];
}

/** Energy breakdown. */
export interface EnergyUse {
  /** file of the energy model, empty without one. */
  model: string;
  /** product it was measured on. */
  model_gpu: string;
  /** when. */
  model_date: string;
  /** systematic error of board sensors, outside every interval. */
  gain_error: number | null;
  /** why energy has no data, or no levels, and what to do. */
  why_missing: string;
  /** by device. */
  devices: DeviceEnergy[];
}

export type SampleSource =
  | "nvml"
  | "gpm"
  | "dcgm"
  | "pm_sampling";

/** One metric over the window; counts are given as rates, a second. */
export interface SampledReading {
  /** metric id. */
  id: string;
  /** unit of mean, low, high and values; of a count the unit a second. */
  unit: string;
  /** mean over the time that has data. */
  mean: number | null;
  /** lowest sample. */
  low: number | null;
  /** highest sample. */
  high: number | null;
  /** of a count: the sum over the window. */
  total: number | null;
  /** mean of each bucket of time; null: no data. */
  values: (number | null)[];
}

/** A device's samples. */
export interface SampledDevice {
  /** device number. */
  id: number;
  /** product name. */
  name: string;
  /** finest source of its levels: pm_sampling, gpm, dcgm or nvml. */
  source: SampleSource;
  /** samples of the first level. */
  samples: number;
  /** mean length of one. */
  sample_ns: number;
  /** time of the window that they cover. */
  covered_ns: number;
  /** period of the device's activity; null: none found. */
  step_ns: number | null;
  /** its normalized autocorrelation. */
  step_confidence: number | null;
  /** metrics over time. */
  readings: SampledReading[];
}

/** Levels and readings over time. */
export interface SampledUse {
  /** start of the first bucket. */
  start_ns: number;
  /** length of a bucket. */
  bucket_ns: number;
  /** each device's samples. */
  devices: SampledDevice[];
  /** the program's processes. */
  host: SampledReading[];
  /** devices that were recorded and never worked. */
  idle_devices: number;
}

export type Sharing =
  | "not_known"
  | "time_sliced"
  | "mps";

/** The part of a metric that belongs to a process, or to none. */
export interface TenantAmount {
  /** metric id. */
  id: string;
  /** unit: of a count the amount, of a level its part of the mean. */
  unit: string;
  /** by the split; the values of all processes and the rest sum to the total. */
  value: number;
  /** lower bound: what is certainly this process's. */
  low: number;
  /** what can be this process's. */
  high: number;
}

/** A process on a device that others use as well. */
export interface Tenant {
  /** process id. */
  pid: number;
  /** process name, where the capture has it. */
  name: string;
  /** kernel instances. */
  kernels: number;
  /** time in which it had kernels, copies or sets on the device. */
  active_ns: number;
  /** the part of it in which no other process had any. */
  alone_ns: number;
  /** alone, and an equal share of what it had together with others. */
  share_ns: number;
  /** its part of every metric. */
  amounts: TenantAmount[];
  /** its energy; processes and the rest sum to the device's. */
  nj: number | null;
  /** lower bound: what is certainly its energy. */
  low_nj: number | null;
  /** what can be its energy. */
  high_nj: number | null;
}

/** A device that several processes used, split among them. */
export interface SharedDevice {
  /** device number. */
  id: number;
  /** product name. */
  name: string;
  /** how the driver shares it. */
  sharing: Sharing;
  /** start of the first span in which all its processes were recorded. */
  start_ns: number;
  /** length of those spans. */
  span_ns: number;
  /** time in which several processes had work on it. */
  overlap_ns: number;
  /** time in which none of them had. */
  rest_ns: number;
  /** the part of the spans that samples cover. */
  sampled_ns: number;
  /** further processes that hold memory there and were not recorded. */
  others: number;
  /** its processes; shares of time and the rest sum to the span. */
  tenants: Tenant[];
  /** amounts that belong to no recorded process. */
  rest: TenantAmount[];
  /** amounts of the device. */
  total: TenantAmount[];
  /** energy of the device over the spans. */
  nj: number | null;
  /** energy while no process had work on it. */
  rest_nj: number | null;
  /** limits of the split, and how to overcome them. */
  cannot_tell: string;
}

export type FindingId =
  | "advice_withheld"
  | "little_work"
  | "warm_up_in_window"
  | "unrecorded_work"
  | "unresolved_kernels"
  | "launches_not_captured"
  | "unexplained_idle"
  | "different_program"
  | "weak_matching"
  | "autotuning"
  | "graph_capture"
  | "anomaly_mode"
  | "gil_stalls"
  | "activation_offload"
  | "unbatched_loop"
  | "cpu_operators"
  | "small_copies"
  | "data_dependent_sizes"
  | "deterministic"
  | "repeated_backward"
  | "recomputation"
  | "fp64"
  | "expanded_keys"
  | "growing_concat"
  | "contended_atomics"
  | "uneven_devices"
  | "plans_for_shapes"
  | "cache_swaps"
  | "host_sampling"
  | "scheduler_in_step"
  | "own_rule"
  | "launch_bound"
  | "host_bound"
  | "input_bound"
  | "sync_in_step"
  | "blocking_copies"
  | "device_allocations"
  | "recompilation"
  | "unfused_optimiser"
  | "exposed_communication"
  | "tiny_kernels"
  | "eager_attention"
  | "odd_sizes"
  | "no_channels_last"
  | "layout_copies"
  | "dense_embedding_gradients"
  | "small_batch"
  | "unfused_elementwise"
  | "casts"
  | "partial_warps"
  | "small_grids"
  | "eager_decodes"
  | "graph_padding"
  | "prompts_block_decodes"
  | "small_decodes"
  | "refused_drafts"
  | "repeated_factorization"
  | "register_spills"
  | "uncoalesced_access"
  | "bank_conflicts"
  | "partial_waves"
  | "warp_stalls"
  | "low_occupancy"
  | "fp32_without_tensor_cores"
  | "low_tensor_use"
  | "room_in_memory"
  | "memory_bound"
  | "missing_levels"
  | "kernel_bound"
  | "missing_counters"
  | "observer_effect"
  | "flight_moment"
  | "start_up_in_window"
  | "shallow_source"
  | "gpu_idle"
  | "sms_without_work"
  | "waiting_warps"
  | "idle_tensor_cores"
  | "held_clocks"
  | "unused_devices";

export type FindingGroup =
  | ""
  | "host"
  | "communication"
  | "kernels"
  | "batch"
  | "idle"
  | "sm_inactive"
  | "stalled";

export type FindingKind =
  | "caveat"
  | "cause"
  | "loss"
  | "note";

/** A stretch of time on the capture's clock. */
export interface Moment {
  /** start. */
  start_ns: number;
  /** duration. */
  duration_ns: number;
}

/** What costs time, what to change, and the numbers behind it. */
export interface Finding {
  /** kind of finding. */
  id: FindingId;
  /** what, and what to change. */
  text: string;
  /** the numbers behind it. */
  evidence: string;
  /** time it could give back at most. */
  gain_ns: number | null;
  /** what to run next, when there is something to run. */
  command: string;
  /** gains of findings in one group overlap: they count once. */
  group: FindingGroup;
  /** share of a step without recording that it gives when the program runs again. */
  replayed: number | null;
  /** the least that the change itself gives, by what recording may take of an event, how fast mended kernels are and what is unexplained. */
  replayed_low: number | null;
  /** the most. */
  replayed_high: number | null;
  /** nine of ten mended programs gained at least this, with whatever else was changed in them. */
  mended_low: number | null;
  /** and at most this. */
  mended_high: number | null;
  /** id of the row of --rules that says it; empty of the program's own. */
  rule: string;
  /** cause: what costs time, by name; loss: of a general kind; caveat: about the capture; note. */
  kind: FindingKind;
  /** gain_ns as a share of the window, over all devices. */
  share: number | null;
  /** share of a step that it adds once all above it are made, where that is less than it gives alone. */
  adds: number | null;
  /** the finding above (`rule`, or else `id`) whose change leaves little of this gain. */
  follows: string;
  /** the longest events that it speaks of. */
  moments: Moment[];
  /** statements of `query` that show its events. */
  queries: string[];
}

/** The program run again with all that its recommendations change. */
export interface ReplayedTogether {
  /** changes, of recommendations with `replayed`. */
  changes: number;
  /** share of a step without recording that they give together. */
  share: number | null;
  /** the least that the changes themselves give. */
  share_low: number | null;
  /** the most. */
  share_high: number | null;
  /** nine of ten mended programs gained at least this, with whatever else was changed in them. */
  mended_low: number | null;
  /** and at most this. */
  mended_high: number | null;
}

/** The answer of `gpufathom analyze`. */
export interface Analysis {
  /** name and version of this layout. */
  schema: string;
  /** the capture. */
  source: SourceInfo;
  /** the counter report, when there is one. */
  counters_source: SourceInfo | null;
  /** damage and suspected errors. */
  quality: QualityNote[];
  /** the analyzed span. */
  window: WindowInfo;
  /** use of each device that works. */
  devices: DeviceUse[];
  /** devices that only copy, hardly work or were left out. */
  other_devices: OtherDevice[];
  /** the ladder over all devices. */
  levels: Level[];
  /** achieved operations, items and tokens per second, in short. */
  work: WorkHeadline;
  /** steps, tokens and waits of a serving engine; null where nothing shows one. */
  serving: Serving | null;
  /** how trace and report kernels were paired. */
  match: MatchInfo;
  /** framework runtime phases. */
  runtime: RuntimeInfo;
  /** kernel time by layer type. */
  layer_types: LayerRow[];
  /** kernel time by layer. */
  layers: LayerRow[];
  /** kernel time by kernel. */
  kernels: KernelRow[];
  /** cumulative kernel time over tensor-issue utilization. */
  tensor_curve: CurvePoint[];
  /** energy breakdown; without devices when nothing measured power. */
  energy: EnergyUse;
  /** levels and readings over time; without devices when nothing was sampled. */
  samples: SampledUse;
  /** devices that several processes used. */
  tenants: SharedDevice[];
  /** what to change, with evidence. */
  findings: Finding[];
  /** what the recommendations give together; null with fewer than two changes. */
  together: ReplayedTogether | null;
}

/** Operations of products and convolutions of one data type. */
export interface WorkOfType {
  /** data type of the inputs: bf16, fp16, tf32, fp32, fp64, fp8, int8. */
  type: string;
  /** operations of the window; a multiply-add is two. */
  flops: number;
}

export type WorkFamily =
  | "none"
  | "product"
  | "convolution"
  | "attention"
  | "normalisation"
  | "softmax"
  | "embedding"
  | "optimiser"
  | "elementwise"
  | "reduction"
  | "data_movement"
  | "fused";

export type RoofLimit =
  | ""
  | "compute"
  | "memory";

export type NoShare =
  | ""
  | "cache"
  | "fewer_operations"
  | "above";

/** One operator with one set of shapes, types and strides in one module: its calls, their rates, and what they are of the roofline. One row holds all kernels without shapes. */
export interface OperatorWork {
  /** operator as the framework names it. */
  name: string;
  /** what it does, as far as its work goes; none: docs/work-models.md has no rule for it. */
  family: WorkFamily;
  /** forward, backward, recompute, optimizer or other. */
  phase: TrainingPhase;
  /** sizes of its inputs, such as 4096x768 * 768x3072. */
  shapes: string;
  /** data type that its products run in; of others, that of the first input. */
  type: string;
  /** data types of its inputs, such as bf16 * bf16. */
  types: string;
  /** strides of its inputs, such as 768,1 * 1,768; empty: not recorded. */
  strides: string;
  /** of convolutions and pooling: the inputs that are no tensors, as recorded. */
  arguments: string;
  /** calls in the window. */
  calls: number;
  /** kernels they launched. */
  kernels: number;
  /** exclusive time of these kernels; all rows sum to the kernel time. */
  ns: number;
  /** of the kernel time. */
  share: number | null;
  /** kernel time of the fastest whole call. */
  ns_min: number | null;
  /** kernel time of the median call. */
  ns_median: number | null;
  /** kernel time of the slowest call. */
  ns_max: number | null;
  /** of flops_per_s: model or measured. */
  flops_source: WorkSource;
  /** of bytes_per_s: model or measured. */
  bytes_source: WorkSource;
  /** operations a second of the slowest call. */
  flops_per_s_min: number | null;
  /** of the median call. */
  flops_per_s_median: number | null;
  /** of the fastest call. */
  flops_per_s_max: number | null;
  /** bytes of device memory a second of the slowest call; of the model the least bytes. */
  bytes_per_s_min: number | null;
  /** of the median call. */
  bytes_per_s_median: number | null;
  /** of the fastest call. */
  bytes_per_s_max: number | null;
  /** the ceiling that all calls together are closer to. */
  ceiling: RoofLimit;
  /** how close. */
  of_ceiling: number | null;
  /** why there is no share. cache: more bytes a second than device memory can move, so a part stayed in L2; fewer_operations: a convolution by FFT or Winograd, which multiplies less than the model counts; above: faster than the ceiling, which is what a benchmark reached or the data sheet says of its clock. */
  no_share: NoShare;
  /** model: operations of its products, of all calls; a multiply-add is two; null: no rule or no shapes say its work. */
  product_flops: number | null;
  /** model: its other operations, one an element and step. */
  other_flops: number | null;
  /** model: the least bytes, every input read and every output written once. */
  bytes: number | null;
  /** tensor operations that counters saw in its kernels; null without counters for all. */
  measured_flops: number | null;
  /** bytes of device memory that counters saw in its kernels; null without counters for all. */
  measured_bytes: number | null;
  /** its module; * for numbers that differ between equal blocks. */
  module: string;
  /** operators around its first call, the outermost first. */
  path: string;
  /** line of the program that its first call comes from (of a backward operator: its forward one), when the capture has stacks. */
  python: string;
  /** the same time by kernel; sums to ns. */
  by_kernel: NamedTime[];
}

/** Kernels that pass over tensors and follow each other on a stream, more than once: what one kernel could do in their place. */
export interface KernelSequence {
  /** short names in their order; one name: the same kernel over and over. */
  names: string[];
  /** their operators, each once in a row. */
  operators: string[];
  /** phase. */
  phase: TrainingPhase;
  /** module of the first time. */
  module: string;
  /** how often the sequence comes in the window. */
  times: number;
  /** kernels of all times. */
  kernels: number;
  /** their exclusive time. */
  ns: number;
  /** time between them, each gap below 100 us. */
  gap_ns: number;
  /** at most gained by one kernel in the place of each: both times less what its inputs from outside and its result take at least, beyond what L2 holds. */
  gain_ns: number;
}

/** The highest rate of a device for something, measured or stated. */
export interface Ceiling {
  /** tensor.bf16, fma.fp32, ...: operations; dram, l2, l1, shared, link.*: bytes. */
  id: string;
  /** FLOP/s or B/s. */
  unit: string;
  /** the most, in a second. */
  value: number;
  /** measured: by `gpufathom ceilings` on a device of this name; model: by its data sheet. */
  source: WorkSource;
}

export type RoofScope =
  | "kernel"
  | "operator"
  | "layer";

/** A kernel, operator or layer under the roofline. */
export interface RoofPoint {
  /** kernel, operator or layer. */
  scope: RoofScope;
  /** short name of the kernel, operator or module. */
  name: string;
  /** of layers and operators. */
  phase: TrainingPhase;
  /** data type of most of its operations. */
  type: string;
  /** exclusive kernel time. */
  ns: number;
  /** operations. */
  flops: number;
  /** model or measured. */
  flops_source: WorkSource;
  /** bytes of device memory; of the model the least. */
  bytes: number;
  /** model or measured. */
  bytes_source: WorkSource;
  /** achieved operations a second. */
  flops_per_s: number | null;
  /** achieved bytes a second. */
  bytes_per_s: number | null;
  /** operations a byte. */
  intensity: number | null;
  /** which ceiling is the lower one at this intensity. */
  limit: RoofLimit;
  /** achieved, as a share of that ceiling. */
  of_ceiling: number | null;
  /** why there is none, as of an operator. */
  no_share: NoShare;
}

/** Copies in one direction. */
export interface TransferRate {
  /** host_to_device, device_to_host, device_to_device, peer. */
  direction: string;
  /** copies in the window. */
  copies: number;
  /** bytes they moved, where the source says. */
  bytes: number;
  /** their time. */
  ns: number;
  /** bytes a second while they ran. */
  bytes_per_s: number | null;
  /** of the ceiling of that link. */
  of_link: number | null;
}

export type WorkPart =
  | "work"
  | "recompute"
  | "slower_type"
  | "padding"
  | "lower_clock"
  | "tensor_below_peak"
  | "other_instructions"
  | "stalled"
  | "products_undivided"
  | "others_undivided"
  | "unmodelled"
  | "sm_inactive"
  | "communication"
  | "waiting"
  | "copy"
  | "idle";

export type LossCause =
  | ""
  | "unfused_attention"
  | "odd_sizes"
  | "padded_tiles"
  | "lower_clock";

/** The owner of a piece of the account. */
export interface AccountOwner {
  /** layer, idle cause, or direction of copies. */
  name: string;
  /** layer type. */
  type: LayerType;
  /** of layers. */
  phase: TrainingPhase;
  /** a named loss, where one was found. */
  cause: LossCause;
  /** time. */
  ns: number;
}

/** One part of peak x time. */
export interface AccountPart {
  /** part. */
  id: WorkPart;
  /** display name. */
  label: string;
  /** time of the window at the peak that went here. */
  ns: number;
  /** of the window. */
  share: number | null;
  /** the same time by owner; sums to ns. */
  owners: AccountOwner[];
}

/** A named loss over all parts of the account. */
export interface AccountCause {
  /** unfused_attention, odd_sizes, padded_tiles or lower_clock. */
  cause: LossCause;
  /** what it is, with the sizes, or the clocks and what drew power. */
  text: string;
  /** time marked with it. */
  ns: number;
  /** of the window. */
  share: number | null;
}

/** Breakdown of peak x time of one device. */
export interface WorkAccount {
  /** device number. */
  device: number;
  /** product name. */
  name: string;
  /** length of the window. */
  span_ns: number;
  /** data type of the peak. */
  peak_type: string;
  /** peak: dense operations a second of that type. */
  peak_flops_per_s: number;
  /** measured: kernels were divided by counters; model: by shapes and names alone. */
  source: WorkSource;
  /** model FLOPs utilization: operations of the model / (peak x window). */
  mfu: number | null;
  /** hardware FLOPs utilization: recomputed operations count too. */
  hfu: number | null;
  /** operations of the model, products and convolutions. */
  flops: number;
  /** operations that checkpoints ran again. */
  recomputed_flops: number;
  /** tensor operations that counters saw. */
  measured_flops: number | null;
  /** share of the time of kernels that multiply, whose operations are known. */
  coverage: number | null;
  /** parts that sum to span_ns exactly. */
  parts: AccountPart[];
  /** named losses, most time first. */
  causes: AccountCause[];
}

/** What warps waited for. */
export interface StallReason {
  /** warp state, such as long_scoreboard. */
  id: string;
  /** display name. */
  label: string;
  /** stalled time of the waterfall with this reason. */
  ns: number;
  /** of the stalled time. */
  share: number | null;
  /** the same time by kernel; sums to ns. */
  kernels: NamedTime[];
}

/** The waterfall's stalled time by reason. */
export interface StallUse {
  /** stalled time of all devices; the reasons sum to it. */
  stalled_ns: number;
  /** share of it whose kernels have warp states. */
  coverage: number | null;
  /** most time first. */
  reasons: StallReason[];
}

export type MemoryHolderKind =
  | "parameters"
  | "gradients"
  | "optimiser"
  | "activations"
  | "temporary"
  | "before"
  | "unknown";

/** Memory at the peak by holder. */
export interface MemoryHolder {
  /** parameters, gradients, optimiser, activations, temporary, before, unknown. */
  kind: MemoryHolderKind;
  /** module, operator or source line; empty: all of the kind. */
  name: string;
  /** bytes held. */
  bytes: number;
  /** blocks. */
  blocks: number;
}

/** Memory at one instant. */
export interface MemoryPoint {
  /** after the start of the window. */
  ns: number;
  /** bytes that tensors hold. */
  allocated: number | null;
  /** bytes allocated by the framework. */
  reserved: number | null;
  /** bytes of the board that are in use. */
  used: number | null;
}

/** Memory of one device. */
export interface DeviceMemory {
  /** device number. */
  device: number;
  /** allocator_events (profile_memory=True), snapshot, or board (NVML). */
  source: MemorySource;
  /** bytes that the device has. */
  capacity: number | null;
  /** most bytes that tensors held at once. */
  peak_allocated: number | null;
  /** most bytes that the framework held. */
  peak_reserved: number | null;
  /** most bytes of the board in use. */
  peak_used: number | null;
  /** when most was allocated, after the window's start. */
  peak_at_ns: number | null;
  /** capacity less the peak. */
  headroom: number | null;
  /** bytes that grow with the batch, at the instant at which a larger one would run out first: activations and temporary memory. */
  growing: number | null;
  /** bytes that do not grow, at that instant. */
  fixed: number | null;
  /** items of a step that would fit, where the step's items are known. */
  fitting_batch: number | null;
  /** what held the peak; sums to peak_allocated. */
  holders: MemoryHolder[];
  /** activations at the peak by module or operator; sums to those of `holders`. */
  activations: MemoryHolder[];
  /** at most 400 points, each peak kept. */
  over_time: MemoryPoint[];
}

/** The answer of `gpufathom work`. */
export interface WorkUse {
  /** name and version of this layout. */
  schema: string;
  /** the capture. */
  source: SourceInfo;
  /** the counter report, when there is one. */
  counters_source: SourceInfo | null;
  /** the analyzed span. */
  window: WindowInfo;
  /** model: operations of products and convolutions in the window, recomputed ones included; null: no operation has recorded shapes. */
  flops: number | null;
  /** model: operations of everything else. */
  other_flops: number | null;
  /** model: least bytes of all operators. */
  bytes: number | null;
  /** share of kernel time under an operator whose work is known. */
  coverage: number | null;
  /** what to record when nothing is known. */
  why_missing: string;
  /** `flops` by data type. */
  types: WorkOfType[];
  /** by operator, shapes, types, strides, module and phase; most time first. */
  operators: OperatorWork[];
  /** kernels that follow each other again and again; the largest gain first. */
  sequences: KernelSequence[];
  /** of the device that most work ran on. */
  ceilings: Ceiling[];
  /** kernels, operators and layers; most time first. */
  roofline: RoofPoint[];
  /** copies by direction. */
  transfers: TransferRate[];
  /** the deepest rung of the ladder by the model, where no counter gave it. */
  levels: Level[];
  /** where peak x time went, by device. */
  accounts: WorkAccount[];
  /** stalled time by reason. */
  stalls: StallUse;
  /** by device. */
  memory: DeviceMemory[];
  /** items and tokens per second. */
  throughput: Throughput;
}

export type TreeView =
  | "modules"
  | "calls";

/** A node of a call tree. What lies under a node sums to it; the first node of a view is the window of all devices. */
export interface CallNode {
  /** number of the node. */
  id: number;
  /** the node above it; null at the top of a view. */
  parent: number | null;
  /** nodes above it. */
  depth: number;
  /** modules: phase, module, operators, kernel; calls: the call path on the host, Python frames included, then the kernel. */
  view: TreeView;
  /** window, phase, module, operator, python, annotation, kernel, copy, idle (by cause), or others: small nodes together. */
  kind: TreeNodeKind;
  /** what it is. */
  name: string;
  /** device time: kernels, copies alone and idle time. */
  ns: number;
  /** of it exclusive kernel time. */
  kernel_ns: number;
  /** of it copies and sets while no kernel ran. */
  copy_ns: number;
  /** of it idle time, under what the host was in. */
  idle_ns: number;
  /** kernels, copies and idle spans. */
  count: number;
  /** measured energy in nanojoules: that of each kernel's name, of copies and of idle time, by time; sums to the device's. */
  nj: number | null;
}

export type RankSource =
  | "trace"
  | "environment"
  | "groups"
  | "device"
  | "file_name"
  | "order";

/** A part of a rank's window. */
export interface RankShare {
  /** kernels, copies, waiting, exchange (other time in collectives), or an idle cause. */
  part: string;
  /** time. */
  ns: number;
}

/** One rank. */
export interface RankUse {
  /** number of the rank. */
  rank: number;
  /** source of the number. */
  rank_source: RankSource;
  /** host name, where the capture says so. */
  host: string;
  /** product name of the device. */
  device: string;
  /** file it was read from. */
  source: string;
  /** what its clock shows more than that of the first rank, at the middle of the collectives that they share; null when they share none. */
  offset_ns: number | null;
  /** how much faster its clock runs, where that could be measured. */
  drift_ppm: number;
  /** median deviation of the collectives' ends from that fit: differences below it mean nothing. */
  residual_ns: number | null;
  /** start of its window on the common clock. */
  start_ns: number;
  /** length of its window. */
  span_ns: number;
  /** union of kernels, copies and sets, waiting included. */
  busy_ns: number;
  /** union of the kernels other than collectives. */
  compute_ns: number;
  /** union of the collectives' kernels. */
  communication_ns: number;
  /** part of it that no compute kernel overlaps. */
  exposed_ns: number;
  /** sum of the durations of collectives. */
  collective_ns: number;
  /** part of collective_ns spent waiting for the last rank to arrive. */
  wait_ns: number;
  /** part of collective_ns in which data moved. */
  transfer_ns: number;
  /** part of collective_ns that cannot be split: no other rank shows the same collective. */
  unmatched_ns: number;
  /** waiting that no compute kernel overlaps: busy without work. */
  exposed_wait_ns: number;
  /** collectives of the rank. */
  collectives: number;
  /** of these, how many were found on other ranks. */
  matched: number;
  /** collectives in which it surely arrived last (margin_ns above doubt_ns). */
  last: number;
  /** what the job would gain, were its host as fast as its peers', where recording alone may have made it slower: the rank is not blamed for it. */
  recording_doubt_ns: number;
  /** time of the kernels that its peers run too over that of their peers'; null where these are less than half of its kernels' time. */
  same_kernels: number | null;
  /** parts of the window with waiting separated; sum to span_ns. */
  time: RankShare[];
}

export type PairedBy =
  | "nothing"
  | "sequence"
  | "order"
  | "time";

/** One process group. */
export interface GroupUse {
  /** name and ranks as recorded. */
  name: string;
  /** ranks that were read. */
  ranks: number[];
  /** ranks in it, -1: not known. */
  size: number;
  /** how its collectives were paired. */
  paired_by: PairedBy;
  /** collectives that were paired. */
  collectives: number;
  /** waiting in them, of all ranks. */
  wait_ns: number;
}

export type RankTime =
  | "kernels"
  | "copies"
  | "collectives"
  | "launch_bound"
  | "sync"
  | "memcpy"
  | "input"
  | "communication"
  | "dependency"
  | "kernel_gap"
  | "host_other"
  | "allocation"
  | "start_up"
  | "unexplained"
  | "no_launch_record"
  | "not_recorded"
  | "no_samples"
  | "unknown";

/** A rank that others waited for, and one cause. */
export interface Straggler {
  /** number of the rank. */
  rank: number;
  /** what it had more of than the ranks that waited. */
  cause: RankTime;
  /** operator with most of that. */
  op: string;
  /** module or scope of the operator. */
  module: string;
  /** how much later than the second to last it arrived, or a rank that waited for it, summed. */
  late_ns: number;
  /** waiting of the other ranks that it caused, summed. */
  wait_ns: number;
  /** what the job would gain, were the rank as its peers: its time less its time when it runs again so; without replayed_ns a bound by the others' waiting. */
  gain_ns: number;
  /** collectives that it was late for. */
  collectives: number;
}

/** What `analyze` says of a late rank's capture and not of its peer's. */
export interface ApartFinding {
  /** number of the late rank. */
  rank: number;
  /** number of the rank that waits most, with which it was compared. */
  peer: number;
  /** kind of finding. */
  id: FindingId;
  /** what, and what to change. */
  text: string;
  /** time it could give back at most, in the late rank's capture. */
  gain_ns: number;
  /** the same in its peer's, 0: not said there. */
  peer_gain_ns: number;
}

/** Ranks that pass their work on from one to the next. */
export interface PipelineUse {
  /** ranks in a row; 0: none do. */
  stages: number;
  /** messages from one to the next in a step. */
  micro_batches: number;
  /** share of their time in which ranks only wait for each other. */
  waiting: number | null;
  /** share that the schedule itself leaves idle: (p - 1) / (m + p - 1). */
  ideal: number | null;
  /** share of its time that a step of twice as many micro-batches, each half, saves at most. */
  twice_gain: number | null;
}

export type CollectiveType =
  | "other"
  | "all_reduce"
  | "all_gather"
  | "reduce_scatter"
  | "broadcast"
  | "reduce"
  | "all_to_all"
  | "gather"
  | "scatter"
  | "send"
  | "receive"
  | "send_receive"
  | "barrier";

/** A group whose transfers take longer than those of its like. */
export interface SlowLink {
  /** name and ranks as recorded. */
  group: string;
  /** ranks that were read. */
  ranks: number[];
  /** what the slowest of its collectives do. */
  type: CollectiveType;
  /** size of their message. */
  bytes: number;
  /** their median transfer time. */
  transfer_ns: number;
  /** that of other groups with as many ranks and the same size. */
  others_ns: number;
  /** what the job would gain, were it as fast as these. */
  gain_ns: number;
  /** its collectives that other groups have, too. */
  collectives: number;
}

/** A rank whose host takes longer for a step than every other one, while its device still has work queued: the others wait for it once that is used up. */
export interface FallingBehind {
  /** number of the rank. */
  rank: number;
  /** what its host does longer than every other one. */
  cause: RankTime;
  /** where its host spends most of that. */
  op: string;
  /** how much longer in a step: the most that a step can gain. */
  more_ns: number;
  /** what its host takes for a step, waiting for the device left out. */
  host_step_ns: number;
  /** the same of the slowest other rank, host or device. */
  next_step_ns: number;
  /** what a step of the job gains without that, in the long run, at the pace of this capture. */
  gain_step_ns: number;
  /** how far the hosts' steps differ by themselves. */
  doubt_ns: number;
  /** how far its launches lay ahead of its device in its last step. */
  queued_ns: number;
  /** steps that were compared. */
  steps: number;
}

/** One step of one rank. */
export interface RankStep {
  /** number of the rank. */
  rank: number;
  /** number of the step. */
  step: number;
  /** start on the common clock. */
  start_ns: number;
  /** duration. */
  duration_ns: number;
  /** time in which kernels computed. */
  kernels_ns: number;
  /** time in which only copies ran. */
  copies_ns: number;
  /** waiting for other ranks that no compute kernel overlaps. */
  wait_ns: number;
  /** other time in which only collectives ran. */
  exchange_ns: number;
  /** idle time; the five parts sum to duration_ns. */
  idle_ns: number;
}

/** Collectives of one type and size. */
export interface CollectiveRate {
  /** what they do. */
  type: CollectiveType;
  /** ranks in the group. */
  ranks: number;
  /** size of the message; sizes within a power of two together. */
  bytes: number;
  /** how many. */
  count: number;
  /** median transfer time of the last rank. */
  transfer_ns: number;
  /** median of bytes over transfer time. */
  algorithm_gb_per_s: number;
  /** bytes that each link carries for one byte of the message. */
  factor: number;
  /** algorithm_gb_per_s times factor: compares with the link. */
  bus_gb_per_s: number;
  /** share of the link's rate, where the chip is known. */
  of_link: number | null;
}

/** A stretch of the critical path. */
export interface PathPiece {
  /** rank on the critical path. */
  rank: number;
  /** start on the common clock. */
  start_ns: number;
  /** length. */
  duration_ns: number;
}

/** One rank's part of a collective. */
export interface CollectiveRank {
  /** number of the rank. */
  rank: number;
  /** start on the common clock. */
  start_ns: number;
  /** duration. */
  duration_ns: number;
  /** until the last rank arrived. */
  wait_ns: number;
  /** after that; wait_ns + transfer_ns = duration_ns. */
  transfer_ns: number;
  /** part of the duration that no compute kernel overlaps. */
  exposed_ns: number;
}

/** One collective, over the ranks that it was found on. */
export interface CollectiveRow {
  /** process group. */
  group: string;
  /** number in the group as recorded, -1: not recorded. */
  sequence: number;
  /** what it does. */
  type: CollectiveType;
  /** size of the message, -1: not known. */
  bytes: number;
  /** step in which it began on the last rank. */
  step: number | null;
  /** rank that arrived last. */
  last_rank: number;
  /** how long after the second to last. */
  margin_ns: number;
  /** a margin at or below this says nothing. */
  doubt_ns: number;
  /** waiting of all ranks. */
  wait_ns: number;
  /** why the last rank was late (collectives: it waited for another one); null when it was not. */
  cause: RankTime | null;
  /** bytes that each link carried, over the transfer time of the last rank. */
  bus_gb_per_s: number | null;
  /** the ranks. */
  ranks: CollectiveRank[];
}

/** The answer of `gpufathom ranks`. */
export interface JobRanks {
  /** name and version of this layout. */
  schema: string;
  /** of captures of several stretches of time, what tells this one's; else empty. */
  stage: string;
  /** ranks of the job, -1: not known. */
  world_size: number;
  /** ranks without a file. */
  missing_ranks: number[];
  /** damage and suspected errors. */
  quality: QualityNote[];
  /** span of each rank's capture, as --window names it. */
  window: string;
  /** from the first rank's start to the last one's end, common clock. */
  span_ns: number;
  /** the ranks, by number. */
  ranks: RankUse[];
  /** process groups. */
  groups: GroupUse[];
  /** who was late and why, by what the job would gain. */
  stragglers: Straggler[];
  /** why the host of the latest rank is late, where the captures are at hand; else empty. */
  apart: ApartFinding[];
  /** time of the job when it runs again as captured, without what recording took; null where the ranks' parts do not say what waited for what: gains are then bounds by waiting. */
  replayed_ns: number | null;
  /** ranks that have more of their own than their peers, most first. */
  joint_ranks: number[];
  /** what the job would gain, were all of these as their peers. */
  joint_gain_ns: number;
  /** pipeline stages. */
  pipeline: PipelineUse;
  /** slow links, by what the job would gain. */
  links: SlowLink[];
  /** what the job would gain at most, were the ranks without a file never late. */
  missing_gain_ns: number;
  /** who will be late, and why, by what a step would gain in the long run. */
  falling_behind: FallingBehind[];
  /** steps of each rank. */
  steps: RankStep[];
  /** rates by type and size. */
  rates: CollectiveRate[];
  /** the ranks on the critical path from the first collective to the last, in order. */
  critical_path: PathPiece[];
  /** collectives found on at least two ranks. */
  collectives_matched: number;
  /** these by time, or those with most waiting. */
  collectives: CollectiveRow[];
}

/** One level of a run. */
export interface SweepLevel {
  /** metric id. */
  id: string;
  /** share of the window, the mean of the repeats; null: no data. */
  value: number | null;
  /** of the repeats; null: one repeat. */
  least: number | null;
  /** of the repeats; null: one repeat. */
  most: number | null;
}

/** The kernels of a layer type in a run. */
export interface SweepLayer {
  /** layer type; of kernels in a table, which have no operation, by their names. */
  type: LayerType;
  /** kernel time. */
  ns: number;
  /** each level over its kernels, weighted by time. */
  levels: LevelSpread[];
}

/** One configuration: what was measured with one setting of every axis. */
export interface SweepRun {
  /** capture, or the table that holds the numbers. */
  source: string;
  /** what ran; empty: not known, as of every axis. */
  model: string;
  /** product name of the device. */
  gpu: string;
  /** framework. */
  framework: string;
  /** execution mode: eager, compile, xla, .... */
  mode: string;
  /** precision: fp32, tf32, amp, .... */
  precision: string;
  /** items of one step. */
  batch: number | null;
  /** time of a step, the mean of the repeats. */
  step_ns: number | null;
  /** measurements of it. */
  repeats: number;
  /** slowest less fastest repeat, over the mean; null: one repeat. */
  spread: number | null;
  /** fastest repeat; null: one repeat. */
  fastest_ns: number | null;
  /** slowest repeat; null: one repeat. */
  slowest_ns: number | null;
  /** standard deviation of three repeats or more, over the mean; null: fewer. */
  deviation: number | null;
  /** items per second. */
  throughput: number | null;
  /** throughput over the highest of the same model in the sweep. */
  normalised: number | null;
  /** measured energy of a step of all devices, the mean of the repeats; null: not measured. */
  joules: number | null;
  /** the same for one item. */
  joules_per_item: number | null;
  /** 2.5 % bound of joules_per_item: what the sensor's period leaves open of the window, and what repeats differ by; null: not known. */
  joules_low: number | null;
  /** 97.5 % bound of it. */
  joules_high: number | null;
  /** device memory that it needs at its peak. */
  memory_bytes: number | null;
  /** memory that the device has. */
  gpu_memory_bytes: number | null;
  /** operations a second: those of an item from its shapes (model), times throughput. */
  flops: number | null;
  /** of the data sheet's dense peak for the precision (amp: 16-bit tensor cores). */
  mfu: number | null;
  /** the ladder. */
  levels: SweepLevel[];
  /** each level over all kernels, weighted by time. */
  spreads: LevelSpread[];
  /** the same by layer type, most time first; empty: no kernel has counters. */
  layers: SweepLayer[];
}

/** Runs that differ in their batch alone. */
export interface SweepSeries {
  /** its axes in one text. */
  name: string;
  /** what ran. */
  model: string;
  /** places in `runs`, by batch. */
  runs: number[];
  /** smallest batch with 95 % of the highest throughput; null: still rising at the largest. */
  saturation_batch: number | null;
  /** run at the saturation batch, else at the largest. */
  representative: number;
  /** run whose kernels the rest is of, the largest whose tensor instructions are counted; -1: none has kernels. */
  kernels_run: number;
  /** kernel instances. */
  kernels: number;
  /** share of the instances without matrix instructions: their tensor pipes are idle, or take 2 cycles an instruction, as packed 16-bit arithmetic does; where instructions are not counted: under 3 % of their time. */
  instances_without_tensor: number | null;
  /** share of the instances that issue no tensor instruction, packed arithmetic included. */
  instances_without_tensor_instructions: number | null;
  /** share of the tensor instructions in kernels without matrix instructions: packed 16-bit arithmetic, which multiplies no matrices. */
  packed_instructions: number | null;
  /** without matrix instructions, by kernel time. */
  time_without_tensor: number | null;
  /** without any tensor instruction, by kernel time. */
  time_without_tensor_instructions: number | null;
  /** level of the curve: tensor.issue, else tensor.active. */
  curve_level: string;
  /** kernels in the order of that level; time_share is the share of time at or below it. */
  tensor_curve: CurvePoint[];
}

/** The run of a model that takes least energy for an item. */
export interface CheapestRun {
  /** what ran. */
  model: string;
  /** which: place in `runs`. */
  run: number;
  /** the run with the next least; -1: no other has energy. */
  next: number;
  /** 2.5 % bound of the next one's joules an item over this one's; below 1: cannot be told. */
  next_low: number | null;
  /** 97.5 % bound of it. */
  next_high: number | null;
  /** runs that cannot be told from it: their difference is within both intervals. */
  alike: number[];
}

/** The answer of `gpufathom compare` with --axes or --table. */
export interface Sweep {
  /** name and version of this layout. */
  schema: string;
  /** axes that vary, or that were asked for. */
  axes: string[];
  /** the configurations, by series and batch. */
  runs: SweepRun[];
  /** the curves. */
  series: SweepSeries[];
  /** by model, where the energy of an item is known of two runs or more. */
  cheapest: CheapestRun[];
}

export type FigureKind =
  | "lines"
  | "course"
  | "bars"
  | "groups"
  | "parts";

export type FigureAxis =
  | "plain"
  | "percent"
  | "twos"
  | "tens";

export type FigureSource =
  | "yours"
  | "ours"
  | "paper";

/** A value of a figure. */
export interface FigurePoint {
  /** what a bar or a part is of; empty: a point of a line. */
  name: string;
  /** null: a bar, or said of every x. */
  x: number | null;
  /** value. */
  y: number;
  /** least of what it is the mean of; null: not known. */
  least: number | null;
  /** most of what it is the mean of; null: not known. */
  most: number | null;
}

/** The values of one series, row or source. */
export interface FigureLine {
  /** the series or row. */
  name: string;
  /** yours: of the files given; ours: of the tables that ship; paper: the publication's. */
  from: FigureSource;
  /** in the order of x, or of the bars. */
  points: FigurePoint[];
}

/** One plot of a figure. */
export interface FigurePanel {
  /** the program that ran; empty if its name is not known. */
  model: string;
  /** what is drawn; empty: as the figure says. */
  title: string;
  /** of the values; %: 1 is the whole. */
  unit: string;
  /** the series. */
  lines: FigureLine[];
}

/** A figure of the publication over the rows, whatever they judge. */
export interface Figure {
  /** number in the publication, the thesis or the slides. */
  id: string;
  /** what it shows. */
  title: string;
  /** the publication's numbers and hardware. */
  original: string;
  /** lines: a row a point; course: a row a line; bars, groups; parts: of a whole. */
  kind: FigureKind;
  /** what lies along the horizontal axis. */
  x_title: string;
  /** plain, percent, twos or tens (logarithmic). */
  x_axis: FigureAxis;
  /** plain or tens. */
  y_axis: FigureAxis;
  /** its plots. */
  panels: FigurePanel[];
}

export const CAUSE_COLOURS: Record<IdleReason, string> = {
  launch_bound: "var(--cause-launch-bound)",
  sync: "var(--cause-sync)",
  memcpy: "var(--cause-memcpy)",
  input: "var(--cause-input)",
  communication: "var(--cause-communication)",
  dependency: "var(--cause-dependency)",
  kernel_gap: "var(--cause-kernel-gap)",
  host_other: "var(--cause-host-other)",
  allocation: "var(--cause-allocation)",
  start_up: "var(--cause-start-up)",
  unexplained: "var(--cause-unexplained)",
  no_launch_record: "var(--cause-other)",
  not_recorded: "var(--cause-other)",
  no_samples: "var(--cause-other)",
};

export const BAR_COLOURS: Record<Bar, string> = {
  idle: "var(--bar-idle)",
  copy: "var(--bar-copy)",
  waiting: "var(--bar-waiting)",
  sm_inactive: "var(--bar-sm-inactive)",
  stalled: "var(--bar-stalled)",
  other_instructions: "var(--bar-other-instructions)",
  tensor: "var(--bar-tensor)",
  unknown: "var(--bar-unknown)",
};

export const PHASE_COLOURS: Record<RuntimePhase, string> = {
  gpu_kernel: "var(--phase-gpu-kernel)",
  cpu_kernel: "var(--phase-cpu-kernel)",
  dequeue: "var(--phase-dequeue)",
  memcpy: "var(--phase-memcpy)",
  wait: "var(--phase-wait)",
  launch: "var(--phase-launch)",
  enqueue: "var(--phase-enqueue)",
  queued: "var(--phase-queued)",
  other: "var(--phase-other)",
};
