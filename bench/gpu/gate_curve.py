#!/usr/bin/env python3
"""What the gate finds: gate_curve.py gate.json.gz… [--json FILE], of what gate.py measured.

A pair is a few runs of each version, in turns. For every program and every planted slow-down the
table has the share of pairs that the gate calls regressed: false alarms where nothing was planted,
found ones elsewhere. The slow-down that was really planted is the ratio over all runs.
"""

import argparse
import gzip
import json
import math
import pathlib
import random
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from gpufathom.gate import decide  # noqa: E402

PAIRS = 200
WAYS = {"1": 1, "2": 2, "4": 4, "8": 8}


def rounds_of(process):
    """Of every round the runs by kind."""
    rounds = []
    for kind, run in zip(process["runs"], process["by_run"]):
        if kind == "warm_up" or not run["step_ns"]:
            continue
        if not rounds or kind in rounds[-1]:
            rounds.append({})
        rounds[-1][kind] = run
    return [each for each in rounds if len(each) == 5]


def kernel_time(run):
    return statistics.median(run["step_ns"])


def values(runs, measure):
    """What the gate is given: the runs, or of a single one its steps."""
    if measure == "wall":
        return [run["wall_ns"] for run in runs]
    return runs[0]["step_ns"] if len(runs) == 1 else [kernel_time(run) for run in runs]


def pairs(processes, size, count, seed):
    """`count` times `size` rounds that follow each other in one process."""
    order = random.Random(seed)
    starts = [
        (process, at)
        for process, rounds in enumerate(processes)
        for at in range(
            0, len(rounds) - size + 1, size if size * count <= sum(map(len, processes)) else 1
        )
    ]
    if len(starts) < count:
        return starts
    return order.sample(starts, count)


def verdicts(processes, kind, size, measure):
    out = []
    for process, at in pairs(processes, size, PAIRS, size):
        some = processes[process][at : at + size]
        before = values([each["base"] for each in some], measure)
        after = values([each[kind] for each in some], measure)
        if min(len(before), len(after)) > 1:
            out.append(decide(before, after, paired=size > 1))
    return out


def table(processes):
    logs = {
        kind: statistics.fmean(
            math.log(kernel_time(each[kind]) / kernel_time(each["base"]))
            for rounds in processes
            for each in rounds
        )
        for kind in ("again", "one", "two", "five")
    }
    out = {
        "rounds": sum(map(len, processes)),
        "planted": {k: math.expm1(v) for k, v in logs.items()},
    }
    for measure in ("kernels", "wall"):
        for name, size in WAYS.items():
            row = {}
            for kind in logs:
                found = verdicts(processes, kind, size, measure)
                if found:
                    row[kind] = {
                        "pairs": len(found),
                        "regressed": sum(each.regressed for each in found) / len(found),
                        "half_width": statistics.median((v.high - v.low) / 2 for v in found),
                    }
            out[f"{measure}, runs of each: {name}"] = row
    return out


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("files", nargs="+")
    words.add_argument("--json", help="also write the table here")
    given = words.parse_args()
    programs = {}
    for name in given.files:
        with gzip.open(name, "rt") as file:
            told = json.load(file)
        for process in told["processes"]:
            programs.setdefault(process["program"], []).append(rounds_of(process))
    answer = {name: table(processes) for name, processes in sorted(programs.items())}
    for name, row in answer.items():
        shown = {kind: f"{share:+.2%}" for kind, share in row["planted"].items()}
        print(f"{name}: {row['rounds']} rounds, planted {shown}")
        for way, found in row.items():
            if way in ("rounds", "planted"):
                continue
            cells = (f"{kind} {f['regressed']:6.1%} of {f['pairs']}" for kind, f in found.items())
            print(f"  {way:28} {'   '.join(cells)}")
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    main()
