#!/usr/bin/env python3
"""Merges the study's tables: merging.py GPUFATHOM

Runs of two hosts are not mixed, levels stay where the steps are the GPU's, and what has no run
keeps its reason until it has one.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MERGE = Path(__file__).resolve().parents[2] / "examples/studies/utilization/merge.py"


def row(batch, steps, levels=None, **more):
    runs = [{"step_s": step, "steps": 9, **({"levels": {"gpu.busy": levels}, "coverage": 1.0}
                                            if levels else {})} for step in steps]
    return {"model": "bert", "framework": "pytorch", "mode": "eager", "precision": "amp",
            "batch": batch, "flops_per_item": 1.0, "runs": runs, **more}


EARLIER = [
    row(4, [0.010, 0.011], 0.9),          # fewer runs than later, another host
    row(8, [0.020, 0.020], 0.99),         # the same steps later, without levels
    row(16, [0.030] * 3, 0.99),           # more runs than later
    row(32, [0.050], 0.99),               # later without memory for it
    row(64, [], why_not="not compiled"),  # later done
    row(128, [], why_not="not compiled"),
]
LATER = [
    row(4, [0.014] * 3), row(8, [0.0203] * 2), row(16, [0.033]), row(32, [], out_of_memory=True),
    row(64, [0.1], 0.99), row(256, [], out_of_memory=True),
]


def steps(rows, batch):
    return [run["step_s"] for run in rows[batch]["runs"]]


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("out.json", "earlier.json", "later.json")]
        for path, rows in zip(paths[1:], (EARLIER, LATER)):
            path.write_text(json.dumps({"gpu": "a GPU", "rows": rows}), encoding="utf-8")
        subprocess.run([sys.executable, "-B", MERGE, *paths], check=True)
        table = json.loads(paths[0].read_text(encoding="utf-8"))
    rows = {found["batch"]: found for found in table["rows"]}
    wanted = {
        "three later runs stand alone": (steps(rows, 4), [0.014] * 3),
        "levels of another host's steps go": ("levels" in rows[4], False),
        "as many later runs stand alone": (steps(rows, 8), [0.0203] * 2),
        "levels of the same steps stay": (rows[8].get("levels"), {"gpu.busy": 0.99}),
        "one later run replaces no three": (steps(rows, 16), [0.03] * 3),
        "what ran has not run out of memory": ("out_of_memory" in rows[32], False),
        "what ran has no reason": (sorted(table["not_run"]), ["bert pytorch eager amp 128"]),
        "what never fitted says so": (rows[256].get("out_of_memory"), True),
    }
    faults = [f"{what}: {found}, wanted {right}" for what, (found, right) in wanted.items()
              if found != right]
    print(*faults, f"{len(wanted)} rules of merging, {len(faults)} broken", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
