#!/usr/bin/env python3
"""A second reading of docs/idle.md: labels idle gaps from raw events in plain Python and compares with what gpufathom says.

    judge_idle.py GPUFATHOM [CAPTURE ...] [--gaps 30] [--seed 12] [--show] [--all]

Without captures: the Kineto traces of examples/, of captures/ beside this file without the mended twins, and of $GPUFATHOM_CORPUS.
From each it draws gaps at random, labels every nanosecond of them by the criteria, and takes the labels of gpufathom for the same
nanoseconds from `export --csv`. A gap is right when both agree on 95 % of it. Ends with 1 below the shares in thresholds.json.
"""
import argparse
import bisect
import collections
import csv
import functools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import raw

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Measured gaps of hardware between queued activities (docs/idle.md).
BOUND = {"nvidia": 20_000, "amd": 100_000}
SLOW_CALL = 200_000  # a launch or an allocation that lasts longer did more than its own work
INPUT_BYTES = 4096
SLOW_OPERATION = 10_000_000  # a first call that lasts longer, and ten times as long as any later one, did more than its own work
BRINGS_INPUT = {"aten::to", "aten::copy_", "aten::_to_copy"}

SYNC_CALL = re.compile(r"Synchronize|EventQuery.*Block|cuCtxSync", re.I)
ALLOCATION_CALL = re.compile(r"Malloc|Free|MemAlloc|MemCreate|MemMap|MemUnmap", re.I)
COPY_CALL = re.compile(r"(Memcpy|Memset)", re.I)
ONE_OFF_CALL = re.compile(r"ModuleLoad|LibraryLoad|LinkCreate|LinkAdd|LinkComplete|GraphInstantiate|GraphUpload|StreamBeginCapture"
                          r"|StreamEndCapture|CtxCreate|DevicePrimaryCtx|hiprtc|nvrtc|(cu|cuda|hip)Init$")
ONE_OFF_OPERATION = re.compile(r"\(dynamo_timed\)|cudagraph_trees.*(_record|: record|warmup)|CUDAGraphNode\.record|capture_begin|capture_end"
                               r"|torch/_dynamo/(convert_frame|output_graph|symbolic_convert)|torch/_inductor/(compile_fx|graph|scheduler|codecache|async_compile)"
                               r"|autotune|benchmark_all_configs|triton/compiler|CachingAutotuner\.(bench|precompile)|torch/cuda/graphs\.py.*(capture|__enter__|__exit__)"
                               r"|CUDAGraph\.instantiate", re.I)
FIRST_USE = 1_000_000  # no launch takes that long
MADE = re.compile(r"^triton_|^cupy_|nvfuser_")
CAPTURE_BEGINS, CAPTURE_ENDS = re.compile(r"StreamBeginCapture|capture_begin"), re.compile(r"StreamEndCapture|capture_end")
REPEATED_END = re.compile(r": (run|__call__)$")  # frames of the same files that run what was compiled, step by step
INPUT_PARTS = ("DataLoader", "dataloader.py", "torch/utils/data/", "IteratorGetNext", "Iterator::", "tf_data", "tf.data")
HOST_TRANSPORTS = ("gloo:", "mpi:", "ucc:")
COMMUNICATION = ("c10d::", "_c10d_functional::", "nccl:", "gloo:", "mpi:", "ucc:", "record_param_comms",
                 "torch.distributed.ddp.reducer", "HorovodAllreduce", "CollectiveReduce", "NcclAllReduce")
VALUE_OPERATIONS = {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero"}
BLOCKING_OPERATIONS = re.compile(r"block_until_ready|try_to_block", re.I)


@functools.lru_cache(maxsize=None)
def roles_of(name, kind):
    """Roles of the thread that has an operation, mark or Python frame of this name open."""
    roles = set()
    if ONE_OFF_OPERATION.search(name) and not REPEATED_END.search(name):
        roles.add("one_off")
    if name.startswith(HOST_TRANSPORTS):
        roles.add("host_transport")
    if name.startswith(COMMUNICATION):
        roles.add("communication")
    if any(part in name for part in INPUT_PARTS):
        roles.add("input")
    if name in VALUE_OPERATIONS or BLOCKING_OPERATIONS.search(name):
        roles.add("waits")
    # Marks of steps and record_function spans cover Python; they are no operations.
    if kind not in ("python_function", "user_annotation") and not ("#" in name and "::" not in name):
        roles.add("operation")
    return frozenset(roles)


def size_of(copy):
    return raw.number(copy.args.get("bytes", copy.args.get("Bytes")))


def is_input_copy(activity):
    return activity.kind == "memcpy" and "HtoD" in activity.name and not 0 <= size_of(activity) < INPUT_BYTES


def outermost_operation(activity, ops):
    """The operation that the program itself called for a device activity."""
    if activity.call is None:
        return None
    inside = [o for o in ops[activity.call.thread].at(activity.call.start) if "operation" in roles_of(o.name, o.kind)]
    return inside[0].name if inside else None


class Judge:
    def __init__(self, trace):
        self.trace = trace
        calls_by_thread, ops_by_thread = collections.defaultdict(list), collections.defaultdict(list)
        for call in trace.calls:
            calls_by_thread[call.thread].append(call)
        # Python frames and marks that say nothing of their thread are left out: there are very many.
        for op in trace.ops:
            if roles_of(op.name, op.kind):
                ops_by_thread[op.thread].append(op)
        threads = set(calls_by_thread) | set(ops_by_thread)
        self.captures_graphs = any(CAPTURE_BEGINS.search(s.name) for s in (*trace.calls, *trace.ops))
        self.calls = {t: raw.OpenSpans(calls_by_thread[t]) for t in threads}
        self.ops = {t: raw.OpenSpans(ops_by_thread[t]) for t in threads}
        self.main = self.main_threads(threads, ops_by_thread)
        self.vendor = "amd" if any(c.name.startswith("hip") for c in trace.calls[:2000]) else "nvidia"
        self.bound = BOUND[self.vendor]
        starts = [a.start for a in trace.activities]
        ends = [a.end for a in trace.activities]
        middle = (min(starts) + max(ends)) // 2 if starts else 0
        self.later = collections.defaultdict(int)  # the longest call in the second half, by name
        for c in trace.calls:
            if c.start >= middle:
                self.later[c.name] = max(self.later[c.name], c.end - c.start)
        self.first_launch, seen = set(), set()
        for call in trace.calls:
            for activity in call.started:
                if activity.name not in seen:
                    seen.add(activity.name)
                    self.first_launch.add(id(call))
        self.first_operations = self.slow_first(trace)
        self.first_uses = self.uses(trace, calls_by_thread)
        self.told_to_wait = self.stream_waits(calls_by_thread)
        self.captures = {t: self.graph_captures(calls_by_thread[t], [o for o in trace.ops if o.thread == t] if self.captures_graphs else []) for t in threads}

    def slow_first(self, trace):
        """First calls of operations that launch kernels, slow and ten times as long as any later one."""
        by_name = collections.defaultdict(list)
        for op in trace.ops:
            if op.kind not in ("python_function", "user_annotation"):
                by_name[op.name].append(op)
        launching = set()
        for activity in trace.activities:
            if activity.kind == "kernel" and activity.call is not None:
                inside = [o for o in self.ops[activity.call.thread].at(activity.call.start) if "operation" in roles_of(o.name, o.kind)]
                if inside:
                    launching.add(id(inside[-1]))
        first = set()
        for calls in by_name.values():
            calls.sort(key=lambda o: o.start)
            length = calls[0].end - calls[0].start
            if len(calls) > 1 and length >= SLOW_OPERATION and all(10 * (o.end - o.start) < length for o in calls[1:]) and id(calls[0]) in launching:
                first.add(id(calls[0]))
        return first

    def uses(self, trace, calls_by_thread):
        """[(start, end)] by thread in which nothing begins or ends, before a kernel's first launch and behind the last launch there."""
        spans = collections.defaultdict(list)
        for op in trace.ops:
            spans[op.thread].append(op)
        operations = any("operation" in roles_of(o.name, o.kind) for o in trace.ops)
        uses = collections.defaultdict(list)
        for thread, calls in calls_by_thread.items():
            everything = raw.OpenSpans(spans[thread])
            since = min((o.start for o in spans[thread]), default=None)
            for call in calls:
                if id(call) in self.first_launch and call.started[0].kind == "kernel" and since is not None and call.start - since >= FIRST_USE:
                    made = MADE.search(call.started[0].name) or (operations and call.name in ("cuLaunchKernel", "cuLaunchKernelEx"))
                    borders = sorted({since, call.start} | self.calls[thread].borders(since, call.start) | everything.borders(since, call.start))
                    for left, right in zip(borders, borders[1:]):
                        inside = [o for o in everything.at(left) if "operation" in roles_of(o.name, o.kind)]
                        launches = bool(inside) and inside[-1].end > call.start
                        long = right - left >= (FIRST_USE if launches else SLOW_OPERATION)
                        if long and not self.calls[thread].at(left) and (launches or (made and not inside)):
                            uses[thread].append((left, right))
                if call.started:
                    since = call.end
        return uses

    def is_input(self, activity):
        if not is_input_copy(activity):
            return False
        outer = outermost_operation(activity, self.ops)
        return outer is None or "::" not in outer or outer in BRINGS_INPUT

    @staticmethod
    def graph_captures(calls, ops):
        """[(start, end)] in which a thread captures a graph: what it launches there does not run."""
        edges = sorted([(s.end, True) for s in (*calls, *ops) if CAPTURE_BEGINS.search(s.name)] + [(s.start, False) for s in (*calls, *ops) if CAPTURE_ENDS.search(s.name)])
        captures, opened = [], None
        for time, begins in edges:
            if begins:
                opened = time
            elif opened is not None:
                captures.append((opened, time))
                opened = None
        return captures

    @staticmethod
    def main_threads(threads, ops):
        best = {}
        for thread in threads:
            rank = (str(thread[0]) == str(thread[1]), sum(o.kind != "python_function" for o in ops[thread]))
            if thread[0] not in best or rank > best[thread[0]][0]:
                best[thread[0]] = (rank, thread)
        return {thread: best[thread[0]][1] for thread in threads}

    def stream_waits(self, calls_by_thread):
        """Launch calls whose stream had been told to wait for an event since the thread's last launch there."""
        told = set()
        for calls in calls_by_thread.values():
            pending, unknown = set(), False
            for call in calls:
                if raw.STREAM_WAITS.search(call.name):
                    stream = self.trace.waits.get(call.correlation)
                    unknown |= stream is None
                    if stream is not None:
                        pending.add(stream)
                elif call.started:
                    stream = call.started[0].stream
                    if unknown or stream in pending:
                        told.add(id(call))
                    unknown = False
                    pending.discard(stream)
        return told

    def label(self, gap):
        """[(start, end, cause)] that cover a gap."""
        start, end, before, following = gap
        if following.call is None:
            if before is not None and 0 <= following.correlation == before.correlation:
                return self.device_late(gap, start)
            return [(start, end, "no_launch_record")]
        if before is not None and before.call is following.call and "Graph" in following.call.name:
            return self.device_late(gap, start)
        returned = min(max(following.call.end, start), end)
        pieces = self.host_late(start, returned, gap) if returned > start else []
        if returned < end:
            pieces += self.device_late(gap, returned)
        return pieces

    def device_late(self, gap, since):
        _, end, _, following = gap
        cause = self.queued(gap, end - since)
        turns = self.other_devices(following, since) if cause == "unexplained" else []
        pieces = []
        for left, right in turns:
            pieces += [(since, min(left, end), cause), (min(left, end), min(right, end), "dependency")]
            since = min(right, end)
        return [piece for piece in [*pieces, (since, end, cause)] if piece[0] < piece[1]]

    def other_devices(self, following, since):
        """[(start, end)] in which other devices of the process worked that this activity then began after."""
        processes = {thread[0] for thread in self.main}
        process = following.call.thread[0] if following.call else None
        spans = sorted((a.start, a.end) for a in self.trace.activities
                       if a.start < following.start and a.end > a.start and (len(processes) < 2 or (a.call and a.call.thread[0] == process)))
        if len(self.trace.device_ids()) < 2 or not spans or (len(processes) > 1 and process is None):
            return []
        last = max(right for _, right in spans)
        told = following.call is not None and id(following.call) in self.told_to_wait
        if not told if last > following.start else following.start - last > self.bound:
            return []
        turns = []
        for left, right in spans:
            left, right = max(left, since), min(right, following.start)
            if right <= since:
                continue
            if turns and left - turns[-1][1] <= self.bound:
                turns[-1][1] = max(turns[-1][1], right)
            else:
                turns.append([left, right])
        if turns and following.start - turns[-1][1] <= self.bound:
            turns[-1][1] = following.start
        return turns

    def queued(self, gap, length):
        """The device had the work and did not start it."""
        start, _, before, following = gap
        if length > self.bound:
            return "unexplained"
        if following.call is not None and id(following.call) in self.told_to_wait:
            return "dependency"
        ready = following.call is None or following.call.end <= start or following.call is (before and before.call)
        if before is not None and ready and before.stream != following.stream:
            return "dependency"
        return "kernel_gap"

    def host_late(self, start, end, gap):
        _, _, before, following = gap
        asked = []
        for thread in (following.call.thread, self.main.get(following.call.thread), before.call.thread if before and before.call else None):
            if thread is not None and thread not in asked:
                asked.append(thread)
        borders = {start, end}
        for thread in asked:
            borders |= self.calls[thread].borders(start, end) | self.ops[thread].borders(start, end)
        borders = sorted(borders)
        pieces = []
        for left, right in zip(borders, borders[1:]):
            cause = "host_other"
            if any(begin <= left < finish for thread in asked for begin, finish in self.captures.get(thread, ())):
                pieces.append((left, right, "start_up"))
                continue
            for thread in asked:
                used = any(begin <= left < finish for begin, finish in self.first_uses.get(thread, ()))
                answer = self.state(self.calls[thread].at(left), self.ops[thread].at(left), following, used)
                if answer:
                    cause = answer
                    break
            pieces.append((left, right, cause))
        return pieces

    def state(self, calls, ops, following, used):
        """The activity of a thread with these spans open; None when it has nothing open."""
        call = calls[-1] if calls else None
        roles = set()
        for op in ops:
            roles |= roles_of(op.name, op.kind)
        if "one_off" in roles or (call and self.one_off(call)):
            return "start_up"
        waiting = call is not None and bool(SYNC_CALL.search(call.name))
        if "host_transport" in roles or (waiting and "communication" in roles):
            return "communication"
        if "input" in roles:
            return "input"
        if waiting or "waits" in roles:
            return "sync"
        if call is not None and COPY_CALL.search(call.name) and call.started and call.started[0].kind == "memcpy":
            copied = self.copy_call(call, call.started[0])
            if copied:
                return copied
        inside = [o for o in ops if "operation" in roles_of(o.name, o.kind)]
        first = bool(inside) and id(inside[-1]) in self.first_operations
        if call is not None and ALLOCATION_CALL.search(call.name):
            return "start_up" if first else "allocation"
        if call is None and "operation" not in roles:
            return "start_up" if used else None
        if self.is_input(following):
            return "input"
        return "start_up" if first or (used and call is None) else "launch_bound"

    def copy_call(self, call, copy):
        if self.is_input(copy):
            return "input"
        if copy.end > call.end or "DtoD" in copy.name:
            return None  # a launch like any other
        value = 0 <= size_of(copy) < INPUT_BYTES
        if value and "HtoD" in copy.name:
            return None  # a scalar goes up
        return "sync" if value else "memcpy"

    def one_off(self, call):
        if ONE_OFF_CALL.search(call.name):
            return True
        if call.end - call.start < SLOW_CALL:
            return False
        if call.started:
            return id(call) in self.first_launch and call.started[0].kind == "kernel"
        return self.later[call.name] < max(SLOW_CALL, (call.end - call.start) // 10) and not SYNC_CALL.search(call.name) and not COPY_CALL.search(call.name)


def tool_pieces(program, path, origin_of):
    """{device: [(start, end, cause)]} as gpufathom labels them, on the judge's clock."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, "export", str(path), "--window", "all", "--csv", folder], capture_output=True, text=True)
        table = pathlib.Path(folder) / "idle_pieces.csv"
        if not table.exists():
            return None, done.stderr.strip()
        pieces = collections.defaultdict(list)
        with open(table, newline="") as file:
            for row in csv.DictReader(file):
                start = int(row["start_ns"])
                pieces[row["device"]].append((start, start + int(row["duration_ns"]), row["cause"]))
        first = None
        with open(pathlib.Path(folder) / "activities.csv", newline="") as file:
            for row in csv.DictReader(file):
                start = int(row["start_ns"])
                first = start if first is None else min(first, start)
        shift = first
        return {d: [(s - shift, e - shift, c) for s, e, c in p] for d, p in pieces.items()}, ""


class Pieces:
    """Labelled spans by their start, of which a gap sees those that reach into it."""

    def __init__(self, spans):
        self.spans = sorted(spans)
        self.starts = [start for start, _, _ in self.spans]
        self.longest = max((end - start for start, end, _ in self.spans), default=0)

    def within(self, start, end):
        return self.spans[bisect.bisect_left(self.starts, start - self.longest):bisect.bisect_left(self.starts, end)]


def agreed(mine, theirs):
    """Nanoseconds on which two lists of labelled spans say the same, and pairs where they do not."""
    same, differ = 0, collections.Counter()
    for start, end, cause in mine:
        for left, right, other in theirs:
            overlap = min(end, right) - max(start, left)
            if overlap <= 0:
                continue
            if cause == other:
                same += overlap
            else:
                differ[(cause, other)] += overlap
    return same, differ


def judge_capture(program, path, gaps_wanted, rng, show):
    trace = raw.read_trace(path)
    if not trace.activities:
        return None
    pieces, complaint = tool_pieces(program, path, trace)
    if pieces is None:
        print(f"{path.name}: {complaint}", file=sys.stderr)
        return None
    gaps = []
    for device in trace.device_ids():
        on_device = [a for a in trace.activities if a.device == device]
        gaps += [(device, g) for g in raw.gaps_of(on_device)]
    if not gaps:
        return None
    judge = Judge(trace)
    chosen = rng.sample(gaps, min(gaps_wanted, len(gaps))) if gaps_wanted else gaps
    by_device = [Pieces(spans) for spans in pieces.values()]
    right, same, total, differ = 0, 0, 0, collections.Counter()
    for device, gap in sorted(chosen, key=lambda g: g[1][0]):
        mine = judge.label(gap)
        best = (0, collections.Counter())
        # Devices are numbered anew by the tool: the one whose idle time covers the gap is the one.
        for theirs in by_device:
            answer = agreed(mine, theirs.within(gap[0], gap[1]))
            if answer[0] + sum(answer[1].values()) == gap[1] - gap[0] and answer[0] >= best[0]:
                best = answer
        length = gap[1] - gap[0]
        right += best[0] >= 0.95 * length
        same += best[0]
        total += length
        differ += best[1]
        if show and best[0] < 0.95 * length:
            said = ", ".join(f"{ours} not {tool} {ns / 1000:.1f} us" for (ours, tool), ns in best[1].most_common(3))
            print(f"    {path.name} at {gap[0]} ns, {length} ns before {gap[3].name[:50]}: {said}")
    return {"gaps": len(chosen), "right": right, "ns": total, "right_ns": same, "differ": differ}


def captures_of(names):
    if names:
        return [pathlib.Path(n) for n in names]
    found = sorted((ROOT / "examples").glob("*.json.gz")) + sorted((HERE / "captures").glob("**/*.json.gz"))
    if os.environ.get("GPUFATHOM_CORPUS"):
        found += sorted(pathlib.Path(os.environ["GPUFATHOM_CORPUS"]).glob("**/*.json.gz"))
    unique, seen = [], set()
    for path in found:
        key = (path.name, path.stat().st_size)
        if key not in seen and ".mended." not in path.name:
            seen.add(key)
            unique.append(path)
    return unique


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("captures", nargs="*")
    parser.add_argument("--gaps", type=int, default=30, help="gaps drawn from each capture, 0 for all")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--show", action="store_true", help="print each gap that differs")
    options = parser.parse_intermixed_args()
    rng = random.Random(options.seed)
    sums, differ, judged = collections.Counter(), collections.Counter(), 0
    print(f"{'capture':52} {'gaps':>5} {'right':>6} {'of time':>8}")
    for path in captures_of(options.captures):
        answer = judge_capture(options.program, path, options.gaps, rng, options.show)
        if answer is None:
            continue
        judged += 1
        for key in ("gaps", "right", "ns", "right_ns"):
            sums[key] += answer[key]
        differ += answer["differ"]
        print(f"{path.name[:52]:52} {answer['gaps']:5} {answer['right'] / answer['gaps']:6.1%} {answer['right_ns'] / answer['ns']:8.1%}")
    if not sums["gaps"]:
        print("no capture with gaps to judge")
        return 77
    by_count, by_time = sums["right"] / sums["gaps"], sums["right_ns"] / sums["ns"]
    print(f"{judged} captures, {sums['gaps']} gaps: {by_count:.1%} right by count, {by_time:.1%} by time")
    for (ours, tool), ns in differ.most_common(12):
        print(f"  {ours} by the criteria, {tool} by gpufathom: {ns / 1e6:.3f} ms")
    wanted = json.loads((HERE / "thresholds.json").read_text())["idle"]
    if by_count < wanted["by_count"] or by_time < wanted["by_time"]:
        print(f"wanted: {wanted['by_count']:.0%} by count, {wanted['by_time']:.0%} by time")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
