"""Steps of real captures with ProfilerStep marks, worked out again from their raw events and held
to what `analyze` says.
Usage: marked_steps.py PROGRAM [TEXT] [FOLDER]...   (only captures whose path holds TEXT; more folders with captures)

A step begins with its mark; while the device still does earlier work, when that has ended; never
after its own first kernel. Earlier work is what earlier marks launched, and what was launched
before the first mark, or by a call that is not in the capture, where it began before the first
step's own kernel. Three readings of the first step are counted: this one, the one in which a kernel
without a call belongs to the time in which it runs, and from first kernel to first kernel. Where
the last two of these are not above 1.2 times the median, the first must not be.
"""
import bisect
import decimal
import functools
import gc
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["examples", "tests/advice", "tests/ranks", "tests/work"]
ON_DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"cuda_runtime", "cuda_driver"}
FAR = 1.2
ALLOWED_NS = 2  # rounding of a time


def matters(event):
    """Of a trace's events most are operations and frames, which steps are not worked out from."""
    return event.get("cat") in ON_DEVICE or event.get("cat") in CALLS or str(event.get("name")).startswith("ProfilerStep#")


def events_of(path):
    """Spans that matter as (category, name, process, thread, start, end, correlation, device), in ns."""
    text = gzip.decompress(path.read_bytes())
    if b"ProfilerStep#" not in text:
        return
    try:
        trace = json.loads(text, parse_float=str)  # exact, and most are never looked at
    except ValueError:
        return
    if not isinstance(trace, dict):
        return
    base = int(trace.get("baseTimeNanoseconds") or 0)
    for event in trace.get("traceEvents", []):
        if event.get("ph") == "X" and "ts" in event and matters(event):
            start = base + round(decimal.Decimal(event["ts"]) * 1000)
            args = event.get("args") or {}
            yield (event.get("cat"), str(event.get("name")), event.get("pid"), event.get("tid"),
                   start,
                   start + round(decimal.Decimal(event.get("dur", 0)) * 1000),
                   args.get("correlation"), args.get("device"))


def marks_of(events):
    threads = {}
    for cat, name, pid, tid, start, end, _, _ in events:
        if name.startswith("ProfilerStep#") and cat != "gpu_user_annotation":
            threads.setdefault((pid, tid), []).append((start, end, int(name.split("#")[1])))
    if not threads:
        return None, []
    (pid, _), marks = max(threads.items(), key=lambda each: len(each[1]))
    return pid, sorted(marks)


class Raw:
    """The device's side of each mark."""

    def __init__(self, events):
        self.pid, self.marks = marks_of(events)
        calls = {correlation: (pid, start) for cat, _, pid, _, start, _, correlation, _ in events
                 if cat in CALLS and correlation is not None}
        begins = [mark[0] for mark in self.marks]
        self.own = [[] for _ in self.marks]  # (start, end, is a kernel)
        self.before, self.unknown, devices = [], [], set()
        for cat, _, _, _, start, end, correlation, device in events:
            if cat not in ON_DEVICE:
                continue
            pid, called = calls.get(correlation, (None, None))
            if called is None:
                self.unknown.append((start, end, device))
                continue
            at = bisect.bisect_right(begins, called) - 1
            if at < 0:
                self.before.append((start, end, device))
            elif called < self.marks[at][1] and pid == self.pid:
                self.own[at].append((start, end, cat == "kernel"))
                devices.add(device)
        self.before = [span for span in self.before if span[2] in devices]
        self.unknown = [span for span in self.unknown if span[2] in devices]

    def first(self, at):
        return min((start for start, _, kernel in self.own[at] if kernel),
                   default=min((span[0] for span in self.own[at]), default=None))

    def steps(self, as_it_runs):
        """[(number, start, end)]; `as_it_runs`: what no call launched belongs to the mark in which
        it begins."""
        steps, free = [], None
        for at, (begin, end, number) in enumerate(self.marks):
            if not self.own[at]:
                continue
            first = self.first(at)
            if not steps:
                limit = begin if as_it_runs else first
                earlier = [span[1] for span in self.unknown
                           if span[0] < limit] + [span[1] for span in self.before]
                free = max(earlier, default=begin)
            start = min(first, max(begin, free))
            if steps and start <= steps[-1][1]:
                continue
            if steps:
                steps[-1][2] = start
            steps.append([number, start, max(end, max(span[1] for span in self.own[at]))])
            free = max(free, max((span[1] for span in self.own[at] if span[2]),
                                 default=max(span[1] for span in self.own[at])))
        return steps

    def from_kernel_to_kernel(self):
        firsts = [self.first(at) for at in range(len(self.marks)) if self.own[at]]
        return [after - before for before, after in zip(firsts, firsts[1:])]


def first_is_long(durations):
    return len(durations) > 2 and durations[0] > FAR * statistics.median(durations[1:])


def wrong_in(window, steps):
    """The errors in the program's answer, by the raw events."""
    told = window["all_steps"]
    if [step["index"] for step in told] != [step[0] for step in steps]:
        return f"steps {[step['index'] for step in told]} for {[step[0] for step in steps]}"
    for step, (number, start, end) in zip(told, steps):
        if abs(step["start_ns"] - start) > ALLOWED_NS or abs(step["start_ns"] + step["duration_ns"] - end) > ALLOWED_NS:
            return f"step {number}: {step['start_ns']} + {step['duration_ns']} for {start} + {end - start}"
    if any(one["start_ns"] + one["duration_ns"] != other["start_ns"]
           for one, other in zip(told, told[1:])):
        return "steps that do not follow each other"
    inside = window["steps"]
    if window["kind"] == "steps" and sum(step["duration_ns"]
                                         for step in inside) != window["duration_ns"]:
        return "steps that do not add up to the window"
    if any(step["role"] != "ordinary" for step in inside) and any(step["role"] == "ordinary"
                                                                  for step in told):
        return "a step in the window that is far from the others"
    return None


def judge(program, path):
    events = list(events_of(path))
    if not any(event[1].startswith("ProfilerStep#") for event in events):
        return None
    raw = Raw(events)
    steps = raw.steps(False)
    if not steps:
        return None
    run = subprocess.run([program, "analyze", path, "--json"], capture_output=True, text=True)
    if not run.stdout:
        return None
    window = json.loads(run.stdout)["window"]
    if window["step_source"] != "marks:ProfilerStep":
        return None
    told = [step["duration_ns"] for step in window["all_steps"]]
    wrong = wrong_in(window, steps)
    in_raw = first_is_long(raw.from_kernel_to_kernel() + [steps[-1][2] - raw.first(len(raw.marks) - 1)]
                           if raw.own[-1] else raw.from_kernel_to_kernel())
    long = first_is_long(told)
    if long and not in_raw:
        wrong = wrong or f"the first of {told} is long, and its kernels are not"
    counted = [step["duration_ns"] for step in window["steps"]]
    return (path, len(told) > 2, long,
            first_is_long([end - start for _, start, end in raw.steps(True)]), in_raw,
            first_is_long(counted), wrong)


def main():
    gc.disable()  # looking for cycles in what has none takes a third of the reading
    program, text = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    folders = [ROOT / folder for folder in FOLDERS] + [pathlib.Path(folder)
                                                       for folder in sys.argv[3:]]
    if os.environ.get("GPUFATHOM_CORPUS"):
        folders.append(pathlib.Path(os.environ["GPUFATHOM_CORPUS"]))
    paths = [path for folder in folders for path in sorted(folder.rglob("*.json.gz"))
             if text in str(path)]
    with ProcessPoolExecutor() as pool:
        rows = [row for row in pool.map(functools.partial(judge, program), paths, chunksize=8)
                if row]
    wrong = [(row[0], row[6]) for row in rows if row[6]]
    for path, why in wrong:
        print(f"{path}: {why}")
    several = [row for row in rows if row[1]]
    print(f"{len(rows)} captures with marks; of {len(several)} with three steps and more the first is over {FAR} x the median in "
          f"{sum(row[3] for row in several)} if work without a call belongs to where it runs, in {sum(row[2] for row in several)} as told, "
          f"in {sum(row[4] for row in several)} from kernel to kernel; among the steps that count in {sum(row[5] for row in several)}; "
          f"{len(wrong)} wrong")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
