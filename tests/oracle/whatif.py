"""The court of gains: programs of tests/advice whose steps were measured without a profiler, as they are and mended.

Usage: whatif.py PROGRAM [FOLDER] [--json]   (FOLDER: what `tests/gpu/session.sh advice` recorded; else tests/advice/captures)
Own time: what `whatif` says that a step takes without recording, against the step measured so. Gains: what it says of the change
that mended the program, against the difference of the two steps, both measured. Ends with 1 below what docs/replay.md states.
"""
import json
import pathlib
import statistics
import subprocess
import sys

OWN = pathlib.Path(__file__).resolve().parents[1] / "advice" / "captures"
# The mended program differs by this; programs whose mending changes the kernels themselves have no change that says so.
CHANGES = {"sync_in_step": ["--without", "sync"], "slow_input": ["--without", "input"], "tiny_kernels": ["--graph"],
           "allocation_in_step": ["--without", "allocations"], "recompilation": ["--without", "compiling"],
           "pageable_copies": ["--without", "copies"], "unfused_optimiser": ["--without", "Optimizer.step"]}
NEAR, POINTS = 0.2, 0.03  # of the gain, or of the step
ROOM = 0.05  # by which kernels run faster or slower from run to run
LEAST_OWN, LEAST_NEAR = 0.8, 0.55


def asked(program, path, changes=()):
    done = subprocess.run([program, "whatif", "--format", "json", str(path), *changes], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else None


def main(program, *more):
    captures = next((pathlib.Path(word) for word in more if not word.startswith("--")), OWN)
    listed = json.loads((captures / "runs.json").read_text())
    runs = [run for run in (listed if isinstance(listed, list) else listed["runs"]) if (captures / run["trace"]).exists()]
    alone = {run["program"]: run["alone"]["median_ms"] for run in runs if run["rank"] == 0}
    own, gains = [], []
    for run in runs:
        answer = asked(program, captures / run["trace"])
        if not answer or not answer["steps"]:
            continue
        real = run["alone"]["median_ms"]
        said, low, high = (answer[key] / 1e6 for key in ("own_ns", "own_low_ns", "own_high_ns"))
        own.append({"trace": run["trace"], "alone_ms": round(real, 3), "own_ms": round(said, 3), "error": round(said / real - 1, 4),
                    "covered": low * (1 - ROOM) <= real <= high * (1 + ROOM), "captured_ms": round(answer["captured_ns"] / 1e6, 3),
                    "replayed_ms": round(answer["replayed_ns"] / 1e6, 3)})
    for name, changes in CHANGES.items():
        row = asked(program, captures / f"{name}.json.gz", changes)["changes"][0]
        real = alone[name] - alone[f"{name}.mended"]
        said, low, high = (row[key] / 1e6 for key in ("gain_ns", "gain_low_ns", "gain_high_ns"))
        gains.append({"program": name, "change": " ".join(changes), "real_ms": round(real, 3), "said_ms": round(said, 3),
                      "near": abs(said - real) <= max(NEAR * real, POINTS * alone[name]),
                      "covered": low * (1 - ROOM) <= real <= high * (1 + ROOM)})
    errors = [abs(row["error"]) for row in own]
    counts = {"own": len(own), "own_covered": sum(row["covered"] for row in own), "own_error_median": round(statistics.median(errors), 4),
              "own_error_mean": round(statistics.mean(errors), 4), "gains": len(gains), "gains_near": sum(row["near"] for row in gains),
              "gains_covered": sum(row["covered"] for row in gains),
              "unchanged_worst": round(max(abs(row["replayed_ms"] / row["captured_ms"] - 1) for row in own), 4)}
    if "--json" in more:
        print(json.dumps({"counts": counts, "own": own, "gains": gains}, indent=1))
    else:
        for row in [*own, *gains]:
            if not row["covered"] or not row.get("near", True):
                print(row)
        print(counts)
    return 0 if counts["own_covered"] >= LEAST_OWN * len(own) and counts["gains_near"] >= LEAST_NEAR * len(gains) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
