#!/usr/bin/env python3
"""The court of blame: simulated jobs with planted faults, whose gains are the same jobs simulated
without them.

    blame_test.py PROGRAM [--seeds N] [--first N] [--large] [--json]

Told right: the rank (or link), its cause, and what the job would gain within 30 %; of healthy jobs
no rank for 1 % or more.
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import tempfile

from job_simulator import Fault, Job

LAYOUTS = {
    "data 8": {"ranks": 8},
    "tensor 2 x data 4": {"ranks": 8, "tensor": 2},
    "pipeline 4, gpipe": {"ranks": 4, "pipeline": 4},
    "pipeline 4, 1f1b": {"ranks": 4, "pipeline": 4, "schedule": "1f1b"},
    "pipeline 4 x data 2, 1f1b": {"ranks": 8, "pipeline": 4, "schedule": "1f1b"},
    "pipeline 2 x data 4, interleaved": {"ranks": 8, "pipeline": 2, "chunks": 2},
    "tensor 2 x pipeline 2 x data 2": {"ranks": 8, "tensor": 2, "pipeline": 2, "schedule": "1f1b"},
}
LARGE = {
    "tensor 4 x pipeline 4 x data 4": {"ranks": 64, "tensor": 4, "pipeline": 4, "schedule": "1f1b", "steps": 3},
    "tensor 2 x pipeline 4 x data 4, interleaved": {"ranks": 32, "tensor": 2, "pipeline": 4, "chunks": 2, "layers": 16, "steps": 3},
    "data 32": {"ranks": 32, "steps": 3},
}
CAUSES = {"slow_gpu": {"kernels"}, "input": {"input"}, "slow_host": {"launch_bound", "host_other"},
          "extra_kernels": {"kernels"}}


def planted(kind, layout, job, rng):
    """Faults of one case, the first the one that is judged; none where the layout has no such
    thing."""
    rank = rng.randrange(job["ranks"])
    if kind == "none":
        return []
    if kind == "slow_gpu":
        return [Fault("slow_gpu", rank, factor=1.25)]
    if kind == "slow_host":
        return [Fault("slow_host", rank, factor=3.0)]
    if kind == "input":
        return [Fault("input", rank, microseconds=4000.0)]
    if kind == "extra_kernels":
        if job.get("pipeline", 1) == job["ranks"]:  # alone in its stage: they may belong there
            return None
        return [Fault("extra_kernels", rank, factor=60)]
    if kind == "slow_link":
        tensor, stage, _ = Job(**job).place(rank)
        alone = job.get("tensor", 1) * job.get("pipeline", 1) in (1, job["ranks"])
        return None if alone else [Fault("slow_link", group=f"dp{tensor}_{stage}", factor=10.0)]
    other = (rank + 1 + rng.randrange(job["ranks"] - 1)) % job["ranks"]
    if kind == "two":
        return [Fault("input", rank, microseconds=5000.0), Fault("slow_gpu", other, factor=1.25)]
    assert kind == "alternating"
    even = tuple(range(0, job["steps"], 2))
    odd = tuple(range(1, job["steps"], 2))
    return [Fault("input", rank, microseconds=6000.0, steps=even),
            Fault("input", other, microseconds=3000.0, steps=odd)]


KINDS = ("none", "slow_gpu", "slow_host", "input", "slow_link", "extra_kernels", "two",
         "alternating")


def simulated(options, faults):
    return Job(**options, faults=tuple(faults)).run()


def answer_of(program, job, rng):
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder, offsets=[rng.uniform(-500, 500) for _ in range(job.ranks)])
        done = subprocess.run([program, "ranks", "--format", "json", folder],
                              stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def judged(program, kind, layout, options, seed):
    rng = random.Random(f"{kind} {layout} {seed}")
    options = {"steps": 4} | options | {"seed": seed, "micro_batches": rng.choice([4, 8])}
    if kind == "slow_host":
        options |= {"kernel": 60.0, "host": 50.0}
    faults = planted(kind, layout, options, rng)
    if faults is None:
        return None
    job = simulated(options, faults)
    answer = answer_of(program, job, rng)
    span = answer["span_ns"] / 1e3
    said = collections.Counter()
    for row in answer["stragglers"]:
        said[row["rank"]] += row["gain_ns"] / 1e3
    links = {link["group"].split()[0]: link["gain_ns"] / 1e3 for link in answer.get("links", [])}
    most = max([*said.values(), *links.values()], default=0.0)
    row = {"layout": layout, "fault": kind, "seed": seed, "span_us": round(span)}
    if not faults:
        return row | {"right": most < 0.01 * span, "said_share": round(most / span, 4)}
    rest = {fault: simulated(options, [one for one in faults if one is not fault]).total()
            for fault in faults}
    gains = {fault: job.total() - rest[fault] for fault in faults}
    told = max(faults, key=gains.get)
    gain = gains[told]
    of_fault = links.get(told.group, 0.0) if told.kind == "slow_link" else said[told.rank]
    row |= {"gain_us": round(gain), "said_us": round(of_fault),
            "ratio": round(of_fault / gain, 3) if gain > 0 else None}
    if gain < 0.01 * span:  # other ranks hide the fault: nothing is to be told of it alone
        return row | {"right": of_fault < 0.02 * span, "cause": True, "near": True}
    right = of_fault >= most
    first = answer["stragglers"][0]["cause"] if answer["stragglers"] else ""
    cause = told.kind == "slow_link" or (right and first in CAUSES[told.kind])
    row |= {"right": right, "cause": cause,
            "near": abs(of_fault - gain) <= max(0.3 * gain, 0.005 * span)}
    if len(faults) > 1:
        joint = job.total() - simulated(options, []).total()
        row |= {"joint_us": round(joint),
                "said_joint_us": round(answer.get("joint_gain_ns", 0) / 1e3)}
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    layouts = LAYOUTS | (LARGE if options.large else {})
    rows = [row for seed in range(options.first, options.first + options.seeds)
            for layout, job in layouts.items() for kind in KINDS
            if (row := judged(program, kind, layout, job, seed))]
    faulty = [row for row in rows if row["fault"] != "none"]
    healthy = [row for row in rows if row["fault"] == "none"]
    joint = [row for row in rows if "joint_us" in row]
    counts = {"healthy": len(healthy), "healthy_quiet": sum(row["right"] for row in healthy),
              "faulty": len(faulty),
              "right": sum(row["right"] and row["cause"] for row in faulty), "gain_near": sum(row["near"] for row in faulty),
              "joint": len(joint), "joint_near": sum(abs(row["said_joint_us"] - row["joint_us"]) <= 0.3 * row["joint_us"] for row in joint)}
    if options.json:
        print(json.dumps({"counts": counts, "rows": rows}, indent=1))
    else:
        for row in rows:
            if not (row["right"] and row.get("cause", True) and row.get("near", True)):
                print(row)
        print(counts)
    assert counts["healthy_quiet"] == counts["healthy"], counts
    assert counts["right"] >= 0.95 * counts["faulty"], counts
    assert counts["gain_near"] >= 0.9 * counts["faulty"], counts


if __name__ == "__main__":
    main()
