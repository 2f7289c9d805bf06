"""Cost of replaying a capture: ./dev bench replay_cost [--sizes 50,100,200,400] [--rounds 5] [-o
docs/results/replay_cost.json]

Traces of so many MB are made of the captures in examples/ (as in ingest.py). Measured is processor
time, user and system, as the least of the rounds: of the graph of the whole capture, and of one run
with a change (bench/ingest.cpp, of 62 with up to six changes).
"""
import argparse
import json
import os
import subprocess
import time
from pathlib import Path

import ingest
import spent

ROOT = Path(__file__).resolve().parent.parent


def measure(path, rounds):
    """The least of each time; a rate for a million events."""
    runs = [json.loads(subprocess.run(["build/bench/ingest", path, "replay"], check=True,
                                      capture_output=True, cwd=ROOT).stdout)
            for _ in range(rounds)]
    row = {key: runs[0][key] for key in ("events", "activities")}
    for key in ("analyze_cpu_s", "graph_cpu_s", "change_cpu_s"):
        row[key] = round(min(run[key] for run in runs), 4)
    millions = row["events"] / 1e6
    return row | {"graph_s_per_million": round(row["graph_cpu_s"] / millions, 3),
                  "change_ms_per_million": round(1e3 * row["change_cpu_s"] / millions, 1)}


def main():
    options = argparse.ArgumentParser(prog="bench/run replay_cost", description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="50,100,200,400")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("-o", "--output", type=Path)
    o = options.parse_args()
    rows = []
    for size in map(int, o.sizes.split(",")):
        path, _ = ingest.trace(size * 1_000_000, ".json")
        rows.append(measure(path, o.rounds))
        print(f"{rows[-1]['events']:9} events, {rows[-1]['activities']:7} activities: the graph {rows[-1]['graph_s_per_million']} s a million, "
              f"a change {rows[-1]['change_ms_per_million']} ms a million", flush=True)
    if o.output:
        cpu = spent.processor()
        about = {"command": f"./dev bench replay_cost --sizes {o.sizes} --rounds {o.rounds}",
                 "date": time.strftime("%Y-%m-%d"),
                 "machine": {"cpu": cpu, "hardware": f"{os.cpu_count()} shared cores, CPU only",
                             "load_average": round(os.getloadavg()[0], 1)}}
        (ROOT / o.output).write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n",
                                     encoding="utf-8")


if __name__ == "__main__":
    main()
