#!/usr/bin/env python3
"""Jobs with nothing planted: no rank is blamed for 1 % of the time, nor for more than the raw
events allow, and none is said to fall behind.

    healthy_test.py PROGRAM [--print]

The judge reads the JSON by itself. All ranks of a job are of one host, so their clocks are one.
Without one rank, the job still ends no earlier than the slowest other host would have made its last
collective's launch call, had it never waited for its device.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys

PROGRAM, HERE = sys.argv[1], pathlib.Path(__file__).resolve().parent
JOBS = {"two ranks, data parallel": (HERE / "captures", "none", 2),
        "four ranks, tensor parallel": (HERE / "groups", "tp4_none", 4)}
if os.environ.get("GPUFATHOM_CORPUS"):
    JOBS["two ranks, ResNet-50"] = (pathlib.Path(os.environ["GPUFATHOM_CORPUS"]) / "h200" / "ranks",
                                    "none", 2)
# a launch call of so many microseconds waited; a share of the time that a reader would be told of
QUEUED, TOLD = 100, 0.01


def last_launch(path):
    """When the host called for its last collective, and how long it waited for its device before,
    in microseconds."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    calls = {event["args"]["correlation"]: event for event in events
             if event.get("cat") in ("cuda_runtime", "cuda_driver")
             and "correlation" in event.get("args", {})}
    launched = [calls[event["args"]["correlation"]]["ts"] for event in events
                if event.get("cat") == "kernel" and "nccl" in event["name"].lower()
                and event["args"].get("correlation") in calls]
    waited = sum(call["dur"] for call in calls.values() if "Synchronize" in call["name"]
                 or call["dur"] >= QUEUED)
    return max(launched), waited


def main():
    for name, (folder, part, count) in JOBS.items():
        paths = [folder / f"{part}.rank{rank}.json.gz" for rank in range(count)]
        answer = json.loads(subprocess.run([PROGRAM, "ranks", "--format", "json", *map(str, paths)],
                                           stdout=subprocess.PIPE, check=True).stdout)
        hosts = [last_launch(path) for path in paths]
        assert answer["falling_behind"] == [], (name, answer["falling_behind"])
        for rank, (last, _) in enumerate(hosts):
            others = max(other - waited for place, (other, waited) in enumerate(hosts)
                         if place != rank)
            allowed = max(last - others, 0) / 1e3
            said = sum(row["gain_ns"] for row in answer["stragglers"] if row["rank"] == rank) / 1e6
            if "--print" in sys.argv:
                print(f"{name}, rank {rank}: said {said:.2f} ms, allowed {allowed:.2f} ms of {answer['span_ns'] / 1e6:.1f} ms")
            assert said <= min(allowed, TOLD * answer["span_ns"] / 1e6), (name, rank, said, allowed)


if __name__ == "__main__":
    main()
