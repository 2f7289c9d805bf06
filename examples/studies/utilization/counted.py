#!/usr/bin/env python3
"""Samples of a program at full speed against counters of each of its kernels, level by level.

  counted.py GPUFATHOM TABLE.json MODEL:BATCH:LEVELS.csv[.gz] ... [-o OUT.json]

LEVELS is Nsight Compute's report of one eager AMP step (`count`), TABLE has the runs that `grid`
measured without it. A sample divides cycles by cycles, so the counters are weighted
by cycles, too; where no kernel runs they are 0, so they are multiplied by the part of the step in
which kernels run: the report's kernel time over each run's own step. Ends with 1 where a level
differs by more than a point.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

LEVELS = ("sm.active_any", "sm.active", "sm.occupancy", "issue.active", "tensor.active",
          "dram.active")


def counted(program, report):
    """Kernel time in ns, and each level over it by cycles."""
    done = subprocess.run([program, "analyze", report, "--format", "json"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    answer = json.loads(done.stdout)
    return answer["window"]["duration_ns"], {
        level["id"]: level["by_cycles"] for level in answer["levels"]
        if level.get("by_cycles") is not None}


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("table")
    options.add_argument("reports", nargs="+", metavar="MODEL:BATCH:LEVELS")
    options.add_argument("-o", "--output")
    o = options.parse_args()
    table = json.loads(Path(o.table).read_text())
    found = []
    for words in o.reports:
        model, batch, report = words.split(":")
        row = next(row for row in table["rows"]
                   if (row["model"], row["mode"], row["precision"], row["batch"]) ==
                   (model, "eager", "amp", int(batch)))
        kernel_ns, levels = counted(o.program, report)
        steps_ns = [run["step_s"] * 1e9 for run in row["runs"]]
        share = statistics.mean(min(kernel_ns / step_ns, 1) for step_ns in steps_ns)
        print(f"{model}, batch {batch}: kernels {kernel_ns / 1e6:.2f} ms of steps of "
              + ", ".join(f"{step_ns / 1e6:.2f}" for step_ns in steps_ns))
        # The one step against the run: its kernels' time over that of a mean step.
        busy_ns = [run["step_s"] * 1e9 * run["levels"]["gpu.busy"] for run in row["runs"]
                   if "gpu.busy" in run.get("levels", {})]
        one = {"model": model, "batch": int(batch), "kernel_ns": kernel_ns,
               "steps_ns": [round(step_ns) for step_ns in steps_ns],
               "step_over_run": round(kernel_ns / statistics.mean(busy_ns), 4), "levels": {}}
        for level in LEVELS:
            # With all SMs' cycles counted, SM active is one level.
            by_cycles = levels.get(level, levels.get("sm.active") if "any" in level else None)
            runs = [run["levels"][level] for run in row["runs"] if level in run.get("levels", {})]
            if by_cycles is None or not runs:
                continue
            sampled, wanted = statistics.mean(runs), by_cycles * share
            one["levels"][level] = {"sampled": round(sampled, 5), "counted": round(wanted, 5),
                                    "spread": round(max(runs) - min(runs), 5)}
            print(f"  {level:14} sampled {100 * sampled:5.2f} %, counted {100 * wanted:5.2f} %, "
                  f"{100 * (sampled - wanted):+.2f} points")
        found.append(one)
    worst = max(abs(level["sampled"] - level["counted"])
                for one in found for level in one["levels"].values())
    print(f"largest difference: {100 * worst:.2f} points")
    if o.output:
        result = {"command": "examples/studies/utilization/counted.py " + " ".join(sys.argv[1:]),
                  "date": time.strftime("%Y-%m-%d"), "gpu": table["gpu"], "models": found,
                  "largest_difference": round(worst, 5)}
        Path(o.output).write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(worst > 0.01)


if __name__ == "__main__":
    main()
