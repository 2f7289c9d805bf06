#!/usr/bin/env python3
"""Jobs made from a recorded trace: offsets within 5 us, waits within 5 us, the last rank right
where it is sure.

    synthetic_test.py PROGRAM      (needs GPUFATHOM_CORPUS and NumPy; 77 where one is missing)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

corpus = os.environ.get("GPUFATHOM_CORPUS")
try:
    import numpy  # noqa: F401
except ImportError:
    corpus = None
if not corpus:
    print("GPUFATHOM_CORPUS is unset, or NumPy is not installed (./dev python)")
    sys.exit(77)
from synthetic import Job, Template  # noqa: E402

PROGRAM = sys.argv[1]
TRACE = pathlib.Path(corpus) / "public" / "hta_a100_nccl.json.gz"
TOLERANCE = 5000


def judge(name, template, ranks, seed, cut=None):
    job = Job(template, ranks, seed)
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for rank in range(ranks):
            path = pathlib.Path(folder) / f"rank{rank}.json"
            path.write_text(job.trace(rank))
            paths.append(str(path))
        answer = json.loads(subprocess.run([PROGRAM, "ranks", "--format", "json", *paths],
                                           check=True, capture_output=True).stdout)
    truth = job.truth()
    assert answer["collectives_matched"] == truth["collectives"], (name,
                                                                   answer["collectives_matched"])
    middle = (job.times(0)[0].min() + job.times(0)[0].max()) / 2 - 4_448_000_000_000_000
    for rank in answer["ranks"]:
        number = rank["rank"]
        true = truth["offset_ns"][number] + truth["drift_ppm"][number] * 1e-6 * middle
        assert abs(rank["offset_ns"] - true) <= TOLERANCE, (name, number, rank["offset_ns"], true)
    planted = found = wrong = 0
    for index, row in enumerate(sorted(answer["collectives"],
                                       key=lambda row: row["ranks"][0]["start_ns"])):
        late, delay = truth["late"][index], truth["delay_ns"][index]
        for one in row["ranks"]:
            assert one["wait_ns"] + one["transfer_ns"] == one["duration_ns"]
            expected = 0 if one["rank"] == late else delay
            assert abs(one["wait_ns"] - expected) <= TOLERANCE, (name, index, one, expected)
        sure = row["margin_ns"] > row["doubt_ns"]
        planted += delay > 0
        found += delay > 0 and sure and row["last_rank"] == late
        wrong += sure and row["last_rank"] != late and row["margin_ns"] > TOLERANCE
    assert wrong == 0 and found == planted, (name, planted, found, wrong)
    print(f"{name}: {ranks} ranks, {planted} planted delays, all found")
    return planted


def main():
    total = judge("described", Template(TRACE, 2), 2, 1)
    total += judge("described", Template(TRACE, 1), 6, 2)
    total += judge("by kernel names alone", Template(TRACE, 1, metadata=False), 3, 3)
    total += judge("numbered", Template(TRACE, 1, sequence=True), 3, 4)
    assert total >= 40, total


if __name__ == "__main__":
    main()
