"""How often the program's own step, measured without the profiler, lies where a capture says that
it lies: between the median step less its part of window.profiler_ns, and the median step, +- 5 %.

Usage: profiler_cost.py PROGRAM [FOLDER]   (FOLDER: what tests/advice/programs/run recorded; without
it the captures of tests/advice, whose runs.json has the times)
Ends with 1 below the share that docs/definitions.md states.
"""
import json
import pathlib
import statistics
import subprocess
import sys

CAPTURES = pathlib.Path(__file__).resolve().parents[1] / "advice" / "captures"
ROOM, LEAST = 0.05, 37


def main(program, folder=CAPTURES):
    folder = pathlib.Path(folder)
    inside, widths, known, settings = 0, [], 0, {}
    runs = json.loads((folder / "runs.json").read_text())
    for run in runs["runs"] if isinstance(runs, dict) else runs:
        path = folder / run.get("trace", "")
        if not path.is_file():
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
        how = ", ".join(key for key, on in run.get("recorded", {}).items() if on and key != "marks")
        one = settings.setdefault(how or "neither stacks nor shapes", [0, 0])
        one[0] += right
        one[1] += 1
        widths.append(1 - low / step)
        if not right:
            print(f"{run['trace']}: {alone:.3f} ms alone, told {low:.3f} to {step:.3f}")
    print(f"{inside} of {known} inside; width {statistics.mean(widths):.1%} of the step on average, "
          f"{statistics.median(widths):.1%} median")
    for how, (right, all_of) in sorted(settings.items()):
        print(f"  with {how}: {right} of {all_of}")
    return 1 if folder == CAPTURES and inside < LEAST else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
