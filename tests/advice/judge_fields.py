#!/usr/bin/env python3
"""What the captures of programs/fields.json say by raw events, and what is true of them by the
criteria written there.

    judge_fields.py FOLDER [--verdicts] [NAME...]   (FOLDER: what `programs/run FOLDER --fields` left; one block for each capture;
                                                     --verdicts writes FOLDER/proposed.json, for a
                                                     person to go over)

Reads traces without gpufathom, and labels the time by the criteria alone, not by docs/idle.md: each
instant without work on the GPU goes to what the thread that launches next was in. `proposed` is
what the numbers allow; the verdict is a person's.
"""
import bisect
import collections
import gzip
import json
import pathlib
import re
import sys

import raw
from facts import FP32, MULTIPLY, blocks, overlap, union

HERE = pathlib.Path(__file__).resolve().parent
SMS = 132
LONG = 1_000_000
SYNC = re.compile(r"Synchronize|EventQuery")
ALLOCATES = re.compile(r"^(cudaMalloc|cudaFree|cudaHostAlloc|cudaFreeHost|cuMem|cudaMallocHost|cudaHostRegister)")
LAUNCH = re.compile(r"Launch|Memset|Memcpy|GraphLaunch")
WAITS = re.compile(r"aten::(item|_local_scalar_dense|is_nonzero|nonzero|masked_select|_unique2?|unique_consecutive)$")
ELEMENTWISE = re.compile(r"elementwise|vectorized|softmax|SoftMax|layer_?norm|batch_norm|bn_|dropout|reduce_kernel|RowwiseMoments|GroupNorm|native_group"
                         r"|CatArray|fused_dropout|where|clamp|cunn_|nll_loss|rms_norm|tensor_kernel_scan|distribution|GammaBeta|ComputeFused", re.I)
COPYING = re.compile(r"direct_copy|bfloat16_copy|float16_copy|copy_kernel|copy_device_to_device|Memcpy DtoD|nchwToNhwc|nhwcToNchw|transpose", re.I)
LAYOUT = re.compile(r"nchwToNhwc|nhwcToNchw", re.I)
FP64 = re.compile(r"dgemm|d884gemm|double", re.I)


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """Fields of a protocol buffer: (number, value)."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if key & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def read_xplane(path):
    """Device work and host events of a profile by JAX: (kind, name, start, end, line), in
    nanoseconds."""
    events = []
    for number, plane in fields(gzip.open(path).read()):
        if number != 1:
            continue
        parts = list(fields(plane))
        plane_name = next((v.decode() for n, v in parts if n == 2), "")
        names = {}
        for n, v in parts:
            if n == 4:
                entry = dict(fields(v))
                meta = dict(fields(entry[2]))
                names[entry.get(1, 0)] = bytes(meta.get(2, b"")).decode("utf-8", "replace")
        for n, v in parts:
            if n != 3:
                continue
            line = list(fields(v))
            line_name = next((x.decode("utf-8", "replace") for m, x in line if m == 2), "")
            base = next((x for m, x in line if m == 3), 0)
            for m, x in line:
                if m == 4:
                    event = dict(fields(x))
                    start = base + event.get(2, 0) // 1000
                    on_device = "GPU" in plane_name and "Stream" in line_name
                    events.append(("device" if on_device else "host", names.get(event.get(1), ""), start, start + event.get(3, 0) // 1000,
                                   f"{plane_name}|{line_name}"))
    return events


class Thread:
    """The place of a thread at an instant."""

    def __init__(self, spans):
        self.open = raw.OpenSpans(spans)
        self.spans = self.open.spans

    def nothing_around(self, time):
        """The stretch without any span around an instant."""
        place = bisect.bisect_right(self.open.starts, time)
        after = self.spans[place].start if place < len(self.spans) else 1 << 62
        before = 0 if place else -(1 << 62)
        index = place - 1
        while index >= 0 and place - index < 64:
            before = max(before, self.spans[index].end)
            index -= 1
        return after - before


def launches_inside(trace):
    starts = collections.defaultdict(list)
    for call in trace.calls:
        starts[call.thread].append(call.start)
    return starts


def size_of(activity):
    return max(0, raw.number(activity.args.get("bytes", activity.args.get("Bytes")), 0))


class Judge:
    def __init__(self, trace):
        self.trace = trace
        spans = collections.defaultdict(list)
        for span in trace.calls:
            spans[span.thread].append(span)
        for span in trace.ops:
            if span.kind == "cpu_op":
                spans[span.thread].append(span)
        self.threads = {thread: Thread(mine) for thread, mine in spans.items()}
        self.main = max(self.threads, key=lambda t: len(self.threads[t].spans), default=None)
        self.calls_of = launches_inside(trace)
        self.down = sorted(a.end for a in trace.activities if a.kind == "memcpy" and "DtoH" in a.name and size_of(a) >= 4096)

    def uses_gpu(self, op):
        starts = self.calls_of[op.thread]
        place = bisect.bisect_left(starts, op.start)
        return place < len(starts) and starts[place] < op.end

    def state(self, thread, time):
        stack = self.threads[thread].open.at(time) if thread in self.threads else []
        if not stack and thread != self.main and self.main is not None:
            thread = self.main
            stack = self.threads[thread].open.at(time)
        if not stack:
            return "host_long" if self.threads[thread].nothing_around(time) >= LONG else "host_short"
        leaf = stack[-1]
        if leaf.kind == "call":
            if SYNC.search(leaf.name):
                return "sync"
            if ALLOCATES.search(leaf.name):
                return "alloc"
            copies = [a for a in leaf.started if a.kind == "memcpy" and ("DtoH" in a.name or "HtoD" in a.name)]
            if copies and copies[0].end <= leaf.end:
                small = size_of(copies[0]) < 4096
                return "sync" if small and "DtoH" in copies[0].name else "copy_down" if "DtoH" in copies[0].name else "copy_up"
            if LAUNCH.search(leaf.name) or leaf.started:
                return "launch" if leaf.end - leaf.start < LONG else "slow_call"
            return "launch" if leaf.end - leaf.start < 200_000 else "slow_call"
        if any(WAITS.search(span.name) for span in stack):
            return "sync"
        outer = [span for span in stack if span.kind == "cpu_op"]
        for span in outer:
            if span.end - span.start >= 100_000 and not self.uses_gpu(span):
                return "cpu_op"
        piece = self.piece(leaf, time)
        return "cpu_op" if piece >= LONG else "launch"

    def piece(self, op, time):
        """The stretch of an operation without calls of the GPU around an instant: work by itself
        inside it."""
        starts = self.calls_of[op.thread]
        place = bisect.bisect_left(starts, time)
        after = min(op.end, starts[place] if place < len(starts) else op.end)
        before = op.start
        if place:
            before = max(before, starts[place - 1])
        return after - before

    def label(self, gap, first=False):
        """Pieces of a gap: (label, time, next is an input copy, follows a copy down)."""
        start, end, _, after = gap
        up = after.kind == "memcpy" and "HtoD" in after.name and size_of(after) >= 4096
        call = after.call
        if call is None:
            return [("no_launch", end - start, up)]
        host_end = min(end, max(start, call.end))
        pieces = []
        if end > host_end:
            pieces.append(("device", end - host_end, up))
        if host_end > start:
            thread = call.thread
            times = {start, host_end}
            for mine in {thread, self.main}:
                if mine in self.threads:
                    times |= self.threads[mine].open.borders(start, host_end)
            times = sorted(times)
            for left, right in zip(times, times[1:]):
                pieces.append((self.state(thread, left), right - left, up))
        return pieces


def share(part, whole):
    return part / whole if whole else 0.0


def judge_trace(path, run):
    trace = raw.read_trace(path)
    acts = trace.activities
    judge = Judge(trace)
    start = min([acts[0].start] + [o.start for o in trace.ops if o.kind == "cpu_op"])
    end = max(max(a.end for a in acts), max([o.end for o in trace.ops if o.kind == "cpu_op"], default=0))
    last = max(a.end for a in acts)
    whole, window = end - start, last - acts[0].start
    busy = sum(e - s for s, e in union([(a.start, a.end) for a in acts]))
    kernels = [a for a in acts if a.kind == "kernel"]
    spans = union([(k.start, k.end) for k in kernels])
    kernel_busy = sum(e - s for s, e in spans)
    kernel_time = sum(k.end - k.start for k in kernels) or 1
    idle, before_up, drained = collections.Counter(), 0, 0
    ended = None
    for gap in raw.gaps_of(acts):
        pieces = judge.label(gap)
        waited = any(label == "sync" for label, _, _ in pieces)
        for label, time, up in pieces:
            idle[label] += time
            if up and label in ("host_long", "cpu_op", "launch", "host_short", "copy_up", "slow_call"):
                before_up += time
            if waited and label in ("launch", "host_short"):
                drained += time
    # what the host did before the first activity and after the last: a loss where the program goes
    # on, not in the window of the work
    around = collections.Counter()
    for left, right in ((start, acts[0].start), (last, end)):
        times = sorted({left, right} | judge.threads[judge.main].open.borders(left, right)) if judge.main and right > left else []
        for one, other in zip(times, times[1:]):
            around[judge.state(judge.main, one)] += other - one
    copies = collections.defaultdict(lambda: [0, 0, 0])
    alone_copies = 0
    for a in acts:
        if a.kind == "memcpy":
            key = re.sub(r"^Memcpy ", "", a.name)
            copies[key][0] += 1
            copies[key][1] += a.end - a.start
            copies[key][2] += size_of(a)
            if "DtoD" not in a.name:
                alone_copies += a.end - a.start - overlap([[a.start, a.end]], spans)
    pageable = sum(v[1] for k, v in copies.items() if "Pageable" in k)
    ups = [a for a in acts if a.kind == "memcpy" and "HtoD" in a.name]
    small_ups = sum(size_of(a) < 256 * 1024 for a in ups)

    def of(test):
        return share(sum(k.end - k.start for k in kernels if test(k)), kernel_time)
    tiny = [k for k in kernels if k.end - k.start < 5000]
    grid_loss = sum((k.end - k.start) * (1 - b / SMS) for k in kernels if 0 < (b := blocks(k)) < SMS)
    elementwise = of(lambda k: ELEMENTWISE.search(k.name) and not MULTIPLY.search(k.name) and "triton" not in k.name)
    copying = of(lambda k: COPYING.search(k.name))
    fp32 = of(lambda k: FP32.search(k.name) and "tf32" not in k.name)
    fp64 = of(lambda k: FP64.search(k.name) and MULTIPLY.search(k.name))
    ops = collections.Counter(o.name for o in trace.ops if o.kind == "cpu_op")
    calls = collections.Counter()
    for c in trace.calls:
        calls[c.name, "n"] += 1
        calls[c.name, "ns"] += c.end - c.start
    alloc = sum(calls[name, "ns"] for name, key in list(calls) if key == "n" and ALLOCATES.search(name))
    sync = sum(calls[name, "ns"] for name, key in list(calls) if key == "n" and SYNC.search(name))
    steps = run.get("active", 1)
    alone = run["alone"]["median_ms"] if "alone" in run else 0
    busy_step = busy / 1e6 / steps
    own = sum(e - s for s, e in union([(k.start, k.end) for k in kernels if k.call is not None]))
    host_alone = 1 - own / 1e6 / steps / alone if alone else 0
    w = {k: share(v, window) for k, v in idle.items()}
    facts = {
        "window_ms": window / 1e6, "busy": share(busy, window), "kernels": len(kernels), "kernel_busy": share(kernel_busy, window),
        "step_ms_traced": window / 1e6 / steps, "busy_ms_step": busy_step, "alone_ms": alone, "host_share_alone": host_alone,
        "idle": {k: round(v, 4) for k, v in sorted(w.items(), key=lambda x: -x[1])}, 
        "around": {k: round(share(v, whole), 4) for k, v in around.most_common() if v > 0.01 * whole}, "inner": share(window, whole),
        "before_input_copy": share(before_up, window), "launch_after_sync": share(drained, window),
        "copies": {k: f"x{v[0]} {v[1] / 1e6:.2f}ms {v[2] / 1e6:.2f}MB" for k, v in copies.items()}, "copies_alone": share(alone_copies, window),
        "pageable": share(pageable, window), "small_ups": small_ups,
        "tiny_count": share(len(tiny), len(kernels)), "tiny_time": share(sum(k.end - k.start for k in tiny), window),
        "elementwise": elementwise, "copying": copying, "layout": of(lambda k: LAYOUT.search(k.name)), "fp32": fp32, "fp64": fp64,
        "multiply": of(lambda k: MULTIPLY.search(k.name)), "grid_loss": share(grid_loss, kernel_time),
        "alloc_calls": share(alloc, window), "sync_calls": share(sync, window),
    }
    by_name = collections.Counter()
    for k in kernels:
        by_name[k.name] += k.end - k.start
    facts["top"] = [f"{n / kernel_time:.1%} {name[:110]}" for name, n in by_name.most_common(7)]
    facts["calls"] = [f"{n} x{calls[n, 'n']} {calls[n, 'ns'] / 1e6:.2f}ms" for n in sorted({n for n, _ in calls}, key=lambda n: -calls[n, "ns"])[:6]]
    facts["ops"] = dict(ops.most_common(14))
    return facts


def losses_of(f):
    """The classes of time that the GPU does not work for, by share of the window: what a headline
    may name."""
    i = f["idle"].get
    return {
        "launch": i("launch", 0) + i("host_short", 0) - 0.0, "sync": i("sync", 0), "alloc": i("alloc", 0), "copy_down": i("copy_down", 0),
        "copy_up": i("copy_up", 0), "host": i("host_long", 0), "cpu_op": i("cpu_op", 0), "slow_call": i("slow_call", 0),
        "device": i("device", 0), "copies": f["copies_alone"],
    }


def proposed(f):
    """Ids that the numbers allow, by the criteria."""
    i = f["idle"].get
    launch = i("launch", 0) + i("host_short", 0)
    idle = 1 - f["busy"]
    true = set()
    about = f["around"].get
    if launch >= 0.02:
        true.add("launch_bound")
    if i("sync", 0) + f["launch_after_sync"] >= 0.02 or i("sync", 0) >= 0.01:
        true.add("sync_in_step")
    if max(i("host_long", 0), about("host_long", 0)) >= 0.02:
        true |= {"host_bound", "gpu_idle"}
    if max(i("cpu_op", 0), about("cpu_op", 0)) >= 0.02:
        true.add("cpu_operators")
    if f["before_input_copy"] >= 0.02:
        true.add("input_bound")
    if i("copy_up", 0) + i("copy_down", 0) + f["copies_alone"] >= 0.02 and f["copies"]:
        true.add("blocking_copies")
    if f["alloc_calls"] >= 0.01:
        true.add("device_allocations")
    if f["small_ups"] >= 8:
        true.add("small_copies")
    if f["tiny_count"] >= 0.5 and f["tiny_time"] >= 0.02:
        true.add("tiny_kernels")
    if f["elementwise"] >= 0.1 and f["kernel_busy"] >= 0.05:
        true.add("unfused_elementwise")
    if f["grid_loss"] >= 0.05:
        true.add("small_grids")
    if idle >= 0.25 or f["grid_loss"] >= 0.25:
        true |= {"room_in_memory"}
    if launch >= 0.25 or f["grid_loss"] >= 0.25:
        true |= {"small_batch"}
    if f["copying"] >= 0.03:
        true |= {"casts", "layout_copies"}
    if f["layout"] >= 0.03:
        true.add("no_channels_last")
    if f["fp32"] >= 0.1:
        true.add("fp32_without_tensor_cores")
    if f["fp64"] >= 0.05:
        true.add("fp64")
    if f["kernel_busy"] >= 0.85:
        true.add("kernel_bound")
    return true


LABELS = {
    "launch": ["idle, launch-bound"], "sync": ["idle, host synchronization"], "alloc": ["idle, launch-bound", "idle, other host work", "idle, start-up"],
    "copy_down": ["idle, blocking copies", "idle, blocking copy"], "copy_up": ["idle, blocking copies", "idle, blocking copy", "idle, input pipeline"],
    "host": ["idle, other host work"], "cpu_op": ["idle, other host work"], "slow_call": ["idle, start-up", "idle, launch-bound"],
    "device": ["idle, kernel launch gap", "idle, waits for another stream", "idle, unexplained gap"], "copies": ["memory copies only"],
}
UNMEASURED = {"eager_attention", "memory_bound", "low_occupancy", "contended_atomics", "unfused_optimizer", "data_dependent_sizes", "recompilation"}


def headline_labels(f):
    """The losses that a headline may name: the largest, and those within a tenth of the time of
    it."""
    losses = losses_of(f)
    largest = max(losses.values(), default=0)
    named = {label for kind, part in losses.items() if part >= max(largest - 0.1, 0.01) for label in LABELS[kind]}
    names = {"host_long": "host", "host_short": "launch"}
    wide = {kind: part * f["inner"] for kind, part in losses.items()}
    for label, part in f["around"].items():
        wide[names.get(label, label)] = wide.get(names.get(label, label), 0) + part
    most = max(wide.values(), default=0)
    named |= {label for kind, part in wide.items() if part > largest * f["inner"] and part >= max(most - 0.1, 0.02) for label in LABELS.get(kind, [])}
    if f["before_input_copy"] >= max(largest - 0.1, 0.01):
        named.add("idle, input pipeline")
    if f["idle"].get("sync", 0) + f["launch_after_sync"] >= max(largest - 0.1, 0.01):
        named.add("idle, host synchronization")
    return sorted(named)


def verdict_of(name, f, fault, mended, gain):
    """The draft of a verdict by the numbers and the planted fault, for a person to check."""
    allowed = proposed(f)
    if fault and not mended:
        allowed |= set(fault["first"]) | (UNMEASURED & set(fault["may"]))
    must = ["/".join(sorted(fault["first"]))] if fault and not mended and fault["first"] and (gain or 0) >= 0.05 else []
    ofthehost = {"launch_bound", "input_bound", "host_bound", "sync_in_step", "cpu_operators", "blocking_copies", "small_batch", "gpu_idle", "small_copies"}
    false_of_program = sorted(allowed & ofthehost) if f["host_share_alone"] < 0.05 else []
    return {"is": "", "must": must, "fair": sorted(allowed), "headline": headline_labels(f), "kernel_bound": f["kernel_busy"] >= 0.85,
            "not_of_program": false_of_program}


def judge_xplane(path, run):
    events = read_xplane(path)
    device = sorted((s, e, n) for kind, n, s, e, _ in events if kind == "device")
    start, end = device[0][0], max(e for _, e, _ in device)
    window = end - start
    busy = sum(e - s for s, e in union([(s, e) for s, e, _ in device]))
    by_name, host = collections.Counter(), collections.Counter()
    for s, e, n in device:
        by_name[n] += e - s
    for kind, n, s, e, line in events:
        if kind == "host" and e > start and s < end:
            host[n[:70]] += e - s
    alone = run["alone"]["median_ms"] if "alone" in run else 0
    steps = run.get("active", 1)
    worked = union([(s, e) for s, e, _ in device])
    gaps = [after[0] - before[1] for before, after in zip(worked, worked[1:])]
    return {"window_ms": window / 1e6, "busy": share(busy, window), "device events": len(device), "alone_ms": alone, "busy_ms_step": busy / 1e6 / steps,
            "host_share_alone": 1 - busy / 1e6 / steps / alone if alone else 0, "tiny_count": share(sum(e - s < 5000 for s, e, _ in device), len(device)),
            "gaps over 1 ms": [round(g / 1e6, 2) for g in gaps if g > 1e6][:12], "gaps": f"{sum(gaps) / 1e6:.2f}ms in {len(gaps)}",
            "top": [f"{n / 1e6:.3f}ms {name[:110]}" for name, n in by_name.most_common(8)],
            "host": [f"{n / 1e6:.2f}ms {name}" for name, n in host.most_common(14)]}


def gain_of(runs, name):
    """The time saved for an item in the mended program."""
    both = [runs.get(n, {}) for n in (name, f"{name}.mended")]
    if not all("alone" in r for r in both):
        return None
    before, after = (r["alone"]["median_ms"] / r.get("items", 1) for r in both)
    return 1 - after / before


def main():
    folder, *names = [a for a in sys.argv[1:] if a != "--verdicts"]
    folder, verdicts = pathlib.Path(folder), {}
    runs = {r["program"]: r for r in json.loads((folder / "runs.json").read_text())}
    truth = json.loads((HERE / "programs" / "fields.json").read_text())
    order = [n for fault in truth["faults"] for n in (fault, f"{fault}.mended")] + list(truth["healthy"])
    for name in names or order:
        if "error" in runs.get(name, {}):
            print(f"\n=== {name}: {runs[name]['error'][:160]}")
            continue
        print(f"\n=== {name}: {truth['faults'].get(name.split('.')[0], {}).get('planted', 'healthy')}")
        trace, plane = folder / f"{name}.json.gz", folder / f"{name}.xplane.pb.gz"
        if not trace.exists() and not plane.exists():
            print("no capture")
            continue
        f = judge_trace(trace, runs[name]) if trace.exists() else judge_xplane(plane, runs[name])
        for key, value in f.items():
            print(f"  {key}: {value:.3f}" if isinstance(value, float) else f"  {key}: {value}")
        if trace.exists():
            print("  losses: " + ", ".join(f"{k} {v:.1%}" for k, v in sorted(losses_of(f).items(), key=lambda x: -x[1]) if v >= 0.01))
            print(f"  proposed: {' '.join(sorted(proposed(f)))}")
            plain = name.split(".")[0]
            gain = gain_of(runs, plain)
            print(f"  gain of mending, both without a profiler: {gain if gain is None else f'{gain:.1%}'}")
            verdicts[name] = verdict_of(name, f, truth["faults"].get(plain), name != plain, gain)
            print(f"  verdict: {json.dumps(verdicts[name])}")
    if "--verdicts" in sys.argv:
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(verdict)}" for name, verdict in verdicts.items())
        (folder / "proposed.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
