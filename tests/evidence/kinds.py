#!/usr/bin/env python3
"""kinds.py PROGRAM [TRACE...]: damage of many kinds to traces of torch.profiler is told, and what
is only unusual is not.

Each kind is something that a tool, a merge, a filter or a clock does to a trace. It changes the
exit code or adds a doubt that the trace as it is does not have; docs/evidence.md says why those of
UNSEEN cannot be told. The unusual forms of the same trace have its exit code and its figures."""
import copy
import gzip
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
TRACES = ["lenet_train_b64.json.gz", "lenet_inf_b1.json.gz"]
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
RUNTIME = ("cuda_runtime", "cuda_driver")


def of(trace, *cats):
    return [event for event in trace["traceEvents"] if event.get("cat") in cats
            and event.get("ph") == "X"]


def keep(trace, wanted):
    trace["traceEvents"] = [event for event in trace["traceEvents"] if wanted(event)]


def kernel(event):
    return event.get("cat") == "kernel"


def span(trace):
    events = of(trace, *RUNTIME)
    return min(e["ts"] for e in events), max(e["ts"] + e["dur"] for e in events)


def each(cats, change):
    def apply(trace, _):
        for event in of(trace, *cats):
            change(event)
    return apply


def set_to(**values):
    return lambda event: event.update(values)


def scaled(factor):
    return lambda event: event.update(dur=event["dur"] * factor)


def later(cats, us, since=0.0):
    """Moves events of the trace's last part."""
    def apply(trace, _):
        first, last = span(trace)
        for event in of(trace, *cats):
            if event["ts"] >= first + since * (last - first):
                event["ts"] += us
    return apply


def drop(choose):
    def apply(trace, chance):
        gone = {id(event) for event in choose(of(trace, "kernel"), trace, chance)}
        keep(trace, lambda event: id(event) not in gone)
    return apply


def longest(kernels, _trace, _chance):
    return sorted(kernels, key=lambda e: -e["dur"])[:max(1, len(kernels) // 110)]


def tail(share):
    def choose(kernels, _trace, _chance):
        return sorted(kernels, key=lambda e: e["ts"])[-max(2, round(share * len(kernels))):]
    return choose


def twice(**other):
    def apply(trace, _):
        for event in of(trace, "kernel"):
            more = copy.deepcopy(event)
            more["ts"] += other.get("ns", 0) * 1e-3
            more["args"]["stream"] = more["args"].get("stream", 0) + other.get("stream", 0)
            more["args"]["device"] = more["args"].get("device", 0) + other.get("device", 0)
            more["name"] += other.get("name", "")
            trace["traceEvents"].append(more)
    return apply


def lengthened(trace, _):
    """Three times as long, each moved behind the one before it."""
    end = {}
    for event in sorted(of(trace, *DEVICE), key=lambda e: e["ts"]):
        stream = event["args"].get("stream")
        event["dur"] *= 3
        event["ts"] = max(event["ts"], end.get(stream, 0))
        end[stream] = event["ts"] + event["dur"]


def wrapped(cats):
    def apply(trace, _):
        first = min(e["ts"] for e in of(trace, *DEVICE, *RUNTIME))
        for event in of(trace, *cats):
            event["ts"] = (event["ts"] - first) % 4.0e3 + first
    return apply


def changed_args(change):
    def apply(trace, _):
        for event in of(trace, *DEVICE, *RUNTIME):
            if "correlation" in event.get("args", {}):
                change(event["args"])
    return apply


def mark_lost(trace, _):
    marks = sorted((e for e in trace["traceEvents"]
                    if str(e.get("name", "")).startswith("ProfilerStep#")
                    and e.get("cat") == "user_annotation"),
                   key=lambda e: e["ts"])
    if len(marks) < 3:
        return False
    number = marks[len(marks) // 2]["name"]
    keep(trace, lambda event: event.get("name") != number)
    return True


def swapped(trace, chance):
    kernels = of(trace, "kernel")
    lengths = [event["dur"] for event in kernels]
    chance.shuffle(lengths)
    for event, length in zip(kernels, lengths):
        event["dur"] = length


def half_renamed(trace, chance):
    for event in of(trace, "kernel"):
        if chance.random() < 0.5:
            event["cat"] = "Kernel2"


def one_whole(trace, _):
    first, last = span(trace)
    event = of(trace, "kernel")[3]
    event["dur"] = last - event["ts"]


def copies_gone(trace, _):
    if not of(trace, "gpu_memcpy"):
        return False
    keep(trace, lambda event: event.get("cat") != "gpu_memcpy")
    return True


def middle_lost(trace, _):
    first, last = span(trace)
    low, high = first + (last - first) / 3, first + 2 * (last - first) / 3
    gone = {e["args"]["correlation"] for e in of(trace, *RUNTIME) if low <= e["ts"] < high
            and "correlation" in e.get("args", {})}
    keep(trace, lambda e: not (e.get("cat") in DEVICE + RUNTIME
                               and e.get("args", {}).get("correlation") in gone))


def only_even(trace, _):
    keep(trace, lambda e: e.get("cat") not in DEVICE + RUNTIME
         or e.get("args", {}).get("correlation", 0) % 2 == 0)


KINDS = {
    "copies gone": copies_gone,
    "runtime calls gone": lambda trace, _: keep(trace, lambda e: e.get("cat") not in RUNTIME),
    "kernels under 3 us gone": drop(lambda kernels, *_: [e for e in kernels if e["dur"] < 3]),
    "the longest 0.9 % gone": drop(longest),
    "the last 5 % gone": drop(tail(0.05)),
    "the last 30 % gone": drop(tail(0.3)),
    "one of two gone": drop(lambda kernels, _, chance: chance.sample(kernels, len(kernels) // 2)),
    "the middle third gone with its launches": middle_lost,
    "durations 0": each(["kernel"], set_to(dur=0)),
    "durations / 1000": each(["kernel"], scaled(1e-3)),
    "half of the durations 0": lambda trace, chance: [e.update(dur=0) for e in of(trace, "kernel") if chance.random() < 0.5] and None,
    "durations at least 10 us": each(["kernel"], lambda e: e.update(dur=max(10, e["dur"]))),
    "durations in whole ms": each(["kernel"], lambda e: e.update(dur=math.ceil(e["dur"] / 1000) * 1000)),
    "duration null": each(["kernel"], set_to(dur=None)),
    "durations of other kernels": swapped,
    "three times longer, moved apart": lengthened,
    "one kernel as long as the trace": one_whole,
    "correlations 0": changed_args(lambda args: args.update(correlation=0)),
    "correlations removed": changed_args(lambda args: args.pop("correlation")),
    "correlations mod 256": changed_args(lambda args: args.update(correlation=args["correlation"] % 256)),
    "correlations negative in half": lambda trace, chance: [e["args"].update(correlation=-1) for e in of(trace, "kernel") if chance.random() < 0.5] and None,
    "correlations of the next": each(["kernel"], lambda e: e["args"].update(correlation=e["args"]["correlation"] + 1)),
    "args gone": each(["kernel"], set_to(args={})),
    "twice, 1 ns later": twice(ns=1),
    "twice, other stream": twice(stream=50),
    "twice, other device": twice(device=1),
    "twice, other name": twice(name="_v2"),
    "device an hour late": later(DEVICE, 3600e6),
    "device 0.5 s late": later(DEVICE, 0.5e6),
    "device 50 ms late from the middle": later(DEVICE, 50e3, 0.5),
    "device 1 % fast": lambda trace, _: [e.update(ts=e["ts"] - 0.01 * (e["ts"] - span(trace)[0])) for e in of(trace, *DEVICE)] and None,
    "host 1 s back from the middle": later(RUNTIME + ("cpu_op", "user_annotation"), -1e6, 0.5),
    "both 60 ms back from the middle": later(DEVICE + RUNTIME + ("cpu_op", "user_annotation"), -60e3, 0.5),
    "all times wrap": wrapped(DEVICE + RUNTIME),
    "the device's times wrap": wrapped(DEVICE),
    "half of a category renamed": half_renamed,
    "a step's mark gone": mark_lost,
}
# If the device is idle most of the time, nothing in a trace contradicts other lengths.
SEEN_BY_CHANCE = {"durations of other kernels", "three times longer, moved apart",
                  "the middle third gone with its launches"}
# Nothing in any trace contradicts it.
UNSEEN = {"only even correlations": only_even}


def reordered(trace, chance):
    chance.shuffle(trace["traceEvents"])


def rebased(us):
    def apply(trace, _):
        for event in trace["traceEvents"]:
            if "ts" in event:
                event["ts"] += us
    return apply


UNUSUAL = {
    "events in any order": reordered,
    "no flows": lambda trace, _: keep(trace, lambda e: e.get("ph") not in ("s", "f")),
    "a second later": rebased(1e6),
    "no cpu_op": lambda trace, _: keep(trace, lambda e: e.get("cat") != "cpu_op"),
    "foreign counters": lambda trace, _: trace["traceEvents"].extend(
        {"ph": "C", "name": "weather", "pid": 3, "ts": e["ts"], "args": {"rain": 1}}
        for e in of(trace, "kernel")),
    "correlations 2^32 minus": changed_args(lambda args: args.update(correlation=2**32 - 100000 + args["correlation"])),
}
FIGURES = ("kernels", "busy_ns", "kernel_time_sum_ns")


def answer(program, path):
    done = subprocess.run([program, "analyze", path, "--format", "json"], capture_output=True,
                          text=True)
    try:
        said = json.loads(done.stdout)
    except json.JSONDecodeError:
        return done.returncode, set(), None, None
    busy = next(([level["low"], level["high"]] for level in said["levels"]
                 if level["id"] == "gpu.busy"), None)
    return done.returncode, {row["code"]
                             for row in said["quality"]}, [[one.get(key) for key in FIGURES]
                                                           for one in said["devices"]], busy


def main(program, traces):
    failures, silent = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        for source in traces:
            whole = json.loads(gzip.open(source).read())

            def changed(change):
                trace = copy.deepcopy(whole)
                if change and change(trace, random.Random(7)) is False:
                    return None
                path.write_text(json.dumps(trace))
                return answer(program, path)
            base = changed(None)
            for kind, change in KINDS.items():
                found = changed(change)
                if found is None:
                    continue
                told = found[0] != base[0] or found[1] - base[1] - {"unexplained_gaps"}
                print(f"{source.name[:24]:24} {kind:40} exit {found[0]} {sorted(found[1] - base[1])}")
                if not told and found[2:] != base[2:] and kind not in SEEN_BY_CHANCE:
                    silent += 1
                    failures.append(f"{source.name}, {kind}: silent, {found}")
            for kind, change in UNUSUAL.items():
                found = changed(change)
                if (found[0], found[2]) != (base[0], base[2]):
                    failures.append(f"{source.name}, {kind}: {found} where the trace has {base}")
    print("\n".join(failures) or "every kind is told, and nothing unusual is refused")
    return bool(failures)


if __name__ == "__main__":
    given = [pathlib.Path(name) for name in sys.argv[2:]]
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(),
                  given or [EXAMPLES / name for name in TRACES]))
