#!/usr/bin/env python3
"""Cost of being recorded for a program's step, by what the recorder does:
tracing_cost.py OUT.json [--programs NAMES] [--gpu 0] [--rounds 2] [--budget-seconds 600]

Each round starts each program of the zoo once in every way, one after the other:
  alone    nothing of ours runs
  levels   `record`: counters from beside
  traced   `record --kernels` whose first window never comes: CUPTI is on, nothing is kept
  window   `record --kernels` with one window over all of the loop
The step is the median of the program's own clock over its loop; a way's cost is its step over the
same round's step alone, less one.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "gpu" / "zoo"))
from recording import PROGRAMS, Job, Started, under_recorder  # noqa: E402

WAYS = {
    "alone": None,
    "levels": [],
    "traced": ["--kernels", "--delay", "3600"],
    "window": ["--kernels", "--window", "3600"],
}
TORCH = ("gpt_training", "decode_eager", "decode_graphs", "dlrm", "moe", "diffusion", "server",
         "multi_stream", "input_bound")
SCRIPTS = {**{name: ["torch_models.py", "--what", name] for name in TORCH},
           "jax_jit": ["jax_jit.py"], "triton_kernels": ["triton_kernels.py"],
           "cupy_kernels": ["cupy_kernels.py"], "cuda_graphs": ["graphs"]}


def step_of(job, way):
    """The program's report of its loop, and the recorder's share of a core; None when it fails."""
    if WAYS[way] is None:
        with open(os.devnull, "w") as log:
            started = Started(job.command, job.gpu, log)
            code = started.wait(job.limit)
        report, summary = started.report(), None
    else:
        recorded = under_recorder(job, WAYS[way], way)
        code, report, summary = recorded.code, recorded.report, recorded.summary
        pathlib.Path(recorded.capture).unlink(missing_ok=True)
    if code != 0 or not report:
        return None
    known = {"step_ms": report["median_step_ms"], "kernels_per_step": report["kernels_per_step"]}
    if summary:
        known["recorder"] = {key: summary[key] for key in
                             ("recorder_cpu_seconds", "duration_ns", "kernels") if key in summary}
    return known


def measured(options, folder):
    rows, end = [], time.monotonic() + options.budget_seconds
    for turn in range(options.rounds):
        for name in options.programs.split(","):
            for way in ["alone", *options.ways.split(",")]:
                if end - time.monotonic() < options.seconds + 15:
                    return rows
                job = Job(name, SCRIPTS[name], options.gpufathom, folder, options.gpu,
                          seconds=options.seconds)
                rows.append({"program": name, "round": turn, "way": way,
                             **(step_of(job, way) or {})})
                print(rows[-1], flush=True)
    return rows


def costs(rows):
    """By program and way: the shares of all rounds, and their median."""
    steps = {(row["program"], row["round"], row["way"]): row.get("step_ms") for row in rows}
    table = {}
    for (program, turn, way), step in steps.items():
        alone = steps.get((program, turn, "alone"))
        if way != "alone" and step and alone:
            table.setdefault(program,
                             {"step_ms": alone}).setdefault(way, []).append(step / alone - 1)
    for of_program in table.values():
        for way in WAYS:
            if way in of_program:
                of_program[way] = {"median": statistics.median(of_program[way]),
                                   "rounds": of_program[way]}
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--gpufathom", default=str(ROOT / "build" / "gpufathom"))
    parser.add_argument("--programs", default=",".join(SCRIPTS))
    parser.add_argument("--ways", default="levels,traced,window", help="beside alone")
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--budget-seconds", type=float, default=600)
    options = parser.parse_args()
    options.gpufathom = os.path.abspath(options.gpufathom)
    with tempfile.TemporaryDirectory() as folder:
        if "cuda_graphs" in options.programs:
            subprocess.run(["nvcc", "-O2", "-std=c++17", "-arch=native", "-o", f"{folder}/graphs",
                            f"{PROGRAMS}/graphs.cu", "-ldl"], check=True)
        rows = measured(options, folder)
    options.out.write_text(json.dumps({
        "what": __doc__.split("\n")[0], "command": f"bench/gpu/tracing_cost.py --programs "
        f"{options.programs} --ways {options.ways} --rounds {options.rounds} "
        f"--seconds {options.seconds}",
        "date": datetime.date.today().isoformat(), "costs": costs(rows), "rows": rows},
                                      indent=1) + "\n")


if __name__ == "__main__":
    main()
