#!/usr/bin/env python3
"""Four H200s in groups, with planted faults (tests/gpu/ranks/groups.py): the straggler, its cause
and its cost are right.

    groups_test.py PROGRAM [--json]       --json prints the figures of docs/results/ranks_four_h200.json
"""
import json
import pathlib
import statistics
import subprocess
import sys

PROGRAM, HERE = sys.argv[1], pathlib.Path(__file__).resolve().parent / "groups"
TRUTH = json.loads((HERE / "truth.json").read_text())
# Cause, and a word of the operator or its scope.
CAUSES = {"late_input": ("input", "DataLoader"), "more_kernels": ("kernels", "extra_augmentation"),
          "read_back": ("host_other", "forward")}
# Its late rank is late for nothing: another host holds all devices up, and this one's launches lie
# far ahead. That it falls behind is said.
HIDDEN = "fsdp_late_input"


def answer_of(files):
    done = subprocess.run([PROGRAM, "ranks", "--format", "json", "--rows", "0", *files],
                          stdout=subprocess.PIPE, check=True)
    answer = json.loads(done.stdout)
    assert len(answer["ranks"]) == TRUTH["ranks"] and not answer["missing_ranks"]
    for row in answer["collectives"]:
        for one in row["ranks"]:
            assert one["wait_ns"] + one["transfer_ns"] == one["duration_ns"], files
    for rank in answer["ranks"]:
        assert sum(piece["ns"] for piece in rank["time"]) == rank["span_ns"], files
        assert rank["wait_ns"] + rank["transfer_ns"] + rank["unmatched_ns"] == rank["collective_ns"], files
    for rank in {row["rank"] for row in answer["stragglers"]}:
        said = sum(row["gain_ns"] for row in answer["stragglers"] if row["rank"] == rank)
        assert said <= max(one["wait_ns"] for one in answer["ranks"]), (files, rank, said)
    return answer


def waited_a_step(answer):
    """The exposed waiting of the rank that waits most, in the median step, in milliseconds."""
    steps = {}
    for row in answer["steps"]:
        steps.setdefault(row["rank"], []).append(row["wait_ns"] / 1e6)
    return max(statistics.median(waits) for waits in steps.values())


def judge(part):
    truth, answer = TRUTH["parts"][part], answer_of([str(HERE / f"{part}.parts.jsonl.gz")])
    worst = answer["stragglers"][0]
    figures = {"planted": truth["fault"], "late_ranks": truth["late_ranks"],
               "said_rank": worst["rank"], "said_cause": worst["cause"],
               "said_operator": worst["op"], "said_scope": worst["module"], "collectives": answer["collectives_matched"],
               "span_ms": round(answer["span_ns"] / 1e6, 2),
               "gain_said_ms": round(sum(row["gain_ns"] for row in answer["stragglers"] if row["rank"] == worst["rank"]) / 1e6, 2),
               "waited_a_step_ms": round(waited_a_step(answer), 2),
               "kernels_ms": [round(piece["ns"] / 1e6, 1) for rank in answer["ranks"] for piece in rank["time"] if piece["part"] == "kernels"],
               "bus_gb_per_s": {f"{row['type']} {row['ranks']} x {row['bytes']}": round(row["bus_gb_per_s"], 1) for row in answer["rates"]},
               "of_link": {f"{row['type']} {row['ranks']} x {row['bytes']}": round(row["of_link"], 3) for row in answer["rates"]}}
    behind = answer["falling_behind"]
    assert bool(behind) == (part == HIDDEN), (part, behind)
    if truth["fault"] == "none":
        assert worst["cause"] in ("launch_bound",
                                  "host_other") or worst["gain_ns"] < 0.01 * answer["span_ns"], (part, worst)
        return figures
    plain = TRUTH["parts"][f"{truth['model']}_none"]["step_ms_alone"]
    figures["real_a_step_ms"] = round(truth["step_ms_alone"] - plain, 2)
    cause, word = CAUSES[truth["fault"]]
    if part == HIDDEN:
        row = behind[0]
        figures["falls_behind"] = {"rank": row["rank"], "cause": row["cause"],
                                   "operator": row["op"]}
        figures["falls_behind"].update({f"{key}_ms": round(row[f"{key}_ns"] / 1e6, 2)
                                        for key in ("host_step", "next_step", "more", "gain_step",
                                                    "queued")})
        assert row["rank"] in truth["late_ranks"] and row["cause"] == cause and word in row["op"], row
        assert row["gain_step_ns"] / 1e6 <= figures["real_a_step_ms"] <= row["more_ns"] / 1e6, (row, figures)
        return figures
    assert worst["rank"] in truth["late_ranks"], (part, worst)
    assert worst["cause"] == cause and word in worst["op"] + worst["module"], (part, worst)
    others = sum(row["gain_ns"] for row in answer["stragglers"]
                 if row["rank"] not in truth["late_ranks"])
    assert others < 0.1 * figures["gain_said_ms"] * 1e6, (part, others)
    assert 0.7 <= figures["waited_a_step_ms"] / figures["real_a_step_ms"] <= 1.3, (part, figures)
    return figures


def main():
    figures = {part: judge(part) for part in TRUTH["parts"]}
    files = [str(HERE / f"tp2_group_late.rank{rank}.json.gz") for rank in range(TRUTH["ranks"])]
    traces, parts = answer_of(files), answer_of([str(HERE / "tp2_group_late.parts.jsonl.gz")])
    for key in ("rates", "critical_path"):
        assert traces[key] == parts[key], key
    # Those parts are of a release that counted what was launched before the profiler into the first
    # step.
    first = min(step["step"] for step in parts["steps"])
    later = [[step for step in answer["steps"] if step["step"] != first]
             for answer in (traces, parts)]
    assert later[0] == later[1] and len(later[0]) == 3 * TRUTH["ranks"], later
    assert len(traces["collectives"]) == len(parts["collectives"])
    for now, then in zip(traces["collectives"], parts["collectives"]):
        assert now == then or (then["step"] == first and now == {**then, "step": None}), (now, then)
    # Nor did they say what waited for what; the traces do.
    assert parts["replayed_ns"] is None and traces["replayed_ns"] > 0
    late = TRUTH["parts"]["tp2_group_late"]
    real = (late["step_ms_alone"] - TRUTH["parts"]["tp2_none"]["step_ms_alone"]) * late["active"]
    joint = traces["joint_gain_ns"] / 1e6
    assert sorted(traces["joint_ranks"]) == late["late_ranks"] and abs(joint - real) <= 0.15 * real, (traces["joint_ranks"], joint, real)
    figures["tp2_group_late"]["joint_gain_said_ms"] = round(joint, 2)
    figures["tp2_group_late"]["joint_gain_real_ms"] = round(real, 2)
    if "--json" in sys.argv:
        print(json.dumps({"program": "tests/gpu/ranks/groups.py", "gpu": TRUTH["gpu"],
                          "torch": TRUTH["torch"], "ranks": TRUTH["ranks"],
                          "judge": "tests/ranks/groups_test.py PROGRAM --json", "parts": figures},
                         indent=1))


if __name__ == "__main__":
    main()
