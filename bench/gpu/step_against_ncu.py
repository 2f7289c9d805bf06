"""Levels and bytes of one step as sampled in the running program, against Nsight Compute's counters
of every kernel of the step.

ncu's values are weighted with ncu's own durations and related to the program's step time: sum over
kernels of (duration x level) / step. Usage: step_against_ncu.py GPUFATHOM CAPTURE RUN.json
NCU.csv[.gz] OUT.json. RUN.json is what workload.py printed under `record`.
"""
import csv
import datetime
import gzip
import json
import sys

from captured import levels

gpufathom, capture, run, report, out = sys.argv[1:6]
run = json.load(open(run))
step_ns = run["mean_ms"] * 1e6
begin = run["start_ns"] + 200_000_000
end = run["end_ns"] - 100_000_000
sampled = levels(gpufathom, capture, begin, end)
steps = sampled["gpu.busy"][2] * 1e9 / step_ns
rows = list(csv.reader(line for line in (gzip.open(report, "rt") if report.endswith(".gz")
                                         else open(report)) if line.startswith('"')))
column, units = {n: i for i, n in enumerate(rows[0])}, rows[1]


def number(row, name):
    return float(row[column[name]].replace(",", "")) * {"us": 1e3, "ms": 1e6, "Kbyte": 1e3,
                                                        "Mbyte": 1e6,
                                                        "Gbyte": 1e9}.get(units[column[name]], 1)


sums = {"sm.active_any": 0.0, "issue.active": 0.0, "tensor.active": 0.0, "sm.occupancy": 0.0,
        "dram.read": 0.0, "dram.write": 0.0, "kernel_ns": 0.0}
for r in rows[2:]:
    ns = number(r, "gpu__time_duration.sum")
    sums["kernel_ns"] += ns
    sums["sm.active_any"] += ns * number(r,
                                         "sm__cycles_active.avg.pct_of_peak_sustained_elapsed") / 100
    sums["issue.active"] += ns * number(r,
                                        "smsp__inst_executed.sum") / number(r, "smsp__cycles_elapsed.sum")
    sums["tensor.active"] += ns * number(r,
                                         "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed") / 100
    sums["sm.occupancy"] += ns * number(r,
                                        "sm__warps_active.avg.pct_of_peak_sustained_elapsed") / 100
    for metric in ("dram.read", "dram.write"):
        sums[metric] += number(r, metric.replace("dram.", "dram__bytes_") + ".sum")
result = {"what": "one ResNet-50 AMP step: sampled in the running program, and by ncu kernel by kernel", "command": "bench/gpu/step_against_ncu.py " + " ".join(a.rsplit("/", 1)[-1] for a in sys.argv[1:5]), "date": datetime.date.today().isoformat(),
          "model": run["model"], "batch": run["batch"], "gpu": run["gpu"], "torch": run["torch"],
          "step_ms": run["mean_ms"], "steps_sampled": round(steps, 2), "kernels": len(rows) - 2, "kernel_ms_of_ncu": sums["kernel_ns"] / 1e6, "levels": {}, "bytes_a_step": {}}
for metric in ("sm.active_any", "issue.active", "tensor.active", "sm.occupancy"):
    mine, theirs = sampled[metric][0], sums[metric] / step_ns
    result["levels"][metric] = {"sampled": mine, "ncu": theirs, "points": (mine - theirs) * 100}
for metric in ("dram.read", "dram.write"):
    mine, theirs = sampled[metric][1] / steps, sums[metric]
    result["bytes_a_step"][metric] = {"sampled": mine, "ncu": theirs, "ratio": mine / theirs}
mine, theirs = (sum(result["bytes_a_step"][m][k] for m in ("dram.read", "dram.write"))
                for k in ("sampled", "ncu"))
result["bytes_a_step"]["dram"] = {"sampled": mine, "ncu": theirs, "ratio": mine / theirs}
json.dump(result, open(out, "w"), indent=1)
print(json.dumps(result, indent=1))
