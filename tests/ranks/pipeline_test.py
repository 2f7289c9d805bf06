#!/usr/bin/env python3
"""Pipelines and tensor parallelism on two GPUs with planted faults: who is blamed, and for how much
of what was measured.

    pipeline_test.py PROGRAM [FOLDER] [--json]     FOLDER: what tests/gpu/ranks/pipeline.py wrote; else captures kept here

The real cost of a fault is a step with it less one without it, neither recorded. Ends with 1 where
the rank, link or cause that is told first is not the planted one.
"""
import json
import pathlib
import subprocess
import sys

KEPT = pathlib.Path(__file__).resolve().parent / "pipeline"
CAUSES = {"neighbor": {"kernels"}, "heavy_stage": {"kernels"},
          "slow_host": {"host_other", "launch_bound"},
          "slow_input": {"input", "host_other"}}


def answer_of(program, files):
    done = subprocess.run([program, "ranks", "--format", "json", *map(str, files)],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def judged(program, truth, part, files, steps):
    """Shares of a step without a recorder; where steps are not counted, of the recorded time."""
    planted = truth["parts"][part]
    alone = truth["profiled"][part]["step_ms_alone"]
    real = 1 - truth["profiled"][planted["layout"] + "_none"]["step_ms_alone"] / alone
    answer = answer_of(program, files)
    whole = alone * 1e6 * steps if steps else answer["span_ns"]
    said = {}
    for row in answer["stragglers"]:
        said[row["rank"]] = said.get(row["rank"], 0) + row["gain_ns"] / whole
    links = {row["group"]: row["gain_ns"] / whole for row in answer.get("links", [])}
    most = max([*said.values(), *links.values()], default=0)
    row = {"part": part, "fault": planted["fault"], "alone_ms": alone, "real": round(real, 4)}
    if planted["fault"] == "none":
        return row | {"said": round(most, 4), "right": most <= 0.02}
    if planted["fault"] == "slow_link":
        told = max(links.values(), default=0)
        return row | {"said": round(told, 4), "right": told > 0 and told == most}
    told = said.get(planted["rank"], 0)
    causes = [one["cause"] for one in answer["stragglers"] if one["rank"] == planted["rank"]]
    return row | {"said": round(told, 4),
                  "right": told > 0 and told == most and causes[0] in CAUSES[planted["fault"]]}


def main(program, *more):
    folder = next((pathlib.Path(word) for word in more if not word.startswith("--")), KEPT)
    truth = json.loads((folder / "truth.json").read_text())
    rows = []
    for kind, ending in (("profiled", "json.gz"), ("recorded", "gpf"), ("no_p2p", "json.gz")):
        for part in truth.get(kind, {}):
            files = [folder / kind / f"{part}.rank{rank}.{ending}" for rank in range(2)]
            if all(file.exists() for file in files) and part in truth["profiled"]:
                steps = truth[kind][part].get("active", 0)
                rows.append({"by": kind} | judged(program, truth, part, files, steps))
    faulty = [row for row in rows if row["fault"] != "none"]
    counts = {"healthy": len(rows) - len(faulty),
              "healthy_quiet": sum(row["right"] for row in rows if row["fault"] == "none"),
              "faulty": len(faulty), "right": sum(row["right"] for row in faulty),
              "near": sum(abs(row["said"] - row["real"]) <= 0.3 * row["real"] for row in faulty)}
    if "--json" in more:
        print(json.dumps({"hardware": truth["hardware"], "date": truth["date"], "counts": counts,
                          "rows": rows}, indent=1))
    else:
        for row in rows:
            print(row)
        print(counts)
    return 0 if folder != KEPT or all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
