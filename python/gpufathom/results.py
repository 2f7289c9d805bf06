"""The answers of `analyze` and `compare` as types. Names and units are those of the JSON:
times in nanoseconds (`_ns`), energies in nanojoules (`nj`), shares from 0 to 1; None is "no data".

Made by `./dev docs` from src/analyze/results/*.def and src/analyze/names/*.def: change those.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Optional, Type

from gpufathom._decode import Answer


@dataclass(frozen=True)
class SourceInfo(Answer):
    """A file that was read.

    path: input file
    format: importer that read it
    framework: pytorch, jax, tensorflow or empty
    events: events in the source, damaged ones included
    bytes: bytes of the source after decompression
    """

    path: str
    format: str
    framework: str
    events: int
    bytes: int


@dataclass(frozen=True)
class QualityNote(Answer):
    """Damage of the input, or a suspected error.

    code: kind of damage or suspected error
    count: how often
    detail: one sentence, with the first place where it happened
    """

    code: str
    count: int
    detail: str


@dataclass(frozen=True)
class BlockInfo(Answer):
    """Kernels that repeat, and nothing shows that they are steps: mostly layers of one pass.

    count: blocks; 0: nothing repeats, or there are steps
    kernels: kernels of a block
    duration_ns: a block's median time
    module: the module that the host calls once a block, or empty
    begin_ns: where four and more that are no module's begin, on the capture's clock, after a pause
    inside the first of them alone: what is before happens once
    """

    count: int
    kernels: int
    duration_ns: int
    module: str
    begin_ns: Optional[int]


@dataclass(frozen=True)
class StepInfo(Answer):
    """One training or inference iteration.

    index: step number of the source
    start_ns: start
    duration_ns: duration
    stable: at or after the first stable step
    role: ordinary; start_up or outlier: far longer than others, left out of the steps' window, the
    mean step and advice (ordinary, start_up, outlier)
    """

    index: int
    start_ns: int
    duration_ns: int
    stable: bool
    role: str


@dataclass(frozen=True)
class DenseSpan(Answer):
    """The fuller side of a gap that takes more than half of the window.

    gap_ns: the gap: nothing ran on any device
    start_ns: start of that side, on the capture's clock
    duration_ns: length of that side
    kernel_busy: share of it in which kernels run, over all devices
    loss: what most of the rest of it goes to, over all devices: an idle cause, or copy
    loss_ns: that time, of all devices together
    loss_share: the same as a share of that side, over all devices
    window: what --window takes to analyze that side alone
    """

    gap_ns: int
    start_ns: int
    duration_ns: int
    kernel_busy: Optional[float]
    loss: str
    loss_ns: int
    loss_share: Optional[float]
    window: str


@dataclass(frozen=True)
class OutsideSteps(Answer):
    """What lies outside the steps, where that takes longer than they do.

    duration_ns: from the first activity to the last, less the steps
    kernel_busy_ns: of it, kernels run on some device
    copies_ns: of it, only copies and sets run
    allocation_ns: of it, nothing runs while the host allocates or frees memory
    """

    duration_ns: int
    kernel_busy_ns: int
    copies_ns: int
    allocation_ns: int


@dataclass(frozen=True)
class WindowInfo(Answer):
    """The half-open span that is analyzed.

    kind: all; common: all, as one span for several devices; recording_window, steps, stable, step
    or range (all, recording_window, steps, stable, step, range, common)
    start_ns: start on the capture's clock
    end_ns: end, exclusive
    duration_ns: length
    step_source: what made the steps: a mark, a sampler and the copy of its tokens, a period of the
    kernel sequence, or none
    step_confidence: how alike the detected steps are, 0..1; null with marks
    step_sign: what shows that a period is one of steps: the optimizer, the data loader, ...
    blocks: what repeats in a capture without steps
    steps: steps inside the window
    all_steps: steps of the whole capture
    dense: where one gap is most of the window: the rest
    outside: where most of the capture is outside the steps: what is there
    profiler_ns: time of the window that the profiler itself may have taken, at most: what it
    recorded of the host, as far as a device was idle; null where no profiler slowed the host
    """

    kind: str
    start_ns: int
    end_ns: int
    duration_ns: int
    step_source: str
    step_confidence: Optional[float]
    step_sign: str
    blocks: BlockInfo
    steps: List[StepInfo]
    all_steps: List[StepInfo]
    dense: Optional[DenseSpan]
    outside: Optional[OutsideSteps]
    profiler_ns: Optional[int]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "blocks": BlockInfo,
        "steps": StepInfo,
        "all_steps": StepInfo,
        "dense": DenseSpan,
        "outside": OutsideSteps,
    }


@dataclass(frozen=True)
class NamedTime(Answer):
    """How long something took.

    name: what
    ns: how long
    """

    name: str
    ns: int


@dataclass(frozen=True)
class IdleCause(Answer):
    """Idle time with one cause.

    cause: why the device idled (launch_bound, sync, memcpy, input, communication, dependency,
    kernel_gap, host_other, allocation, start_up, unexplained, no_launch_record, not_recorded,
    no_samples)
    ns: idle time with this cause
    gaps: number of idle spans
    operators: framework operations on the launching thread
    modules: modules of those operations
    """

    cause: str
    ns: int
    gaps: int
    operators: List[NamedTime]
    modules: List[NamedTime]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "operators": NamedTime,
        "modules": NamedTime,
    }


@dataclass(frozen=True)
class Level(Answer):
    """One rung of the ladder: value = low when everything is known, [low, high] when some kernels
    have no counters.

    id: metric id of the catalog
    value: share of the window, taking the unknown as 0; null: no data
    low: bound with every unknown kernel at 0, or at the level that is a part of it
    high: bound with every unknown kernel at its upper level
    estimated: low and high come from launch shapes and the limits of the chip, without a counter;
    there is no value
    unit: unit
    coverage: share of kernel time that has data
    by_cycles: the same with kernels weighted by the report's cycles instead of the trace's time
    formula: counters it comes from
    why_missing: what to collect when there is no data
    """

    id: str
    value: Optional[float]
    low: Optional[float]
    high: Optional[float]
    estimated: bool
    unit: str
    coverage: Optional[float]
    by_cycles: Optional[float]
    formula: str
    why_missing: str


@dataclass(frozen=True)
class WaterfallBar(Answer):
    """One bar of the waterfall; the bars of a device add up to its window exactly.

    id: bar: idle, copy, sm_inactive, stalled, other_instructions, tensor, unknown (idle, copy,
    waiting, sm_inactive, stalled, other_instructions, tensor, unknown)
    label: display name
    ns: time of the window lost or used here
    parts: the same time by cause, copy direction or layer type
    kernels: the same time by kernel
    """

    id: str
    label: str
    ns: int
    parts: List[NamedTime]
    kernels: List[NamedTime]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "parts": NamedTime,
        "kernels": NamedTime,
    }


@dataclass(frozen=True)
class DeviceUse(Answer):
    """How one device was used.

    id: device number
    name: product name
    start_ns: start of this device's window
    span_ns: length of this device's window
    busy_ns: union of kernels, copies and sets
    kernel_busy_ns: union of kernels
    kernel_time_sum_ns: sum of kernel durations (the papers' ratio)
    copy_only_ns: busy with copies or sets and no kernel
    gpu_events: kernels, copies and sets
    kernels: kernel instances
    idle_ns: span less busy and unrecorded
    unrecorded_ns: worked by its samples while nothing that was recorded ran; 0 where gaps between
    kernels explain it, or nothing was sampled
    idle: idle time by cause; sums to idle_ns
    levels: the ladder of this device
    waterfall: bars that sum to span_ns
    """

    id: int
    name: str
    start_ns: int
    span_ns: int
    busy_ns: int
    kernel_busy_ns: int
    kernel_time_sum_ns: int
    copy_only_ns: int
    gpu_events: int
    kernels: int
    idle_ns: int
    unrecorded_ns: int
    idle: List[IdleCause]
    levels: List[Level]
    waterfall: List[WaterfallBar]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "idle": IdleCause,
        "levels": Level,
        "waterfall": WaterfallBar,
    }


@dataclass(frozen=True)
class OtherDevice(Answer):
    """A device of the capture that the answer does not speak of: it does not work, or --devices
    leaves it out.

    id: device number
    name: product name
    why: copies_only: it runs no kernel; few_kernels: under a hundredth of the kernel time of the
    device with most; idle: it does nothing in the window; not_chosen: --devices (copies_only,
    few_kernels, idle, not_chosen)
    kernels: kernel instances in the window
    copies: copies and sets in the window
    busy_ns: union of kernels, copies and sets
    """

    id: int
    name: str
    why: str
    kernels: int
    copies: int
    busy_ns: int


@dataclass(frozen=True)
class Throughput(Answer):
    """Items and tokens per second.

    steps: steps in the window
    step_ns: mean time of a step
    items: items of a step: --batch, or from shapes
    items_source: option or shapes (, option, shapes)
    items_from: the operation and sizes that it comes from
    tokens: tokens of a step, where the program has tokens
    items_per_s: items per second
    tokens_per_s: tokens per second
    joules_per_item: energy of all devices, per item
    flops_per_item: operations of the model, per item
    """

    steps: int
    step_ns: Optional[float]
    items: Optional[int]
    items_source: str
    items_from: str
    tokens: Optional[int]
    items_per_s: Optional[float]
    tokens_per_s: Optional[float]
    joules_per_item: Optional[float]
    flops_per_item: Optional[float]


@dataclass(frozen=True)
class MemoryRoom(Answer):
    """Memory of one device at its peak, and what is left of it.

    device: device number
    source: allocator_events (profile_memory=True), snapshot, or board (NVML) (, allocator_events,
    snapshot, board)
    peak: most bytes that the framework held; else of the board in use; else that tensors held
    capacity: bytes that the device has
    headroom: capacity less the peak
    growing: bytes that grow with the batch, where a larger one would run out first: activations and
    temporary memory
    fitting_batch: items of a step that would fit, where the step's items are known
    """

    device: int
    source: str
    peak: int
    capacity: Optional[int]
    headroom: Optional[int]
    growing: Optional[int]
    fitting_batch: Optional[int]


@dataclass(frozen=True)
class WorkHeadline(Answer):
    """A summary of the work; `gpufathom work` has all of it.

    flops_per_s: achieved: operations of products and convolutions a second, of all devices
    together; null: neither sizes nor counts are known
    flops_source: model: what the program asks for by recorded sizes, recomputation left out;
    measured: operations that counters saw, on tensor cores and (where they were counted) beside
    them, where no sizes are known (, model, measured)
    measured_flops_per_s: tensor operations a second that counters saw; null without counters for
    every kernel
    mfu: model FLOPs utilization: operations of the model / (peak * window), of all devices
    peak_type: data type of the peak: the fastest that products ran in, at least 16 bits
    peak_flops_per_s: the data sheet's dense peak of that type, of all devices together
    coverage: share of the time of kernels that multiply, whose operations are known
    throughput: items and tokens per second
    memory: by device; empty: nothing recorded memory
    """

    flops_per_s: Optional[float]
    flops_source: str
    measured_flops_per_s: Optional[float]
    mfu: Optional[float]
    peak_type: str
    peak_flops_per_s: Optional[float]
    coverage: Optional[float]
    throughput: Throughput
    memory: List[MemoryRoom]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "throughput": Throughput,
        "memory": MemoryRoom,
    }


@dataclass(frozen=True)
class StepKindUse(Answer):
    """All steps of one kind in the window.

    kind: which (unknown, prefill, decode, mixed, chunked, speculative)
    steps: how many
    graphs: of these, steps that CUDA graphs launched
    duration_ns: their time together
    share: the same as a share of all steps
    p50_ns: median time of a step
    p90_ns: nine of ten take no longer
    p99_ns: ninety-nine of a hundred take no longer
    run_tokens: tokens that went through the model; null where a step does not say
    tokens: of these, tokens of requests; null where a step does not say
    padding: share of the tokens that went through the model and are of no request, in the steps
    that say both; null where under half do
    dram: DRAM throughput while these steps ran, as samples saw it, of the most; null without
    samples
    mfu: model FLOPs utilization of these steps; null where the sizes of products are not recorded
    joules: energy of all devices in these steps; null where the readings do not tell kinds apart
    joules_per_token: the same for each of `tokens`, else of `run_tokens`
    idle_ns: time of these steps in which a device did nothing, of all devices
    idle: the same by cause, most first
    """

    kind: str
    steps: int
    graphs: int
    duration_ns: int
    share: Optional[float]
    p50_ns: int
    p90_ns: int
    p99_ns: int
    run_tokens: Optional[int]
    tokens: Optional[int]
    padding: Optional[float]
    dram: Optional[float]
    mfu: Optional[float]
    joules: Optional[float]
    joules_per_token: Optional[float]
    idle_ns: int
    idle: List[IdleCause]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "idle": IdleCause,
    }


@dataclass(frozen=True)
class ServedRequest(Answer):
    """One request, by the marks that name it.

    id: its name in the marks
    arrival_ns: when it arrived, where a mark says so
    start_ns: start of its first step
    end_ns: end of its last step
    queued_ns: from its arrival to its first step
    first_token_ns: from its arrival to its first token; null without an arrival
    steps: steps that it was in
    tokens: its tokens in these
    step_ns: its share of the time of its steps, by its tokens in each; all requests sum to the time
    of the steps that name any
    nj: its share of the energy of all devices in its steps, likewise, in nanojoules
    """

    id: str
    arrival_ns: Optional[int]
    start_ns: int
    end_ns: int
    queued_ns: Optional[int]
    first_token_ns: Optional[int]
    steps: int
    tokens: int
    step_ns: int
    nj: Optional[int]


@dataclass(frozen=True)
class EngineStep(Answer):
    """One step of a serving engine.

    index: number of the step in window.all_steps
    start_ns: start
    duration_ns: duration
    kind: prefill, decode, mixed (both), chunked (parts of prompts, and no token yet), speculative
    (tokens of a draft are checked) or unknown (unknown, prefill, decode, mixed, chunked,
    speculative)
    run_tokens: tokens that went through the model, with those that fill up a CUDA graph; null: not
    known
    tokens: of these, tokens of requests; null: not known
    requests: requests of the step: the batch; without marks those that got a token
    decodes: of these, requests whose prompt was done before
    generated: tokens that requests got
    graph: CUDA graphs launched nine of ten kernels
    """

    index: int
    start_ns: int
    duration_ns: int
    kind: str
    run_tokens: Optional[int]
    tokens: Optional[int]
    requests: Optional[int]
    decodes: Optional[int]
    generated: Optional[int]
    graph: bool


@dataclass(frozen=True)
class Serving(Answer):
    """What a serving engine did in the window.

    source: what shows the steps: window.step_source
    engines: engines that the capture shows; with more than one the steps are those of one of them,
    and what all of them generated and took is not known
    kind_confidence: of kinds learned from kernels: the share of the steps whose tokens fit their
    kind; null with marks that say the kind
    kinds: by kind, those that take most first
    duration_ns: from the first step that is no start-up to the end of the last
    generated: tokens that requests got; null where a step does not say
    tokens_per_second: the same a second
    joules_per_token: energy of all devices from the first step to the last, for each of `generated`
    between_p50_ns: median time from one token of a request to its next; null where steps do not say
    which requests go on
    between_p90_ns: nine of ten take no longer
    between_p99_ns: ninety-nine of a hundred take no longer
    first_p50_ns: median time to first token; null without marks of the requests' arrivals
    first_p90_ns: nine of ten take no longer
    first_p99_ns: ninety-nine of a hundred take no longer
    mixed_longer_ns: how much longer a mixed step takes than a decode step, medians: what prompts
    beside them cost the requests that decode
    batch_p50: requests of the middle step of those that decode
    batch_most: the most requests of such a step
    requests: requests by their first step; empty where no mark names them
    steps: the steps in the window without start-up, by start
    """

    source: str
    engines: int
    kind_confidence: Optional[float]
    kinds: List[StepKindUse]
    duration_ns: int
    generated: Optional[int]
    tokens_per_second: Optional[float]
    joules_per_token: Optional[float]
    between_p50_ns: Optional[int]
    between_p90_ns: Optional[int]
    between_p99_ns: Optional[int]
    first_p50_ns: Optional[int]
    first_p90_ns: Optional[int]
    first_p99_ns: Optional[int]
    mixed_longer_ns: Optional[int]
    batch_p50: Optional[int]
    batch_most: Optional[int]
    requests: List[ServedRequest]
    steps: List[EngineStep]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "kinds": StepKindUse,
        "requests": ServedRequest,
        "steps": EngineStep,
    }


@dataclass(frozen=True)
class MatchInfo(Answer):
    """How trace and report kernels were paired.

    trace_kernels: kernel instances of the trace window
    report_kernels: kernel instances of the report
    matched: trace kernels with one best partner
    ambiguous: trace kernels paired with one of several equally good partners
    trace_only: unmatched kernels of the trace
    report_only: unmatched kernels of the report
    confidence: mean score of the pairs
    verdict: good, partial, different_program or no_report (no_report, good, partial,
    different_program)
    note: one sentence
    copies_of_report: steps of the trace that the report was laid over
    """

    trace_kernels: int
    report_kernels: int
    matched: int
    ambiguous: int
    trace_only: int
    report_only: int
    confidence: Optional[float]
    verdict: str
    note: str
    copies_of_report: int


@dataclass(frozen=True)
class PhaseTime(Answer):
    """Time in one runtime phase.

    phase: runtime phase (gpu_kernel, cpu_kernel, dequeue, memcpy, wait, launch, enqueue, queued,
    other)
    ns: time labeled with this phase: where several hold at once the first in the order of this
    list; the list sums to its span
    share: ns as a share of the span
    present_ns: time in which this phase held at all, on any thread or device
    per_item_ns: ns for one item of the batch; null without a batch size or steps
    """

    phase: str
    ns: int
    share: Optional[float]
    present_ns: int
    per_item_ns: Optional[float]


@dataclass(frozen=True)
class KernelShares(Answer):
    """Who computes: the four parts sum to the window.

    cpu_kernel_ns: only kernels of the CPU run
    gpu_kernel_ns: only kernels of GPUs run
    both_ns: kernels of both run
    overhead_ns: no kernel runs: runtime overhead
    cpu_kernel: share of the window
    gpu_kernel: share of the window
    both: share of the window
    overhead: share of the window
    overhead_per_item_ns: runtime overhead for one item of the batch; null without a batch size or
    steps
    """

    cpu_kernel_ns: int
    gpu_kernel_ns: int
    both_ns: int
    overhead_ns: int
    cpu_kernel: Optional[float]
    gpu_kernel: Optional[float]
    both: Optional[float]
    overhead: Optional[float]
    overhead_per_item_ns: Optional[float]


@dataclass(frozen=True)
class Distribution(Answer):
    """Weighted quantiles, and shares in equal bins.

    count: values
    min: smallest
    p5: 5th percentile
    p25: 25th percentile
    median: median
    p75: 75th percentile
    p95: 95th percentile
    max: largest
    mean: mean
    shape: shares in 20 equal bins from min to max
    """

    count: int
    min: Optional[float]
    p5: Optional[float]
    p25: Optional[float]
    median: Optional[float]
    p75: Optional[float]
    p95: Optional[float]
    max: Optional[float]
    mean: Optional[float]
    shape: List[Optional[float]]


@dataclass(frozen=True)
class PhaseSpread(Answer):
    """One phase over the operations of a type.

    phase: runtime phase (gpu_kernel, cpu_kernel, dequeue, memcpy, wait, launch, enqueue, queued,
    other)
    total_ns: sum over the operations
    spread: distribution over the operations that have this phase, in ns
    """

    phase: str
    total_ns: int
    spread: Distribution
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "spread": Distribution,
    }


@dataclass(frozen=True)
class OperationType(Answer):
    """Operations of one type.

    type: operation type, as the framework names it
    count: operations that began in the window
    total_ns: all their phases together, host and device, overlaps included
    phases: how long each phase took
    """

    type: str
    count: int
    total_ns: int
    phases: List[PhaseSpread]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "phases": PhaseSpread,
    }


@dataclass(frozen=True)
class DrySpell(Answer):
    """A stretch in which a queue was empty.

    start_ns: start
    duration_ns: length
    phases: what went on meanwhile; sums to duration_ns
    host: what the thread that fills the queue was in for most of it: Python line or operation
    """

    start_ns: int
    duration_ns: int
    phases: List[PhaseTime]
    host: str
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "phases": PhaseTime,
    }


@dataclass(frozen=True)
class DepthBucket(Answer):
    """The depth of a queue in a part of the window.

    start_ns: start
    duration_ns: length
    min: smallest depth inside
    max: largest depth inside
    mean: mean depth inside
    """

    start_ns: int
    duration_ns: int
    min: int
    max: int
    mean: Optional[float]


@dataclass(frozen=True)
class QueueInfo(Answer):
    """A queue between host and device, or inside the framework.

    id: framework, threadpool, or device:N
    kind: framework (operations waiting to be taken) or device (launches waiting to start) (device,
    framework)
    items: items that entered in the window
    from_before: items that were in the queue before the capture began
    max_depth: largest depth
    mean_depth: mean depth over the window
    empty_ns: time in which nothing was queued
    empty: empty_ns as a share of the window
    wait: time from entering to leaving, in ns
    when_empty: phases while it was empty; sums to empty_ns
    when_loaded: phases while it was not; sums to the rest of the window
    dry: the longest stretches in which it was empty
    curve: depth over the window in equal parts
    """

    id: str
    kind: str
    items: int
    from_before: int
    max_depth: int
    mean_depth: Optional[float]
    empty_ns: int
    empty: Optional[float]
    wait: Distribution
    when_empty: List[PhaseTime]
    when_loaded: List[PhaseTime]
    dry: List[DrySpell]
    curve: List[DepthBucket]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "wait": Distribution,
        "when_empty": PhaseTime,
        "when_loaded": PhaseTime,
        "dry": DrySpell,
        "curve": DepthBucket,
    }


@dataclass(frozen=True)
class RuntimeMark(Answer):
    """A wait of a host thread for a value or for the device, or a transfer of data.

    kind: wait, or the direction of a transfer
    name: operation and event
    start_ns: start
    duration_ns: length
    bytes: bytes moved, -1 unknown
    """

    kind: str
    name: str
    start_ns: int
    duration_ns: int
    bytes: int


@dataclass(frozen=True)
class IdleOrigin(Answer):
    """Idle time with one cause, one operation and one line of the program behind it.

    cause: idle cause (launch_bound, sync, memcpy, input, communication, dependency, kernel_gap,
    host_other, allocation, start_up, unexplained, no_launch_record, not_recorded, no_samples)
    phase: runtime phase of the thread that launches (gpu_kernel, cpu_kernel, dequeue, memcpy, wait,
    launch, enqueue, queued, other)
    operation: framework operation it was in
    module: module of the kernel that came next
    python: Python line it was in, when the capture has stacks
    ns: idle time, summed over the devices
    gaps: stretches of idle time
    share: of the devices' windows
    speedup: Amdahl's bound: how many times faster the window would be without this idle time
    """

    cause: str
    phase: str
    operation: str
    module: str
    python: str
    ns: int
    gaps: int
    share: Optional[float]
    speedup: Optional[float]


@dataclass(frozen=True)
class PhaseSource(Answer):
    """Events that were taken for a phase.

    phase: runtime phase (gpu_kernel, cpu_kernel, dequeue, memcpy, wait, launch, enqueue, queued,
    other)
    event: events that the rule takes: exact text, or a text with * where anything may stand
    source: where the framework writes them
    events: events of this capture it took
    """

    phase: str
    event: str
    source: str
    events: int


@dataclass(frozen=True)
class RuntimeInfo(Answer):
    """What the framework runtime did.

    start_ns: start of the span
    duration_ns: length of the span
    modes: ways of execution seen: eager, eager_sync, eager_async, function, xla, compile,
    cuda_graphs
    items: batch size x steps in the span; null when one of them is not known
    phases: phases of host and device; ns sums to duration_ns
    kernels: who computes
    operation_count: operations that began in the span
    operations: phases by type of operation, most time first; the first row, *, is all of them
    queues: queues over time
    waits: longest waits of the host
    transfers: longest transfers
    idle: why the GPU idled, most time first
    rules: which events were taken for which phase
    """

    start_ns: int
    duration_ns: int
    modes: List[str]
    items: Optional[int]
    phases: List[PhaseTime]
    kernels: KernelShares
    operation_count: int
    operations: List[OperationType]
    queues: List[QueueInfo]
    waits: List[RuntimeMark]
    transfers: List[RuntimeMark]
    idle: List[IdleOrigin]
    rules: List[PhaseSource]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "phases": PhaseTime,
        "kernels": KernelShares,
        "operations": OperationType,
        "queues": QueueInfo,
        "waits": RuntimeMark,
        "transfers": RuntimeMark,
        "idle": IdleOrigin,
        "rules": PhaseSource,
    }


@dataclass(frozen=True)
class LevelSpread(Answer):
    """One level over the instances of a layer or kernel, weighted by time.

    id: metric id
    value: time-weighted mean
    spread: distribution over instances, weighted by time
    """

    id: str
    value: Optional[float]
    spread: Distribution
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "spread": Distribution,
    }


@dataclass(frozen=True)
class LayerRow(Answer):
    """A layer type, or a layer in one phase.

    type: layer type (Other, Convolution, MatMul, Attention, Normalization, Embedding, Pooling,
    Activation, Elementwise, Reduction, Softmax, Loss, Recurrent, Optimizer, Communication, Copy,
    Data movement, Random)
    name: module path, or operator when no module is known
    phase: forward, backward, recompute, optimizer or other (other, forward, backward, optimizer,
    recompute, all, )
    kernels: kernel instances
    ns: exclusive kernel time
    share: of the window
    levels: levels inside its kernels
    """

    type: str
    name: str
    phase: str
    kernels: int
    ns: int
    share: Optional[float]
    levels: List[LevelSpread]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "levels": LevelSpread,
    }


@dataclass(frozen=True)
class KernelRow(Answer):
    """All instances of one kernel.

    name: kernel name
    short_name: name without namespaces, arguments and template details
    layer_type: layer type of most of its time
    operator: operator of most of its time
    count: instances
    counted: instances with counters
    ns: exclusive time
    duration_sum_ns: sum of durations
    share: exclusive time as a share of the window
    grid: thread blocks of the first instance
    block: threads a block of the first instance
    grids: different grids among the instances
    registers: registers a thread, -1 unknown
    shared_bytes: shared memory a block, -1 unknown
    waves: thread blocks of the first instance over those that the GPU holds at once; empty where a
    limit is not known
    occupancy_limit: warps that its blocks, registers and shared memory let an SM hold, of those
    that it can hold
    duration: distribution of durations in ns
    levels: levels inside the kernel
    """

    name: str
    short_name: str
    layer_type: str
    operator: str
    count: int
    counted: int
    ns: int
    duration_sum_ns: int
    share: Optional[float]
    grid: str
    block: str
    grids: int
    registers: int
    shared_bytes: int
    waves: Optional[float]
    occupancy_limit: Optional[float]
    duration: Distribution
    levels: List[LevelSpread]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "duration": Distribution,
        "levels": LevelSpread,
    }


@dataclass(frozen=True)
class CurvePoint(Answer):
    """Kernels ordered by tensor-issue utilization (DATE 2024, figure 8).

    utilization: tensor-issue utilization, 0..1
    time_share: share of kernel time at or below it
    """

    utilization: Optional[float]
    time_share: Optional[float]


@dataclass(frozen=True)
class EnergyPart(Answer):
    """Energy of one component.

    component: static, active, instructions, pipe.*, tensor.*, shared, l1, tma, l2, dram, or rest:
    what the model does not explain, negative where it explains more than was measured
    nj: energy in nanojoules
    low_nj: 2.5 % bound of the model
    high_nj: 97.5 % bound of the model
    share: of the row's energy
    """

    component: str
    nj: int
    low_nj: int
    high_nj: int
    share: Optional[float]


@dataclass(frozen=True)
class EnergyCount(Answer):
    """How often something happened that costs energy.

    feature: feature of the model, or what samples count in place of several: tensor.cycle,
    shared.access, l1.fill
    count: in the window
    """

    feature: str
    count: Optional[float]


@dataclass(frozen=True)
class EnergyStepMean(Answer):
    """The mean step.

    count: steps in the window
    joules: mean energy of a step
    seconds: mean duration of a step
    edp: energy-delay product of the mean step, joule seconds
    joules_per_item: energy of one item of the batch: of --batch, else of what shapes tell; null
    without either
    """

    count: int
    joules: Optional[float]
    seconds: Optional[float]
    edp: Optional[float]
    joules_per_item: Optional[float]


@dataclass(frozen=True)
class EnergyRow(Answer):
    """The energy of a step, a layer type, a layer, a kernel, or of time without kernels.

    name: step, layer type, layer or kernel; (idle) and (copies) are time without kernels
    type: layer type, of layers
    phase: forward, backward, recompute, optimizer or other, of layers (other, forward, backward,
    optimizer, recompute, all, )
    kernels: kernel instances
    ns: exclusive time
    nj: energy in nanojoules, the rest included
    share: of the device's energy
    wait_nj: of nj, what went in time in which the device only waits for other ranks; null: these
    are not known
    parts: the same energy by component; sums to nj
    """

    name: str
    type: str
    phase: str
    kernels: int
    ns: int
    nj: int
    share: Optional[float]
    wait_nj: Optional[int]
    parts: List[EnergyPart]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "parts": EnergyPart,
    }


@dataclass(frozen=True)
class EnergyReading(Answer):
    """Power from one instant on.

    ns: after the start of the device's window
    watts: power from here on
    """

    ns: int
    watts: Optional[float]


@dataclass(frozen=True)
class EnergyWarning(Answer):
    """A caveat about the energy.

    code: kind of caveat
    text: what it means, and what to do
    """

    code: str
    text: str


@dataclass(frozen=True)
class DeviceEnergy(Answer):
    """The energy of one device.

    device: device number
    name: product name
    start_ns: start of the span
    span_ns: length of the span
    source: what measured the energy: energy_counter, power_instant or power_average (,
    energy_counter, power_instant, power_average)
    counts_source: what counted accesses and operations: samples, counter_report or none (none,
    samples, counter_report)
    coverage: share of the window (samples) or of kernel time (report) that has counts
    period_ns: update period of the sensor, as its readings show it: the window's ends are known to
    it; 0: not known
    nj: measured energy in nanojoules
    mean_watts: measured energy over the span
    predicted_low_nj: 2.5 % bound of the model's sum; null without model
    predicted_high_nj: 97.5 % bound of the model's sum
    sm_mhz: mean SM clock
    sm_mhz_low: lowest SM clock
    celsius: mean temperature
    parts: the energy by component; sums to nj; empty without a model
    counts: what the window's parts are made of; empty without a model or counts
    step: the mean step; null without steps
    steps: by step, and the time outside steps; sums to nj
    layer_types: by layer type, largest first; with (idle) and (copies) sums to nj
    layers: by layer; sums to nj
    kernels: by kernel; sums to nj
    waiting: time in which the device only waits for other ranks, which is part of the rows above;
    null: these are not known
    power: power over the span
    warnings: doubts, and what to do
    """

    device: int
    name: str
    start_ns: int
    span_ns: int
    source: str
    counts_source: str
    coverage: Optional[float]
    period_ns: int
    nj: int
    mean_watts: Optional[float]
    predicted_low_nj: Optional[int]
    predicted_high_nj: Optional[int]
    sm_mhz: Optional[float]
    sm_mhz_low: Optional[float]
    celsius: Optional[float]
    parts: List[EnergyPart]
    counts: List[EnergyCount]
    step: Optional[EnergyStepMean]
    steps: List[EnergyRow]
    layer_types: List[EnergyRow]
    layers: List[EnergyRow]
    kernels: List[EnergyRow]
    waiting: Optional[EnergyRow]
    power: List[EnergyReading]
    warnings: List[EnergyWarning]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "parts": EnergyPart,
        "counts": EnergyCount,
        "step": EnergyStepMean,
        "steps": EnergyRow,
        "layer_types": EnergyRow,
        "layers": EnergyRow,
        "kernels": EnergyRow,
        "waiting": EnergyRow,
        "power": EnergyReading,
        "warnings": EnergyWarning,
    }


@dataclass(frozen=True)
class EnergyUse(Answer):
    """Energy breakdown.

    model: file of the energy model, empty without one
    model_gpu: product it was measured on
    model_date: when
    gain_error: systematic error of board sensors, outside every interval
    why_missing: why energy has no data, or no levels, and what to do
    devices: by device
    """

    model: str
    model_gpu: str
    model_date: str
    gain_error: Optional[float]
    why_missing: str
    devices: List[DeviceEnergy]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "devices": DeviceEnergy,
    }


@dataclass(frozen=True)
class SampledReading(Answer):
    """One metric over the window; counts are given as rates, a second.

    id: metric id
    unit: unit of mean, low, high and values; of a count the unit a second
    mean: mean over the time that has data
    low: lowest sample
    high: highest sample
    total: of a count: the sum over the window
    values: mean of each bucket of time; null: no data
    """

    id: str
    unit: str
    mean: Optional[float]
    low: Optional[float]
    high: Optional[float]
    total: Optional[float]
    values: List[Optional[float]]


@dataclass(frozen=True)
class SampledDevice(Answer):
    """A device's samples.

    id: device number
    name: product name
    source: finest source of its levels: pm_sampling, gpm, dcgm or nvml (nvml, gpm, dcgm,
    pm_sampling)
    samples: samples of the first level
    sample_ns: mean length of one
    covered_ns: time of the window that they cover
    step_ns: period of the device's activity; null: none found
    step_confidence: its normalized autocorrelation
    readings: metrics over time
    """

    id: int
    name: str
    source: str
    samples: int
    sample_ns: int
    covered_ns: int
    step_ns: Optional[float]
    step_confidence: Optional[float]
    readings: List[SampledReading]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "readings": SampledReading,
    }


@dataclass(frozen=True)
class SampledUse(Answer):
    """Levels and readings over time.

    start_ns: start of the first bucket
    bucket_ns: length of a bucket
    devices: each device's samples
    host: the program's processes
    idle_devices: devices that were recorded and never worked
    """

    start_ns: int
    bucket_ns: int
    devices: List[SampledDevice]
    host: List[SampledReading]
    idle_devices: int
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "devices": SampledDevice,
        "host": SampledReading,
    }


@dataclass(frozen=True)
class TenantAmount(Answer):
    """The part of a metric that belongs to a process, or to none.

    id: metric id
    unit: unit: of a count the amount, of a level its part of the mean
    value: by the split; the values of all processes and the rest sum to the total
    low: lower bound: what is certainly this process's
    high: what can be this process's
    """

    id: str
    unit: str
    value: Optional[float]
    low: Optional[float]
    high: Optional[float]


@dataclass(frozen=True)
class Tenant(Answer):
    """A process on a device that others use as well.

    pid: process id
    name: process name, where the capture has it
    kernels: kernel instances
    active_ns: time in which it had kernels, copies or sets on the device
    alone_ns: the part of it in which no other process had any
    share_ns: alone, and an equal share of what it had together with others
    amounts: its part of every metric
    nj: its energy; processes and the rest sum to the device's
    low_nj: lower bound: what is certainly its energy
    high_nj: what can be its energy
    """

    pid: int
    name: str
    kernels: int
    active_ns: int
    alone_ns: int
    share_ns: int
    amounts: List[TenantAmount]
    nj: Optional[int]
    low_nj: Optional[int]
    high_nj: Optional[int]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "amounts": TenantAmount,
    }


@dataclass(frozen=True)
class SharedDevice(Answer):
    """A device that several processes used, split among them.

    id: device number
    name: product name
    sharing: how the driver shares it (not_known, time_sliced, mps)
    start_ns: start of the first span in which all its processes were recorded
    span_ns: length of those spans
    overlap_ns: time in which several processes had work on it
    rest_ns: time in which none of them had
    sampled_ns: the part of the spans that samples cover
    others: further processes that hold memory there and were not recorded
    tenants: its processes; shares of time and the rest sum to the span
    rest: amounts that belong to no recorded process
    total: amounts of the device
    nj: energy of the device over the spans
    rest_nj: energy while no process had work on it
    cannot_tell: limits of the split, and how to overcome them
    """

    id: int
    name: str
    sharing: str
    start_ns: int
    span_ns: int
    overlap_ns: int
    rest_ns: int
    sampled_ns: int
    others: int
    tenants: List[Tenant]
    rest: List[TenantAmount]
    total: List[TenantAmount]
    nj: Optional[int]
    rest_nj: Optional[int]
    cannot_tell: str
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "tenants": Tenant,
        "rest": TenantAmount,
        "total": TenantAmount,
    }


@dataclass(frozen=True)
class Moment(Answer):
    """A stretch of time on the capture's clock.

    start_ns: start
    duration_ns: duration
    """

    start_ns: int
    duration_ns: int


@dataclass(frozen=True)
class Finding(Answer):
    """What costs time, what to change, and the numbers behind it.

    id: kind of finding (advice_withheld, little_work, warm_up_in_window, unrecorded_work,
    unresolved_kernels, launches_not_captured, unexplained_idle, different_program, weak_matching,
    autotuning, graph_capture, anomaly_mode, gil_stalls, activation_offload, unbatched_loop,
    cpu_operators, small_copies, data_dependent_sizes, deterministic, repeated_backward,
    recomputation, fp64, expanded_keys, growing_concat, contended_atomics, uneven_devices,
    plans_for_shapes, cache_swaps, host_sampling, scheduler_in_step, own_rule, launch_bound,
    host_bound, input_bound, sync_in_step, blocking_copies, device_allocations, recompilation,
    unfused_optimiser, exposed_communication, tiny_kernels, eager_attention, odd_sizes,
    no_channels_last, layout_copies, dense_embedding_gradients, small_batch, unfused_elementwise,
    casts, partial_warps, small_grids, eager_decodes, graph_padding, prompts_block_decodes,
    small_decodes, refused_drafts, repeated_factorization, register_spills, uncoalesced_access,
    bank_conflicts, partial_waves, warp_stalls, low_occupancy, fp32_without_tensor_cores,
    low_tensor_use, room_in_memory, memory_bound, missing_levels, kernel_bound, missing_counters,
    observer_effect, flight_moment, start_up_in_window, shallow_source, gpu_idle, sms_without_work,
    waiting_warps, idle_tensor_cores, held_clocks, unused_devices)
    text: what, and what to change
    evidence: the numbers behind it
    gain_ns: time it could give back at most
    command: what to run next, when there is something to run
    group: gains of findings in one group overlap: they count once (, host, communication, kernels,
    batch, idle, sm_inactive, stalled)
    replayed: share of a step without recording that it gives when the program runs again
    replayed_low: the least that the change itself gives, by what recording may take of an event,
    how fast mended kernels are and what is unexplained
    replayed_high: the most
    mended_low: nine of ten mended programs gained at least this, with whatever else was changed in
    them
    mended_high: and at most this
    rule: id of the row of --rules that says it; empty of the program's own
    kind: cause: what costs time, by name; loss: of a general kind; caveat: about the capture; note
    (caveat, cause, loss, note)
    share: gain_ns as a share of the window, over all devices
    adds: share of a step that it adds once all above it are made, where that is less than it gives
    alone
    follows: the finding above (`rule`, or else `id`) whose change leaves little of this gain
    moments: the longest events that it speaks of
    queries: statements of `query` that show its events
    """

    id: str
    text: str
    evidence: str
    gain_ns: Optional[int]
    command: str
    group: str
    replayed: Optional[float]
    replayed_low: Optional[float]
    replayed_high: Optional[float]
    mended_low: Optional[float]
    mended_high: Optional[float]
    rule: str
    kind: str
    share: Optional[float]
    adds: Optional[float]
    follows: str
    moments: List[Moment]
    queries: List[str]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "moments": Moment,
    }


@dataclass(frozen=True)
class ReplayedTogether(Answer):
    """The program run again with all that its recommendations change.

    changes: changes, of recommendations with `replayed`
    share: share of a step without recording that they give together
    share_low: the least that the changes themselves give
    share_high: the most
    mended_low: nine of ten mended programs gained at least this, with whatever else was changed in
    them
    mended_high: and at most this
    """

    changes: int
    share: Optional[float]
    share_low: Optional[float]
    share_high: Optional[float]
    mended_low: Optional[float]
    mended_high: Optional[float]


@dataclass(frozen=True)
class Analysis(Answer):
    """The answer of `gpufathom analyze`.

    schema: name and version of this layout
    source: the capture
    counters_source: the counter report, when there is one
    quality: damage and suspected errors
    window: the analyzed span
    devices: use of each device that works
    other_devices: devices that only copy, hardly work or were left out
    levels: the ladder over all devices
    work: achieved operations, items and tokens per second, in short
    serving: steps, tokens and waits of a serving engine; null where nothing shows one
    match: how trace and report kernels were paired
    runtime: framework runtime phases
    layer_types: kernel time by layer type
    layers: kernel time by layer
    kernels: kernel time by kernel
    tensor_curve: cumulative kernel time over tensor-issue utilization
    energy: energy breakdown; without devices when nothing measured power
    samples: levels and readings over time; without devices when nothing was sampled
    tenants: devices that several processes used
    findings: what to change, with evidence
    together: what the recommendations give together; null with fewer than two changes
    """

    schema: str
    source: SourceInfo
    counters_source: Optional[SourceInfo]
    quality: List[QualityNote]
    window: WindowInfo
    devices: List[DeviceUse]
    other_devices: List[OtherDevice]
    levels: List[Level]
    work: WorkHeadline
    serving: Optional[Serving]
    match: MatchInfo
    runtime: RuntimeInfo
    layer_types: List[LayerRow]
    layers: List[LayerRow]
    kernels: List[KernelRow]
    tensor_curve: List[CurvePoint]
    energy: EnergyUse
    samples: SampledUse
    tenants: List[SharedDevice]
    findings: List[Finding]
    together: Optional[ReplayedTogether]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "source": SourceInfo,
        "counters_source": SourceInfo,
        "quality": QualityNote,
        "window": WindowInfo,
        "devices": DeviceUse,
        "other_devices": OtherDevice,
        "levels": Level,
        "work": WorkHeadline,
        "serving": Serving,
        "match": MatchInfo,
        "runtime": RuntimeInfo,
        "layer_types": LayerRow,
        "layers": LayerRow,
        "kernels": KernelRow,
        "tensor_curve": CurvePoint,
        "energy": EnergyUse,
        "samples": SampledUse,
        "tenants": SharedDevice,
        "findings": Finding,
        "together": ReplayedTogether,
    }


@dataclass(frozen=True)
class ComparedRun(Answer):
    """One of the runs.

    path: input file
    captures: all captures of its version, where several are compared as one; `path` is the one with
    the middle step, which the tables are of
    label: the shortest end of the path that no other run has
    device: product name of its first device
    devices: devices that worked
    window: its window: all, recording_window, steps, stable, step, range or common (all,
    recording_window, steps, stable, step, range, common)
    step_source: what made its steps
    steps: steps in its window
    total_ns: windows of all its devices together; without device work, of the host
    time_ns: the same for one step, rounded; without steps the total
    wall_ns: the same by the clock: of one device, not of all together
    kernel_ns: kernel time of a step, over all devices; without steps of the window
    batch: items of a step
    batch_source: given, shapes, or empty when it is not known
    tokens: tokens of a step, by recorded sizes
    item_ns: wall_ns for one item
    items_per_s: items per second
    tokens_per_s: tokens per second, where the program has tokens
    flops_per_s: achieved operations a second, of all devices together: a model, or measured
    mfu: model FLOPs utilization
    joules: measured energy of a step; without steps of the window
    joules_per_item: the same for one item
    precision: types in which its matrix products read, by kernel names, most time first
    profiler: what recorded it, and what else it recorded
    slowed: the profiler is likely to have slowed the host
    profiler_ns: of `wall_ns`, what the profiler itself may have taken at most
    rank: rank of a distributed job
    step_ns: duration of each step
    speedup: time of the first run over the time of this one: of an item where both batches are
    known, else of a step by the clock
    """

    path: str
    captures: List[str]
    label: str
    device: str
    devices: int
    window: str
    step_source: str
    steps: int
    total_ns: int
    time_ns: int
    wall_ns: int
    kernel_ns: int
    batch: Optional[int]
    batch_source: str
    tokens: Optional[int]
    item_ns: Optional[float]
    items_per_s: Optional[float]
    tokens_per_s: Optional[float]
    flops_per_s: Optional[float]
    mfu: Optional[float]
    joules: Optional[float]
    joules_per_item: Optional[float]
    precision: str
    profiler: str
    slowed: bool
    profiler_ns: int
    rank: Optional[int]
    step_ns: List[int]
    speedup: Optional[float]


@dataclass(frozen=True)
class ComparedChange(Answer):
    """The verdict about a run compared with the first.

    run: which, counted from 0
    verdict: no_difference (within 3 %, shown), faster, slower, undecided, same_job (ranks of one
    job), different_programs, or not_known: too few steps to tell noise, or inputs of another size
    (faster, slower, no_difference, undecided, same_job, not_known, different_programs)
    refused: why nothing is judged, such as steps of another kind or a capture given twice; empty:
    it is judged
    of: what the ratios are of: item, step or window
    ratio: its time over that of the first
    low: lower end of the ratio's 95 % interval
    high: upper end
    kernel_verdict: the same of the kernel time alone (faster, slower, no_difference, undecided,
    same_job, not_known, different_programs)
    kernel_ratio: its kernel time over that of the first
    kernel_low: lower end of that ratio's 95 % interval
    kernel_high: upper end
    captures: captures of the version that has fewer
    captures_needed: of an undecided verdict: about how many captures of each version, recorded in
    turns, would decide; null where nobody can tell
    remarks: what the interval does not say, a sentence each: rare long steps, a tail, a single
    capture
    own_low: least ratio of the programs without their profilers: the first with all of its time,
    this one less what its profiler may have taken; null where no profiler slowed a host
    own_high: the greatest: the other way round
    """

    run: int
    verdict: str
    refused: str
    of: str
    ratio: Optional[float]
    low: Optional[float]
    high: Optional[float]
    kernel_verdict: str
    kernel_ratio: Optional[float]
    kernel_low: Optional[float]
    kernel_high: Optional[float]
    captures: int
    captures_needed: Optional[int]
    remarks: List[str]
    own_low: Optional[float]
    own_high: Optional[float]


@dataclass(frozen=True)
class ComparedDifference(Answer):
    """Something other than the program that differs between the runs.

    setting: device, device_count, batch, tokens, precision, profiler, steps (what made them),
    length (how many) or rank (device, device_count, batch, tokens, precision, profiler, steps,
    length, rank)
    values: by run; empty: not known
    """

    setting: str
    values: List[str]


@dataclass(frozen=True)
class ComparedLevel(Answer):
    """One level, for every run.

    id: metric id
    value: share of the window, by run
    """

    id: str
    value: List[Optional[float]]


@dataclass(frozen=True)
class ComparedTime(Answer):
    """One part of the time, for every run in the order of `runs`.

    kind: idle, copy, layer_type, layer, kernel, phase (of the runtime) or, of samples alone, bar
    (idle, copy, layer_type, layer, kernel, bar, phase)
    name: cause, layer, kernel, phase or bar
    label: the same for a table: kernels by their short name, and what distinguishes those that look
    alike
    ns: device time, by run; of phases wall time
    change_ns: less that of the first run, by run
    count: kernel instances a step, by run
    """

    kind: str
    name: str
    label: str
    ns: List[int]
    change_ns: List[int]
    count: List[Optional[float]]


@dataclass(frozen=True)
class ComparedQueue(Answer):
    """One queue, for every run.

    id: framework, threadpool, or device:N
    mean_depth: mean depth over the window, by run
    empty: share of the window in which it was empty, by run
    wait_ns: median time from entering to leaving, by run
    """

    id: str
    mean_depth: List[Optional[float]]
    empty: List[Optional[float]]
    wait_ns: List[Optional[float]]


@dataclass(frozen=True)
class ComparedShape(Answer):
    """Kernel time of one operator with one set of inputs in one module and phase, for every run.

    name: operator; kernels without recorded shapes are one row
    phase: phase (other, forward, backward, optimizer, recompute, all, )
    shapes: sizes of its inputs
    module: its module; * for numbers in which equal blocks differ
    python: line of the program, of the last run that says it
    ns: kernel time, by run; all rows sum to `kernel_ns` of the run
    change_ns: less that of the first run, by run
    calls: calls a step, by run; 0: the run does not have it
    types: data types of its inputs, by run
    flops_per_s: operations a second of the median call, by run
    bytes_per_s: bytes a second of the median call, by run
    kernels: kernel with most of its time, by run
    """

    name: str
    phase: str
    shapes: str
    module: str
    python: str
    ns: List[int]
    change_ns: List[int]
    calls: List[Optional[float]]
    types: List[str]
    flops_per_s: List[Optional[float]]
    bytes_per_s: List[Optional[float]]
    kernels: List[str]


@dataclass(frozen=True)
class ComparedRole(Answer):
    """What the program computes in a phase, whatever the operators and kernels for it are called;
    kernel time for every run.

    role: layer types, such as Normalization; several where a compiler joined them in a run
    phase: phase; all: a run does not tell phases apart (other, forward, backward, optimizer,
    recompute, all, )
    ns: kernel time, by run; all rows sum to `kernel_ns` of the run
    change_ns: less that of the first run, by run
    calls: kernels a step, by run; 0: the run lacks the role
    kernels: kernel with most of its time, by run
    """

    role: str
    phase: str
    ns: List[int]
    change_ns: List[int]
    calls: List[Optional[float]]
    kernels: List[str]


@dataclass(frozen=True)
class ComparedLikeness(Answer):
    """Whether a run does the same work as the first.

    run: which run, counted from 0
    program: same, other_size (the same program on other inputs of unknown batch) or different
    (same, other_size, different)
    alike: share of the kernels of a step with the same role in the same order
    weights: share of the weights of forward passes that have the same sizes; null without shapes
    differs: in which way, where the program is not `same`
    common_ratio: time of its kernels over that of the first, where all changed alike, as by a
    clock, power limit or another GPU; null where they did not
    """

    run: int
    program: str
    alike: Optional[float]
    weights: Optional[float]
    differs: str
    common_ratio: Optional[float]


@dataclass(frozen=True)
class ComparedNode(Answer):
    """A node of the differential call tree. What lies under a node sums to it, for every run.

    id: number of the node
    parent: the node above it; null at the top
    depth: nodes above it
    kind: window, phase, module, operator, kernel, copy, idle (by cause) or others (window, phase,
    module, operator, python, annotation, kernel, copy, idle, others)
    name: what it is
    ns: device time, by run; the top has `time_ns`
    change_ns: less that of the first run, by run
    """

    id: int
    parent: Optional[int]
    depth: int
    kind: str
    name: str
    ns: List[int]
    change_ns: List[int]


@dataclass(frozen=True)
class ComparedCulprit(Answer):
    """A role, copies, or an idle cause that adds time to a run; up to three, the most first.

    run: which run, counted from 0
    kind: slower: the same kernels; replaced: other kernels; more_calls; new: the first run does not
    have the role; idle: an idle cause; few_steps: single steps, in or outside the window (slower,
    replaced, more_calls, new, idle, few_steps)
    role: layer types, kind of copy, idle, or outlier steps (which the window leaves out)
    cause: of idle time: its cause
    name: the operator that gained most in it; of idle time and outlier steps, what the host did
    longer for most of it
    phase: phase (other, forward, backward, optimizer, recompute, all, )
    shapes: sizes of its inputs, where these have most of the gain
    module: module with most of the gain
    python: line of the program, where stacks were recorded
    kernel: the kernel that gained most time there
    kernel_before: the one in whose place it runs, if it was replaced
    adds_ns: what it adds to a step: device time, and the host's for added calls
    low_ns: 2.5 % bound of that, by the spread of the steps; null with fewer than three
    high_ns: 97.5 % bound
    host_ns: of it, of the host for added calls, as far as the device idles more
    before_ns: device time of the role in the first run; where batches differ, for as many items
    after_ns: in this one
    calls_before: kernels or copies a step in the first run; of few_steps all steps
    calls_after: in this one; of few_steps those that it is in
    """

    run: int
    kind: str
    role: str
    cause: str
    name: str
    phase: str
    shapes: str
    module: str
    python: str
    kernel: str
    kernel_before: str
    adds_ns: int
    low_ns: Optional[int]
    high_ns: Optional[int]
    host_ns: int
    before_ns: int
    after_ns: int
    calls_before: Optional[float]
    calls_after: Optional[float]


@dataclass(frozen=True)
class ComparedLane(Answer):
    """What one stream ran in a step; what is too short to see is joined.

    name: stream
    start: after the start of the step
    length: durations
    what: of `names`: the longest of those that are joined
    events: how many are joined
    """

    name: str
    start: List[int]
    length: List[int]
    what: List[int]
    events: List[int]


@dataclass(frozen=True)
class ComparedStrip(Answer):
    """The step of median length of a run's first device, for a picture.

    run: which run, counted from 0
    ns: length of the step; of the window without steps
    names: short names of kernels and copies
    types: layer type of each
    lanes: streams, the busiest first, eight at most
    """

    run: int
    ns: int
    names: List[str]
    types: List[str]
    lanes: List[ComparedLane]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "lanes": ComparedLane,
    }


@dataclass(frozen=True)
class ComparedCheck(Answer):
    """One --fail-on rule, tried on one run.

    rule: as it was given
    run: which run, counted from 0
    value: what was compared with the limit, in the limit's unit (per cent, nanoseconds or joules)
    low: lower end of its 95 % interval, in the same unit
    high: upper end
    failed: the run is worse than the rule allows
    outcome: ok, failed, undecided (no data, or too few captures or steps to tell), refused (a run
    is incomplete, or the runs cannot be compared) (ok, failed, undecided, refused)
    captures_needed: undecided: about how many captures of each version, recorded in turns, would
    decide
    text: one sentence
    """

    rule: str
    run: int
    value: Optional[float]
    low: Optional[float]
    high: Optional[float]
    failed: bool
    outcome: str
    captures_needed: Optional[int]
    text: str


@dataclass(frozen=True)
class Comparison(Answer):
    """The answer of `gpufathom compare`.

    schema: name and version of this layout
    per: what times are of: a step or the window
    ranks_of_one_job: the runs are ranks of one job, which wait for each other: none is faster
    runs: the runs, in the order given
    changes: each run but the first, compared with the first
    differences: what differs other than the program and may explain a difference in time
    levels: the ladder of each run
    time: idle causes, copies and layer types, or bars of the waterfall, or, where a run has no
    device work, phases of the runtime; sum to time_ns
    waterfall: bars of the waterfall, down to the SMs and tensor cores where counters are; sum to
    time_ns of each run with device work
    phases: the runtime's phases for a step; sum to its span for a step
    queues: the queues of each run
    layers: kernel time by layer
    kernels: kernel time by kernel
    shapes: kernel time by operator and shapes
    roles: kernel time by role, the largest change first
    likeness: of each run but the first: whether it does the same work
    tree: differential call tree: phase, module, operators, kernel; the largest change first
    culprits: of each run, up to three: what adds most time beyond noise
    strips: a step of each run, for the page's timelines
    checks: --fail-on rules and what became of them
    """

    schema: str
    per: str
    ranks_of_one_job: bool
    runs: List[ComparedRun]
    changes: List[ComparedChange]
    differences: List[ComparedDifference]
    levels: List[ComparedLevel]
    time: List[ComparedTime]
    waterfall: List[ComparedTime]
    phases: List[ComparedTime]
    queues: List[ComparedQueue]
    layers: List[ComparedTime]
    kernels: List[ComparedTime]
    shapes: List[ComparedShape]
    roles: List[ComparedRole]
    likeness: List[ComparedLikeness]
    tree: List[ComparedNode]
    culprits: List[ComparedCulprit]
    strips: List[ComparedStrip]
    checks: List[ComparedCheck]
    _nested: ClassVar[Dict[str, Type[Answer]]] = {
        "runs": ComparedRun,
        "changes": ComparedChange,
        "differences": ComparedDifference,
        "levels": ComparedLevel,
        "time": ComparedTime,
        "waterfall": ComparedTime,
        "phases": ComparedTime,
        "queues": ComparedQueue,
        "layers": ComparedTime,
        "kernels": ComparedTime,
        "shapes": ComparedShape,
        "roles": ComparedRole,
        "likeness": ComparedLikeness,
        "tree": ComparedNode,
        "culprits": ComparedCulprit,
        "strips": ComparedStrip,
        "checks": ComparedCheck,
    }
