#!/usr/bin/env python3
"""Coverage of the grid by a table, as a table of Markdown: coverage.py TABLE.json

The paper's grid here: three models, three ways, three precisions, the batches of sizes.py. A cell
has the batches with three runs or more and with any, of those wanted; o: memory ended the series.
What has no run follows, with its reason.
"""
import json
import sys

import sizes

MODELS = ("resnet50", "bert", "dlrm_sparse")
WAYS = (("pytorch", "eager"), ("pytorch", "compile"), ("jax", "xla"))
PRECISIONS = ("fp32", "tf32", "amp")
RUNS = 3


def cell(rows, wanted):
    """Three runs, any run, and wanted, which is up to where memory ended."""
    full = [row["batch"] for row in rows if row.get("out_of_memory")]
    wanted = [batch for batch in wanted if not full or batch < min(full)]
    runs = {row["batch"]: len(row["runs"]) for row in rows}
    thrice = sum(runs.get(batch, 0) >= RUNS for batch in wanted)
    once = sum(runs.get(batch, 0) > 0 for batch in wanted)
    return thrice, once, len(wanted), bool(full)


def main():
    with open(sys.argv[1], encoding="utf-8") as text:
        table = json.load(text)
    rows = table["rows"]
    sums = [0, 0, 0]
    print("| | " + " | ".join(PRECISIONS) + " |\n|---|" + "--:|" * len(PRECISIONS))
    for model in MODELS:
        for framework, mode in WAYS:
            cells = []
            for precision in PRECISIONS:
                of = [row for row in rows if (row["model"], row["framework"], row["mode"],
                                              row["precision"]) == (model, framework, mode,
                                                                    precision)]
                *counts, full = cell(of, sizes.GRID[model])
                sums = [total + count for total, count in zip(sums, counts)]
                cells.append("{}, {} of {}".format(*counts) + (" o" if full else ""))
            print(f"| {model} {framework} {mode} | " + " | ".join(cells) + " |")
    print("\n{} points of {} have three runs or more, {} any.".format(sums[0], sums[2], sums[1]))
    reasons = {}
    for name, why in table.get("not_run", {}).items():
        series, batch = name.rsplit(" ", 1)
        reasons.setdefault(why, {}).setdefault(series, []).append(int(batch))
    for why, series in reasons.items():
        print(f"\nNot run, {why}:")
        for name, batches in series.items():
            print(f"  {name}:", *sorted(batches))


if __name__ == "__main__":
    main()
