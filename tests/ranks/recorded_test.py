#!/usr/bin/env python3
"""Planted faults on two H200s (tests/gpu/ranks/faults.py): the straggler, its cause, the operator
and the cost are right.

    recorded_test.py PROGRAM [--json]       --json prints the figures of docs/results/ranks.json
"""
import json
import os
import pathlib
import subprocess
import sys

PROGRAM, HERE = sys.argv[1], pathlib.Path(__file__).resolve().parent / "captures"
TRUTH = json.loads((HERE / "truth.json").read_text())["parts"]
LATER = json.loads((HERE / "truth.json").read_text())["later"]["parts"]
# The expected first sentence about the late rank: cause, and a word of the operator or its scope.
CAUSES = {
    "slow_input": ("input", "DataLoader"),
    "extra_kernels": ("kernels", "extra_augmentation"),
    "extra_sync": ("host_other", ""),  # it sleeps between its read-backs
    "uneven_batch": ("kernels", ""),
    "stall_once": ("host_other", "checkpoint"),
}
# Faults whose cause the late rank's own capture tells (`apart`): the finding, a word of its text, and
# the same program without the fault.
APART = {
    "plain_input": ("host_bound", "before aten::to", "none"),
    "read_backs": ("blocking_copies", "Copies between host and device", "none"),
    "held_lock": ("gil_stalls", "holds the GIL", "none"),
    "small_plain_input": ("host_bound", "before aten::to", "small_none"),
}


def answer_of(part):
    files = [str(HERE / f"{part}.rank{rank}.json.gz") for rank in range(2)]
    done = subprocess.run([PROGRAM, "ranks", "--format", "json", *files], stdout=subprocess.PIPE,
                          check=True)
    answer = json.loads(done.stdout)
    for row in answer["collectives"]:
        for one in row["ranks"]:
            assert one["wait_ns"] + one["transfer_ns"] == one["duration_ns"], part
    for rank in answer["ranks"]:
        assert sum(piece["ns"] for piece in rank["time"]) == rank["span_ns"], part
        assert rank["wait_ns"] + rank["transfer_ns"] + rank["unmatched_ns"] == rank["collective_ns"], part
    return answer


def judge_cause(part):
    """The cost against that of the same program without the fault, both without a profiler."""
    answer, truth = answer_of(part), TRUTH[part]
    worst = answer["stragglers"][0]
    cause, word = CAUSES[part]
    assert worst["rank"] == truth["late_rank"], (part, worst)
    assert worst["cause"] == cause, (part, worst)
    assert word in worst["op"] + worst["module"], (part, worst)
    said = sum(row["gain_ns"] for row in answer["stragglers"] if row["rank"] == worst["rank"]) / 1e6
    real = 60.0 if part == "stall_once" else (truth["step_ms_alone"] - TRUTH["none"]["step_ms_alone"]) * truth["active"]
    assert abs(said - real) <= 0.15 * real, (part, said, real)
    return {"late_rank": worst["rank"], "cause": worst["cause"], "operator": worst["op"],
            "scope": worst["module"],
            "gain_said_ms": round(said, 2), "gain_real_ms": round(real, 2)}


def judge_apart(part):
    """The rank, its own capture's cause, and the cost as in judge_cause()."""
    answer, truth = answer_of(part), LATER[part]
    finding, word, without = APART[part]
    worst, apart = answer["stragglers"][0], answer["apart"]
    assert worst["rank"] == truth["late_rank"], (part, worst)
    assert [one["rank"] for one in apart] == [worst["rank"]], (part, apart)
    assert apart[0]["id"] == finding and word in apart[0]["text"], (part, apart)
    assert apart[0]["gain_ns"] > 2 * apart[0]["peer_gain_ns"], (part, apart)
    said = sum(row["gain_ns"] for row in answer["stragglers"] if row["rank"] == worst["rank"]) / 1e6
    real = (truth["step_ms_alone"] - LATER[without]["step_ms_alone"]) * truth["active"]
    assert abs(said - real) <= 0.15 * real, (part, said, real)
    return {"late_rank": worst["rank"], "cause": apart[0]["id"],
            "gain_said_ms": round(said, 2), "gain_real_ms": round(real, 2)}


def judge_slow_gpu():
    """Another process works on the GPU of rank 0: the same kernels take longer there."""
    answer, truth = answer_of("neighbor"), LATER["neighbor"]
    worst = answer["stragglers"][0]
    assert (worst["rank"], worst["cause"]) == (truth["late_rank"], "kernels"), worst
    slower = [rank["same_kernels"] for rank in answer["ranks"]]
    assert slower[0] > 1.2 > 1.05 > slower[1], slower
    return {"late_rank": worst["rank"], "cause": "kernels", "same_kernels": round(slower[0], 3),
            "gain_said_ms": round(worst["gain_ns"] / 1e6, 2)}


def judge_recorder_first():
    """Recording makes one host late, and the planted fault is kernels that it alone runs: they are
    said first."""
    if not os.environ.get("GPUFATHOM_CORPUS"):
        return
    folder = pathlib.Path(os.environ["GPUFATHOM_CORPUS"]) / "h200" / "ranks"
    done = subprocess.run([PROGRAM, "ranks", "--format", "json",
                           *(str(folder / f"slow_gpu.rank{rank}.json.gz") for rank in range(2))],
                          stdout=subprocess.PIPE, check=True)
    worst = json.loads(done.stdout)["stragglers"][0]
    assert (worst["rank"], worst["cause"], worst["module"]) == (0, "kernels",
                                                                "extra_augmentation"), worst


def judge_planted():
    """120 collectives, of which a random part has a delay of 0.3 to 2 ms on a random rank."""
    rows = sorted(answer_of("planted")["collectives"], key=lambda row: row["ranks"][0]["start_ns"])
    plan = TRUTH["planted"]["collectives"]
    assert [row["bytes"] for row in rows] == [4 * one["elements"] for one in plan]
    right = wrong = missed = 0
    errors = []
    for row, one in zip(rows, plan):
        late = row["margin_ns"] > max(row["doubt_ns"], 150_000)
        found = late and one["delay_us"] > 0 and row["last_rank"] == one["rank"]
        right += found
        wrong += late and not found
        missed += one["delay_us"] > 0 and not found
        if found:
            errors.append(abs(row["margin_ns"] / 1e3 - one["delay_us"]))
    precision, recall = right / (right + wrong), right / (right + missed)
    assert right >= 40 and precision >= 0.95 and recall >= 0.95, (right, wrong, missed)
    return {"planted": right + missed, "found": right, "precision": round(precision, 4),
            "recall": round(recall, 4),
            "median_error_us": round(sorted(errors)[len(errors) // 2], 2)}


def main():
    figures = {part: judge_cause(part) for part in CAUSES}
    figures |= {part: judge_apart(part) for part in APART}
    figures["neighbor"] = judge_slow_gpu()
    figures["planted"] = judge_planted()
    judge_recorder_first()
    if "--json" in sys.argv:
        print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
