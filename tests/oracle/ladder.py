#!/usr/bin/env python3
"""An independent ladder: straight from a raw trace and a raw counter CSV, with Python's standard
library alone.

    ladder.py TRACE.json.gz REPORT.ncu.csv.gz ANALYSIS.json

Pairs the kernels of every step with the report in order (the report holds one step), works out the
levels of docs/ladder.md over the whole capture, and compares them with the JSON of `gpufathom
analyze
--format json` to 1e-9. Prints one line a level and exits 1 when one differs. Shares no code with
the program.
"""
import csv
import gzip
import json
import sys
from decimal import Decimal


def kernels_of(trace):
    """(start, end, is_kernel) in integer nanoseconds, by start."""
    data = json.load(gzip.open(trace, "rt"), parse_float=Decimal)
    base = int(data.get("baseTimeNanoseconds", 0))
    events = []
    for e in data["traceEvents"]:
        if e.get("ph") == "X" and e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            start = base + int(Decimal(e["ts"]) * 1000)
            events.append((start, start + int(Decimal(e["dur"]) * 1000), e["cat"] == "kernel"))
    return sorted(events, key=lambda e: (e[0], -e[1]))


def exclusive(spans):
    """Splits each stretch of the union evenly over the spans that cover it; what is left over goes
    to the first of them."""
    share = [0] * len(spans)
    edges = sorted({t for s in spans for t in s})
    active, following = [], 0
    for left, right in zip(edges, edges[1:]):
        while following < len(spans) and spans[following][0] <= left:
            active.append(following)
            following += 1
        active = [i for i in active if spans[i][1] > left]
        if active:
            each, rest = divmod(right - left, len(active))
            for i in active:
                share[i] += each
            share[active[0]] += rest
    return share


def report_of(path):
    rows = list(csv.reader(gzip.open(path, "rt")))
    column = {name: i for i, name in enumerate(rows[0])}
    number = lambda row, name: float(row[column[name]].replace(",", ""))
    return [{name: number(row, name + ".sum") for name in
             ("smsp__cycles_elapsed", "smsp__cycles_active", "smsp__issue_active",
              "sm__pipe_tensor_cycles_active", "sm__inst_executed_pipe_tensor")}
            for row in rows[2:] if row[0]]


def main(trace, report, analysis):
    events, counters = kernels_of(trace), report_of(report)
    spans = [(s, e) for s, e, kernel in events if kernel]
    if len(spans) % len(counters):
        sys.exit(f"{len(spans)} kernels are no whole number of steps of {len(counters)}")
    start, end = min(e[0] for e in events), max(e[1] for e in events)
    window, w = end - start, exclusive(spans)
    of = [counters[i % len(counters)] for i in range(len(spans))]
    total = lambda name: sum(wi * c[name] / c["smsp__cycles_elapsed"]
                             for wi, c in zip(w, of)) / window
    by_cycles = lambda name: sum(c[name] for c in of) / sum(c["smsp__cycles_elapsed"]
                                                            for c in of) * sum(w) / window
    expected = {"gpu.busy": (sum(w) / window, None),
                "gpu.kernel_time": (sum(e - s for s, e in spans) / window, None)}
    for level, name in (("sm.active", "smsp__cycles_active"),
                        ("issue.active", "smsp__issue_active"),
                        ("tensor.active", "sm__pipe_tensor_cycles_active"),
                        ("tensor.issue", "sm__inst_executed_pipe_tensor")):
        expected[level] = (total(name), by_cycles(name))
    found = {level["id"]: level for level in json.load(open(analysis))["levels"]}
    bad = 0
    for level, (value, cycles) in expected.items():
        same = found[level]["value"] is not None and abs(found[level]["value"] - value) <= 1e-9
        same = same and (cycles is None or abs(found[level]["by_cycles"] - cycles) <= 1e-9)
        print(f"{level:16} {value:.6f} {'' if cycles is None else f'by cycles {cycles:.6f} '}{'equal' if same else 'DIFFERENT: ' + str(found[level]['value'])}")
        bad += not same
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
