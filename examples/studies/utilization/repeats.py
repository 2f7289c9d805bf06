#!/usr/bin/env python3
"""Spread of the repeats of each configuration, as a table of Markdown: repeats.py TABLE.json

The spread is the slowest step less the fastest, over their mean. A configuration is bound by the
GPU when a kernel ran for 99 % of the time or more; where levels were not sampled, that is not
known.
"""
import json
import sys

CLOSE = 0.01
GPU_BOUND = 0.99


def repeats_of(row):
    steps = [run["step_s"] for run in row["runs"]]
    busy = [run["levels"]["gpu.busy"] for run in row["runs"] if "gpu.busy" in run.get("levels", {})]
    mean = sum(steps) / len(steps)
    return {
        "name": " ".join(row[axis] for axis in ("model", "framework", "mode", "precision")),
        "batch": row["batch"], "runs": len(steps), "step_ms": mean * 1e3,
        "spread": (max(steps) - min(steps)) / mean, "busy": max(busy) if busy else None,
        "levels": len(busy),
    }


def why(entry):
    if entry["spread"] <= CLOSE:
        return ""
    if group_of(entry) == "host-bound":
        return "the step is the host's"
    if entry["levels"] < entry["runs"]:
        return "GPU-bound in one run; the others have no levels"
    return "not found"


def group_of(entry):
    if entry["busy"] is None:
        return "not known"
    return "GPU-bound" if entry["busy"] >= GPU_BOUND else "host-bound"


def main():
    with open(sys.argv[1], encoding="utf-8") as table:
        rows = json.load(table)["rows"]
    entries = [repeats_of(row) for row in rows if len(row["runs"]) > 1]
    print("| | batch | runs | step, ms | GPU % | spread % | |\n|---|--:|--:|--:|--:|--:|---|")
    for entry in sorted(entries, key=lambda entry: entry["spread"]):
        busy = "–" if entry["busy"] is None else f"{entry['busy'] * 100:.1f}"
        print(f"| {entry['name']} | {entry['batch']:,} | {entry['runs']} | {entry['step_ms']:.2f} | "
              f"{busy} | {entry['spread'] * 100:.2f} | {why(entry)} |".replace(",", " "))
    for group in ("GPU-bound", "host-bound", "not known"):
        members = [entry for entry in entries if group_of(entry) == group]
        within = sum(entry["spread"] <= CLOSE for entry in members)
        print(f"\n{group}: {len(members)} configurations, {within} within 1 %")


if __name__ == "__main__":
    main()
