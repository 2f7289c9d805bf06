"""How often the program's own step, measured without the profiler, lies where a capture says that
it lies: between the median step less its part of window.profiler_ns, and the median step, +- 5 %.

Usage: profiler_cost.py PROGRAM   (the captures of tests/advice, whose runs.json has the times)
Ends with 1 below the share that docs/definitions.md states.
"""
import json
import pathlib
import statistics
import subprocess
import sys

CAPTURES = pathlib.Path(__file__).resolve().parents[1] / "advice" / "captures"
ROOM, LEAST = 0.05, 37


def main(program):
    inside, widths, known = 0, [], 0
    for run in json.loads((CAPTURES / "runs.json").read_text())["runs"]:
        path = CAPTURES / run["trace"]
        if not path.exists():
            continue
        done = subprocess.run([program, "analyze", str(path), "--format", "json"],
                              capture_output=True, text=True)
        window = json.loads(done.stdout)["window"] if done.stdout else {"steps": []}
        if not window["steps"] or window["profiler_ns"] is None:
            continue
        known += 1
        step = statistics.median(one["duration_ns"] for one in window["steps"]) / 1e6
        low = step * (1 - window["profiler_ns"] / window["duration_ns"])
        alone = run["alone"]["median_ms"]
        right = low * (1 - ROOM) <= alone <= step * (1 + ROOM)
        inside += right
        widths.append(1 - low / step)
        if not right:
            print(f"{run['trace']}: {alone:.3f} ms alone, told {low:.3f} to {step:.3f}")
    print(f"{inside} of {known} inside; width {statistics.mean(widths):.1%} of the step on average, "
          f"{statistics.median(widths):.1%} median")
    return 1 if inside < LEAST else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
