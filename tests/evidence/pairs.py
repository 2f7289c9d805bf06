#!/usr/bin/env python3
"""pairs.py PROGRAM: what `compare` says of captures of every reader, of which the truth is known.

A capture is held against itself, and against one whose longest kernel takes 30 % less: the kernels
of a step then take as much more as the records say, the longest kernel's role is named, and the parts sum to the difference."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

from captures import of_every_reader

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
SHORTER = 0.7
failures = []


def compared(program, before, after):
    done = subprocess.run([program, "compare", before, after, "--format", "json"],
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def name_of(capture, handle):
    if isinstance(handle, dict):
        return handle["name"]
    if capture.suffix == ".xplane.pb":
        return handle[2].decode()
    table, row = handle
    return row[-1] if table == "CUPTI_ACTIVITY_KIND_KERNEL" else row[capture.name]


def expect(right, *words):
    if not right:
        failures.append(" ".join(map(str, words)))


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for reader, capture in of_every_reader(program, EXAMPLES, folder):
            activities = capture.activities()
            time = collections.Counter()
            for _, duration, handle in activities:
                if capture.is_kernel(handle):
                    time[name_of(capture, handle)] += duration
            longest = time.most_common(1)[0][0]
            shorter = [[start, duration * SHORTER if capture.is_kernel(handle)
                        and name_of(capture, handle) == longest else duration,
                        handle] for start, duration, handle in activities]
            before, after = folder / f"before{capture.suffix}", folder / f"after{capture.suffix}"
            capture.write(before, shorter)
            capture.write(after, activities)
            same = compared(program, after, after)["changes"][0]
            expect(same["verdict"] not in ("slower", "faster"), reader, "is called",
                   same["verdict"], "than itself")
            expect(same["kernel_verdict"] in ("no_difference", "not_known", "undecided"), reader,
                   same["kernel_verdict"])
            answer = compared(program, before, after)
            change = answer["changes"][0]
            steps = min(run["steps"] for run in answer["runs"])
            if steps >= 3:
                expect(change["kernel_verdict"] == "slower", reader, "kernels are",
                       change["kernel_verdict"])
            total = [sum(row["ns"][run] for row in answer["time"] if row["kind"] == "layer_type")
                     for run in (0, 1)]
            expect(abs(change["kernel_ratio"] - total[1] / total[0]) < 0.02, reader,
                   change["kernel_ratio"], total)
            expect(change["kernel_ratio"] > 1.02, reader, "kernels take", change["kernel_ratio"])
            for run in (0, 1):
                expect(sum(row["ns"][run]
                           for row in answer["time"]) == answer["runs"][run]["time_ns"], reader,
                       "does not sum")
            grown = answer["roles"][0]
            expect(grown["change_ns"][1] > 0.8 * (total[1] - total[0]), reader, "has grown in",
                   grown["role"])
            if steps >= 3:
                named = [culprit["role"] for culprit in answer["culprits"]]
                expect(grown["role"] in named or answer["likeness"][0]["common_ratio"], reader,
                       "names", named)
            print(f"{reader}: kernels {change['kernel_ratio']:.3f} ({change['kernel_verdict']}) in {grown['role']}, {steps} steps")
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
