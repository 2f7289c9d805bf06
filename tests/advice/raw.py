"""Raw events of a Kineto trace, read without gpufathom: what the judges of this folder work from.

Times are whole nanoseconds from the first device activity. Nothing here is shared with the C++
code; where both read the same field they do so independently.
"""
import bisect
import gc
import gzip
import json
import re
from dataclasses import dataclass, field

DEVICE_KINDS = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "memcpy", "Memcpy": "memcpy",
                "gpu_memset": "memset", "Memset": "memset"}
CALL_KINDS = {"cuda_runtime", "cuda_driver", "Runtime", "hip_runtime"}
OP_KINDS = {"cpu_op", "user_annotation", "python_function", "Operator", "operator"}
STREAM_WAITS = re.compile(r"StreamWait(Event|Value)")
STEP_NAMES = re.compile(r"^ProfilerStep\s*#\s*\d+$")


@dataclass(slots=True)
class Activity:
    name: str
    kind: str
    start: int
    end: int
    device: object
    stream: object
    correlation: int
    args: dict
    call: object = None  # the host call that launched it


@dataclass(slots=True)
class Span:
    """A host call, operation, annotation or Python frame."""
    name: str
    start: int
    end: int
    thread: tuple
    correlation: int
    kind: str
    args: dict
    started: list = field(default_factory=list)  # device activities of a call


@dataclass
class Trace:
    activities: list
    calls: list
    ops: list
    waits: dict  # correlation of a stream-wait call -> stream that waits
    overheads: list
    devices: list
    metadata: dict
    origin: int = 0

    def device_ids(self):
        return sorted({a.device for a in self.activities}, key=str)


def nanoseconds(token):
    """A time in microseconds as printed, to whole nanoseconds, without going through a double."""
    text = str(token)
    if "e" in text or "E" in text:
        return round(float(text) * 1000)
    whole, _, part = text.partition(".")
    value = int(whole or "0") * 1000
    rest = int((part + "000")[:3] or "0")
    return value - rest if whole.startswith("-") else value + rest


def number(value, otherwise=-1):
    try:
        return int(value)
    except (TypeError, ValueError):
        return otherwise


def read_document(path):
    opened = gzip.open(path, "rb") if open(path, "rb").read(2) == b"\x1f\x8b" else open(path, "rb")
    with opened as file:
        text = file.read().decode("utf-8", "replace")
    gc.disable()  # looking for cycles in what has none takes a third of the reading
    try:
        return json.loads(text, parse_float=str, strict=False)
    finally:
        gc.enable()


def read_trace(path):
    document = read_document(path)
    metadata = document if isinstance(document, dict) else {}
    events = metadata.get("traceEvents", []) if metadata else document
    base = number(metadata.get("baseTimeNanoseconds"), 0)
    trace = Trace([], [], [], {}, [], metadata.get("deviceProperties", []), metadata)
    for event in events:
        if event.get("ph") != "X":
            continue
        kind, args = event.get("cat", ""), event.get("args") or {}
        start = base + nanoseconds(event["ts"])
        end = start + max(0, nanoseconds(event.get("dur", 0)))
        name, correlation = str(event.get("name", "")), number(args.get("correlation"))
        if kind in DEVICE_KINDS:
            trace.activities.append(Activity(name, DEVICE_KINDS[kind], start, end,
                                             args.get("device", event.get("pid")),
                                             args.get("stream", event.get("tid")), correlation,
                                             args))
        elif kind == "cuda_sync":
            if "wait_on_stream" in args or "wait_on_cuda_event_record_corr_id" in args:
                trace.waits[correlation] = args.get("stream")
        elif kind == "overhead":
            trace.overheads.append((start, end, name))
        elif kind in CALL_KINDS or kind in OP_KINDS:
            thread = (event.get("pid"), event.get("tid"))
            span = Span(name, start, end, thread, correlation,
                        "call" if kind in CALL_KINDS else kind, args)
            (trace.calls if kind in CALL_KINDS else trace.ops).append(span)
    settle(trace)
    return trace


def settle(trace):
    """Sorts, moves the origin to the first device activity, and joins launches by correlation."""
    trace.activities.sort(key=lambda a: (a.start, a.end))
    trace.origin = trace.activities[0].start if trace.activities else 0
    for span in [*trace.activities, *trace.calls, *trace.ops]:
        span.start -= trace.origin
        span.end -= trace.origin
    trace.overheads = [(start - trace.origin, end - trace.origin, name)
                       for start, end, name in trace.overheads]
    trace.calls.sort(key=lambda c: (c.start, -c.end))
    trace.ops.sort(key=lambda o: (o.start, -o.end))
    by_correlation = {}
    for call in trace.calls:
        if call.correlation >= 0 and not STREAM_WAITS.search(call.name):
            by_correlation.setdefault(call.correlation, call)
    for activity in trace.activities:
        if activity.correlation >= 0:
            activity.call = by_correlation.get(activity.correlation)
            if activity.call is not None:
                activity.call.started.append(activity)


def gaps_of(activities):
    """Stretches with no work on one device: (start, end, activity that ended last before, activity
    that ends the gap)."""
    gaps, covered, before = [], None, None
    for activity in activities:
        if covered is not None and activity.start > covered:
            gaps.append((covered, activity.start, before, activity))
        if before is None or activity.end >= covered:
            before = activity
        covered = activity.end if covered is None else max(covered, activity.end)
    return gaps


def steps_of(trace):
    """Marked steps as (name, host start, host end), in order, without nested repetitions."""
    marks = [o for o in trace.ops if STEP_NAMES.match(o.name)]
    steps, last = [], None
    for mark in marks:
        if last is not None and mark.start < last:
            continue
        steps.append((mark.name, mark.start, mark.end))
        last = mark.end
    return steps


class OpenSpans:
    """The spans of one thread that are open at an instant, outermost first. Spans of a thread nest."""

    def __init__(self, spans):
        self.spans = sorted(spans, key=lambda s: (s.start, -s.end))
        self.starts = [s.start for s in self.spans]
        self.parent = []
        stack = []
        for index, span in enumerate(self.spans):
            while stack and self.spans[stack[-1]].end <= span.start:
                stack.pop()
            self.parent.append(stack[-1] if stack else -1)
            stack.append(index)

    def at(self, time):
        index = bisect.bisect_right(self.starts, time) - 1
        found = []
        while index >= 0:
            if self.spans[index].end > time:
                found.append(self.spans[index])
            index = self.parent[index]
        return found[::-1]

    def borders(self, start, end):
        """Instants in (start, end) at which something opens or closes."""
        times = set()
        first = bisect.bisect_right(self.starts, start)
        last = bisect.bisect_left(self.starts, end)
        times.update(self.starts[first:last])
        for index in range(first, last):
            if start < self.spans[index].end < end:
                times.add(self.spans[index].end)
        for span in self.at(start):
            if start < span.end < end:
                times.add(span.end)
        return times
