#!/usr/bin/env python3
"""The energy of jobs of two ranks against the boards' own counters, which each rank read before and
after its loop.

    python3 tests/gpu/ranks/pipeline.py OUT --record "--window 0 --metrics energy" --run 8 --gpufathom PROGRAM
    python3 tests/gpu/ranks/joules.py PROGRAM OUT > docs/results/energy_job_h200.json
"""
import json
import pathlib
import subprocess
import sys

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


def row_of(part):
    files = [str(FOLDER / "recorded" / f"{part}.rank{rank}.gpf") for rank in range(2)]
    counted = [json.loads((FOLDER / "recorded" / f"{part}.rank{rank}.joules.json").read_text())
               for rank in range(2)]
    done = subprocess.run([PROGRAM, "energy", "--format", "json", *files], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True)
    job = json.loads(done.stdout)["job"]
    assert sum(rank["nj"] for rank in job["ranks"]) == job["nj"]
    assert sum(step["nj"] for step in job["steps"]) == job["nj"]
    real = sum(rank["joules"] for rank in counted) / counted[0]["steps"]
    return {
        "part": part, "steps_of_the_loop": counted[0]["steps"], "steps_told": job["step"]["count"],
        "joules_of_a_step_counted": round(real, 3),
        "joules_of_a_step_told": round(job["step"]["joules"], 3),
        "error": round(job["step"]["joules"] / real - 1, 4),
        "waiting_share": round(job["wait_nj"] / job["nj"], 4),
        "watts": round(job["mean_watts"], 1),
    }


def main():
    truth = json.loads((FOLDER / "truth.json").read_text())
    parts = [part for part, done in truth["recorded"].items() if done.get("exit_codes") == [0, 0]]
    print(json.dumps({"date": truth["date"], "hardware": truth["hardware"], "torch": truth["torch"],
                      "command": truth["command"], "judge": "tests/gpu/ranks/joules.py PROGRAM OUT",
                      "parts": [row_of(part) for part in parts]}, indent=1))


if __name__ == "__main__":
    main()
