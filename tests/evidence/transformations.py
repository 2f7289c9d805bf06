#!/usr/bin/env python3
"""transformations.py PROGRAM: whatever is done to the kernels of a capture is told.

Kernels are lost, doubled, moved before their launch, stretched over each other, and the file is
cut, in small captures of every reader. Each changes the exit code or the doubts of `analyze`; what
is beyond its bound (docs/evidence.md) ends with 1 and gives no advice. The captures as they are end with 0 and no such doubt."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from captures import of_every_reader

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
BROKEN = {"no_kernel", "no_copy", "kernel_before_launch", "runs_past_wait", "late_kernels",
          "stream_overlap", "repeated_kernel",
          "short_kernels"}
DOUBTS = {"few_without_kernel", "few_without_copy", "few_before_launch", "few_run_past_wait",
          "few_late_kernels", "few_overlaps",
          "few_repeated", "few_short_kernels", "lengths_alike", "numbers_fall", "calls_missing",
          "marks_missing"}
failures = []


def state(program, path):
    """Exit code, codes of quality with their counts, ids of findings."""
    done = subprocess.run([program, "analyze", path, "--format", "json"], capture_output=True,
                          text=True)
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        return done.returncode, {}, []
    return (done.returncode, {row["code"]: row["count"] for row in answer["quality"]},
            [(finding["id"], finding["gain_ns"]) for finding in answer["findings"]])


def drop(share):
    def change(capture, activities, chance):
        kernels = [item for item in activities if capture.is_kernel(item[2])]
        lost = chance.sample(range(len(kernels)), max(1, round(share * len(kernels))))
        gone = {id(kernels[number]) for number in lost}
        return [item for item in activities if id(item) not in gone]
    return change


def drop_middle(capture, activities, _):
    starts = sorted(start for start, _, handle in activities if capture.is_kernel(handle))
    low, high = starts[len(starts) // 3], starts[2 * len(starts) // 3]
    return [item for item in activities
            if not (capture.is_kernel(item[2]) and low <= item[0] < high)]


def double(capture, activities, _):
    return activities + [item for item in activities if capture.is_kernel(item[2])]


def before_launch(capture, activities, _):
    return [[start - 2_000_000 * capture.unit, duration, handle]
            for start, duration, handle in activities]


def stretch(capture, activities, _):
    return [[start, duration * 20 if capture.is_kernel(handle) else duration, handle]
            for start, duration, handle in activities]


def scaled(factor):
    def change(capture, activities, _):
        return [[start, type(duration)(duration * factor) if capture.is_kernel(handle)
                 else duration, handle]
                for start, duration, handle in activities]
    return change


def double_later(capture, activities, _):
    return activities + [[item[0] + type(item[0])(capture.unit), *item[1:]] for item in activities
                         if capture.is_kernel(item[2])]


def late(nanoseconds):
    def change(capture, activities, _):
        return [[start + type(start)(nanoseconds * capture.unit), duration, handle]
                for start, duration, handle in activities]
    return change


CHANGES = {  # what is done, and the codes of which one tells it
    "1 % of the kernels lost": (drop(0.01), {"no_kernel", "few_without_kernel"}),
    "10 % of the kernels lost": (drop(0.1), {"no_kernel"}),
    "50 % of the kernels lost": (drop(0.5), {"no_kernel"}),
    "the middle third lost": (drop_middle, {"no_kernel"}),
    "every kernel twice": (double, {"repeated_kernel"}),
    "2 ms before the launch": (before_launch, {"kernel_before_launch"}),
    "20 times as long": (stretch, {"stream_overlap"}),
    "no length": (scaled(0), {"short_kernels"}),
    "a thousandth as long": (scaled(0.001), {"short_kernels"}),
    "every kernel twice, 1 ns later": (double_later, {"repeated_kernel", "stream_overlap"}),
    "a second late": (late(1e9), {"late_kernels", "runs_past_wait"}),
    "an hour late": (late(3.6e12), {"late_kernels", "runs_past_wait"}),
}


# Their nodes have no numbers in the traces of torch.profiler: what a launch lost is a doubt at
# most.
GRAPHS = {"1 % of the kernels lost": {"few_without_kernel"},
          "10 % of the kernels lost": {"few_without_kernel"},
          "50 % of the kernels lost": {"few_without_kernel"}}


def check(name, change, expected, found):
    code, quality, findings = found
    told = expected & set(quality)
    beyond = BROKEN & set(quality)
    print(f"{name:15} {change:26} exit {code}  {', '.join(f'{count} x {row}' for row, count in quality.items())}")
    if not told:
        failures.append(f"{name}, {change}: none of {sorted(expected)} in {quality}")
    if (code == 1) != bool(beyond):
        failures.append(f"{name}, {change}: exit {code} with {quality}")
    if beyond and [finding for finding, gain in findings if gain]:
        failures.append(f"{name}, {change}: advice on broken evidence: {findings}")
    if beyond and "advice_withheld" not in [finding for finding, _ in findings]:
        failures.append(f"{name}, {change}: nothing says that advice is withheld: {findings}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for name, capture in of_every_reader(program, EXAMPLES, scratch):
            path = scratch / f"changed{capture.suffix}"
            capture.write(path, capture.activities())
            code, quality, _ = state(program, path)
            print(f"{name:15} {'as it is':26} exit {code}  {quality}")
            if code != 0 or (BROKEN | DOUBTS) & set(quality):
                failures.append(f"{name} as it is: exit {code}, {quality}")
            for change, (apply, expected) in CHANGES.items():
                if name == "graphs":
                    expected = GRAPHS.get(change, expected)
                for seed in (1, 2) if "lost" in change else (1,):
                    path.unlink()
                    capture.write(path, apply(capture, capture.activities(), random.Random(seed)))
                    check(name, change, expected, state(program, path))
            path.unlink()
            capture.write(path, capture.activities())
            path.write_bytes(path.read_bytes()[: path.stat().st_size * 6 // 10])
            cut = state(program, path)
            print(f"{name:15} {'the file cut':26} exit {cut[0]}  {cut[1]}")
            if cut[0] != 1:
                failures.append(f"{name}, cut: exit {cut[0]}, {cut[1]}")
    print("\n".join(failures) or "each one is told")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
