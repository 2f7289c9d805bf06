"""Rates of single kernels, solved from samples of the running program, against Nsight Compute's
counters of the same step.

A profiler runs each kernel alone, so its kernels do not take the time that they take in the
program. What a kernel does (instructions, tensor cycles, bytes) is the same in both; so the truth
for a rate in the running program is what the profiler counted, over the time that the program's own
kernels took. Ratios of the profiler's own run ("alone") are compared too.

A chip that is held by its power limit runs slower in the program than beneath the profiler, where
it rests between kernels; then shares of cycles are not shares of time. "in_cycles" takes what was
counted over the cycles of the program's own kernels, at each kernel's clock as solved from the
sampled cycles (sm.cycles). Where a recording has none, it is the one clock at which the
instructions of all kernels fill the issue slots that were sampled, which the mean of issue is used
up for.

Usage: rates_against_ncu.py RATES.json NCU.csv[.gz] [OUT.json]. RATES.json: bench/kernel_rates
CAPTURE.
"""
import collections
import csv
import gzip
import json
import re
import statistics
import sys

rates = json.load(open(sys.argv[1]))
opened = gzip.open(sys.argv[2], "rt") if sys.argv[2].endswith(".gz") else open(sys.argv[2])
rows = list(csv.reader(line for line in opened if line.startswith('"')))  # the program prints too
column = {n: i for i, n in enumerate(rows[0])}
units = rows[1]


def number(row, name):
    value = float(row[column[name]].replace(",", ""))
    return value * {"us": 1e3, "ms": 1e6, "Kbyte": 1e3, "Mbyte": 1e6,
                    "Gbyte": 1e9}.get(units[column[name]], 1)


def plain(name):
    """Name without namespaces and arguments: the two tools write those differently."""
    out, depth = "", 0
    name = re.sub(r"\(anonymous namespace\)", "anon", name.replace("<unnamed>", "anon"))
    for c in name:
        depth += c in "<("
        if depth == 0:
            out += c
        depth -= c in ">)"
    return out.split()[-1].split("::")[-1] if out.split() else name


def triple(text):
    return tuple(int(x) for x in re.findall(r"\d+", text))


def share(row, counter, elapsed):
    """The share of the peak, in percent where the report holds that, else from sums over the sub-partitions,
    each with a pipe of its own."""
    percent = f"{counter}.avg.pct_of_peak_sustained_elapsed"
    if percent in column:
        return number(row, percent) / 100
    return number(row, f"{counter}.sum") / elapsed


issued = next(n for n in ("smsp__inst_executed.sum", "smsp__issue_active.sum") if n in column)
# The step that the profiler saw, found in the program's sequence of kernels: there every kernel
# meets its counters, whatever the two tools make of its template arguments.
kernels = rates["kernels"]
report = [(plain(r[column["Kernel Name"]]), triple(r[column["Grid Size"]]),
           triple(r[column["Block Size"]])) for r in rows[2:]]
known = [(plain(k["name"]), tuple(k["grid"]), tuple(k["block"])) for k in kernels]
order = rates["order"]
best, at = max((sum(known[order[i + j]] == report[j] for j in range(len(report))), i)
               for i in range(len(order) - len(report)))
truth = collections.defaultdict(lambda: collections.defaultdict(float))
for j, row in enumerate(rows[2:]):
    if known[order[at + j]] != report[j]:
        continue
    t = truth[order[at + j]]
    t["n"] += 1
    ns, elapsed = number(row, "gpu__time_duration.sum"), number(row, "smsp__cycles_elapsed.sum")
    t["ns"] += ns
    t["slots"] += elapsed
    t["instructions"] += number(row, issued)
    t["issue.active"] += number(row, issued) / elapsed * ns
    t["tensor.active"] += share(row, "sm__pipe_tensor_cycles_active", elapsed) * ns
    for metric, counter in (("sm.active_any", "sm__cycles_active"),
                            ("sm.occupancy", "sm__warps_active")):
        if f"{counter}.avg.pct_of_peak_sustained_elapsed" in column:
            t[metric] += share(row, counter, elapsed) * ns
    for metric, counter in (("dram.read", "dram__bytes_read.sum"),
                            ("dram.write", "dram__bytes_write.sum"),
                            ("l2.sectors", "lts__t_sectors.sum")):
        if counter in column:
            t[metric] += number(row, counter)
total = sum(k["ns"] for k in rates["kernels"])
pairs, paired = [], 0
for group, k in enumerate(kernels):
    if group in truth:
        paired += k["ns"]
        if k["ns"] >= 0.01 * total:
            pairs.append((k, truth[group]))
steps = statistics.median(k["instances"] / t["n"] for k, t in pairs)
result = {"sequence_matched": best / len(report), "pairs": len(pairs), "steps": steps,
          "paired_share": paired / total, "samples": rates["samples"], "solve_seconds": rates["solve_seconds"], "shift_ns": rates["shift_ns"], "correlation": rates["correlation"],
          "longer_in_program": statistics.median(k["ns"] / k["instances"] / (t["ns"] / t["n"])
                                                 for k, t in pairs), "metrics": {}}
whole = sum(t["ns"] for t in truth.values())
partitions = number(rows[2], "smsp__cycles_elapsed.sum") / number(rows[2],
                                                                  "smsp__cycles_elapsed.avg")
clock = None
if any("issue.active" in k["rates"] for k in kernels):
    instructions = sum(t["instructions"] / t["n"] * kernels[group]["instances"]
                       for group, t in truth.items())
    clock = instructions / partitions / sum(kernels[group]["rates"]["issue.active"][0] * kernels[group]["ns"] for group in truth)
    result["gigahertz"] = clock
    if all("sm.cycles" in k["rates"] for k, t in pairs):
        clocks = [k["rates"]["sm.cycles"][0] for k, t in pairs]
        result["gigahertz_sampled"] = [f(clocks) for f in (min, statistics.median, max)]
    result["gigahertz_alone"] = [f(t["slots"] / partitions / t["ns"] for k, t in pairs)
                                 for f in (min, statistics.median, max)]
for metric in ("sm.active_any", "issue.active", "tensor.active", "sm.occupancy", "dram.read",
               "dram.write", "l2.sectors"):
    rows = []
    for k, t in pairs:
        if metric not in k["rates"] or metric not in t:
            continue
        value, half, resolved = k["rates"][metric]
        count = metric in ("dram.read", "dram.write", "l2.sectors")
        alone = t[metric] / t["ns"]
        in_program = t[metric] / t["n"] / (k["ns"] / k["instances"])
        in_cycles = in_program
        own_clock = k["rates"].get("sm.cycles", [clock])[0]
        if own_clock and not count:  # no share is over 1
            in_cycles = min(in_program * t["slots"] / partitions / t["ns"] / own_clock, 1)
        rows.append((value, half, resolved, alone, in_program, in_cycles))
    if not rows:
        continue
    top = max(r[4] for r in rows)
    rows_used = [r for r in rows if r[4] > 1e-3 * top]
    by = {}
    for name, i in (("alone", 3), ("in_program", 4), ("in_cycles", 5)):
        error = [abs(r[0] - r[i]) / r[i] for r in rows_used]
        # not what a kernel hardly does
        users = [abs(r[0] - r[i]) / r[i] for r in rows if r[i] >= 0.05 * top]
        by[name] = {"kernels_that_use_it": len(users),
                    "median_error_of_users": statistics.median(users), "median_error": statistics.median(error), "median_error_of_scale": statistics.median(abs(r[0] - r[i]) / (top if metric in ("dram.read", "dram.write", "l2.sectors") else 1) for r in rows),
                    "covered": statistics.fmean(abs(r[0] - r[i]) <= r[1] for r in rows), "covered_resolved": statistics.fmean([abs(r[0] - r[i]) <= r[1] for r in rows if r[2]] or [0]),
                    "bias": statistics.median((r[0] - r[i]) / r[i] for r in rows_used), "median_error_resolved": statistics.median([abs(r[0] - r[i]) / r[i] for r in rows_used if r[2]] or [0])}
    result["metrics"][metric] = {"kernels": len(rows), "resolved": sum(r[2] for r in rows),
                                 "median_half_width": statistics.median(r[1] / max(r[0], 1e-12) for r in rows_used), **by}
if len(sys.argv) > 3:
    json.dump(result, open(sys.argv[3], "w"), indent=1)
print({k: v for k, v in result.items() if k != "metrics"})
for metric, r in result["metrics"].items():
    print(f"{metric:14} {r['kernels']:3} kernels, {r['resolved']:3} resolved; half width {r['median_half_width']:6.1%}; " + "; ".join(f"{n}: error {r[n]['median_error']:6.1%} ({r[n]['median_error_of_scale']:.4f}), of {r[n]['kernels_that_use_it']} that use it {r[n]['median_error_of_users']:.1%}, bias {r[n]['bias']:+6.1%}, covered {r[n]['covered']:4.0%} (resolved {r[n]['covered_resolved']:4.0%})" for n in ("alone", "in_program", "in_cycles")))
