#!/usr/bin/env python3
"""Processor time of one answer over a job whose ranks all have a fault of their own: bench/run
ranks_growth PROGRAM [--ranks 256,512,1024,2048,4096] [--instructions] [-o
docs/results/ranks_growth.json]

Every rank waits for input of its own and every second one computes slower, so that each has
something to gain and the job runs again for each (docs/replay.md); the simulator is
tests/ranks/job_simulator.py. Least of three runs. A collective's description names 30 ranks at
most, as PyTorch's profiler writes it: with all of them the input itself grows with the square. With
--instructions those of one run are counted (growth.py), which no other work on the machine changes.
"""
import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import growth
import spent

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "ranks"))
from job_simulator import Fault, Job  # noqa: E402


def job_of(ranks):
    chance = random.Random(1)
    faults = [Fault("input", rank=rank, microseconds=chance.randrange(100, 3000))
              for rank in range(ranks)]
    faults += [Fault("slow_gpu", rank=rank, factor=1 + 0.3 * chance.random())
               for rank in range(0, ranks, 2)]
    return Job(ranks=ranks, steps=4, layers=19, faults=faults, seed=5, noise=0.1,
               named_ranks=30).run()


def user_seconds(command):
    done = spent.run(command)
    if done.status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return done.user, done.peak_bytes


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("--ranks", default="256,512,1024,2048,4096")
    options.add_argument("--instructions", action="store_true")
    options.add_argument("-o", "--output")
    o = options.parse_args()
    result = {"command": "bench/ranks_growth.py gpufathom --ranks " + o.ranks,
              "date": time.strftime("%Y-%m-%d"),
              "machine": f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}",
              "rows": []}
    for ranks in map(int, o.ranks.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            job_of(ranks).write(folder)
            command = [o.program, "ranks", folder, "--format", "json", "-o", os.devnull]
            if o.instructions:
                row = {"ranks": ranks, "instructions_1e9": round(growth.instructions(command), 3)}
            else:
                runs = [user_seconds(command) for _ in range(3)]
                row = {"ranks": ranks, "user_s": round(min(runs)[0], 3),
                       "peak_mb": round(max(peak for _, peak in runs) / 2**20)}
        result["rows"].append(row)
        print(json.dumps(row), flush=True)
    if o.output:
        Path(o.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
