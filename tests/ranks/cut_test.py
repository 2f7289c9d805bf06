#!/usr/bin/env python3
"""Eight ranks (tensor x pipeline x data parallel, 2 x 2 x 2) whose clocks differ by milliseconds and
whose traces begin and end at different times: no message or collective is paired with one of
another step, though all steps are alike.

    cut_test.py PROGRAM
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from job_simulator import BEGIN_NS, Job

PROGRAM = sys.argv[1]
NEAR_US = 5  # ends jitter by 1.5, clocks are known to about one


def cut(folder, keep_numbers):
    """The later a rank's trace begins, the later it ends."""
    for path in sorted(folder.glob("*.json")):
        rank = int(path.stem[4:])
        trace = json.loads(path.read_text())
        starts = sorted(event["ts"] for event in trace["traceEvents"] if event["cat"] == "kernel")
        first, last = starts[len(starts) * rank // 50], starts[-1 - len(starts) * (7 - rank) // 50]
        trace["traceEvents"] = [event for event in trace["traceEvents"]
                                if first <= event["ts"] <= last]
        for event in trace["traceEvents"]:
            if not keep_numbers:
                event.get("args", {}).pop("Seq", None)
        path.write_text(json.dumps(trace))


def main():
    draw = random.Random(5)
    offsets = [draw.uniform(-5000, 5000) for _ in range(8)]
    job = Job(ranks=8, tensor=2, pipeline=2, schedule="1f1b").run()
    truth = {}  # by rank and start: all arrivals
    for arrivals in job.arrived.values():
        for rank, start in arrivals.items():
            truth.setdefault((rank, round(start)), []).append(arrivals)
    for keep_numbers in (True, False):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            job.write(folder, offsets)
            cut(folder, keep_numbers)
            done = subprocess.run([PROGRAM, "ranks", "--allow-incomplete", "--format", "json",
                                   "--rows", "0", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        answer = json.loads(done.stdout)
        assert not any(note["code"] == "doubtful_pairs" for note in answer["quality"]), answer["quality"]
        assert answer["collectives_matched"] >= 540, answer["collectives_matched"]
        shift = offsets[0]  # the common clock is that of rank 0
        for row in answer["collectives"]:
            begun = {one["rank"]: (one["start_ns"] - BEGIN_NS) / 1e3 - shift for one in row["ranks"]}
            rank, start = next(iter(begun.items()))
            found = [arrivals for key in range(round(start) - NEAR_US, round(start) + NEAR_US + 1)
                     for arrivals in truth.get((rank, key), [])]
            assert any(all(other in arrivals and abs(arrivals[other] - at) <= NEAR_US
                           for other, at in begun.items()) for arrivals in found), (keep_numbers, row, found)


main()
