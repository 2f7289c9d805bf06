#!/usr/bin/env python3
"""Joins tables of the study, of `grid` or this, into one: merge.py OUT TABLE.json ... [REPORT ...]

Hosts are not equally fast, so runs of two tables are not mixed: a configuration has the runs of the
table that has most of them, of the later one where they are equally many. If those have no levels,
the row gets the earlier runs' means, provided that steps are within 3 %. A later table's kernels
take the place of an earlier one's. A REPORT is what `count` leaves,
MODEL_MODE_PRECISION_bBATCH_levels.csv.gz with its _tensor.csv.gz beside it if there is one; its
kernels, each execution by itself and not rounded, take the place of those. The result is what
docs/results keeps; `gpufathom compare --table` reads it. The date is the last table's. What has no
run is under "not_run", with the last reason.
"""
import json
import pathlib
import re
import sys

import oracle
import sizes

AXES = ("model", "framework", "mode", "precision", "batch")
KEPT_LEVELS = ("gpu.busy", "sm.active_any", "sm.occupancy", "sm.active", "issue.active",
               "tensor.active", "dram.active")
REPORT = re.compile(r"([a-z0-9_]+)_(eager|xla|compile)_(amp|tf32|fp32)_b(\d+)_levels\.csv\.gz$")
CLOSE = 0.03
ORDER = {"model": tuple(sizes.CHOSEN), "mode": ("eager", "compile", "xla"),
         "precision": ("fp32", "tf32", "amp")}


def run_of(run):
    """A run of a study, or one that a table has already: then its levels are plain means."""
    found = {name: level for name, level in run.get("levels", {}).items() if name in KEPT_LEVELS}
    kept = {"step_s": round(run["step_s"], 7), "steps": run["steps"]}
    if "coverage" in run:
        kept.update(levels=found, coverage=run["coverage"])
    elif found:
        kept["levels"] = {name: round(level["mean"], 5) for name, level in found.items()}
        kept["coverage"] = round(min(level["coverage"] for level in found.values()), 4)
    if run.get("joules"):
        kept["joules"] = run["joules"]
    return kept


def kernel_of(kernel):
    doubled = {"sm.active_any"} if "sm.active" in kernel["levels"] else set()
    return {"name": kernel["name"][:80], "count": kernel["count"], "ns": kernel["ns"],
            "levels": {name: value for name, value in kernel["levels"].items()
                       if value is not None and name not in doubled
                       and name in KEPT_LEVELS + ("tensor.issue",)}}


def means(runs):
    """Levels of the runs that have them."""
    having = [run["levels"] for run in runs if "levels" in run]
    return {name: round(sum(levels[name] for levels in having) / len(having), 5)
            for name in (having[0] if having else ()) if all(name in levels for levels in having)}


def alike(first, second):
    """True if the steps of two hosts are bound by the GPU."""
    of = [sum(run["step_s"] for run in runs) / len(runs) for runs in (first, second)]
    return abs(of[0] - of[1]) <= CLOSE * max(of)


def add(rows, row):
    key = tuple(row[axis] for axis in AXES)
    into = rows.setdefault(key, {**{axis: row[axis] for axis in AXES},
                                 "flops_per_item": row.get("flops_per_item"), "runs": []})
    if len(row["runs"]) >= len(into["runs"]):
        earlier, into["runs"] = into["runs"], [run_of(run) for run in row["runs"]]
        levels = row.get("levels") or into.pop("levels", None) or means(earlier)
        if levels and into["runs"] and not any("levels" in run for run in into["runs"]) and (
                not earlier or alike(earlier, into["runs"])):
            into["levels"] = levels
    memory = row.get("memory_bytes") or row.get("allocated")
    # JAX's memory was XLA's plan until the grid asked its allocator for the peak as well.
    if row["framework"] == "jax" and memory and "planned_bytes" not in row:
        into.setdefault("planned_bytes", memory)
    elif memory:
        into["memory_bytes"] = memory
    if row.get("planned_bytes"):
        into["planned_bytes"] = row["planned_bytes"]
    if row.get("out_of_memory"):
        into["out_of_memory"] = True
    if row.get("kernels") and isinstance(row["kernels"], list):
        into["kernels"] = [kernel_of(kernel) for kernel in row["kernels"]]


def name_of(row):
    return " ".join(str(row[axis]) for axis in AXES)


def place(row):
    return tuple(ORDER[axis].index(row[axis]) if axis in ORDER else row[axis] for axis in AXES)


def dump(table):
    """One line a row, so that a change shows where it is."""
    rows = table.pop("rows")
    head = json.dumps(table, indent=1)[:-2]
    return head + ',\n "rows": [\n  ' + ",\n  ".join(json.dumps(row) for row in rows) + "\n ]}\n"


def main():
    out, *paths = sys.argv[1:]
    rows, not_run, table = {}, {}, {"schema": "gpufathom.sweep-table/1"}
    for path in (path for path in paths if not REPORT.search(path)):
        with open(path, encoding="utf-8") as text:
            study = json.load(text)
        for key in ("gpu", "versions", "date"):
            table[key] = study.get(key) or table.get(key)
        table["made_by"] = "examples/studies/utilization/merge.py"
        counted = [entry for entry in study.get("oracle", ()) if entry.get("sums")]
        table.setdefault("oracle", []).extend(counted)
        not_run.update(study.get("not_run", {}))
        for row in study["rows"]:
            add(rows, row)
            if row.get("why_not"):
                not_run[name_of(row)] = row["why_not"]
        table["gpu_memory_bytes"] = study.get("gpu_memory_bytes") or table.get("gpu_memory_bytes")
    for path, found in ((path, REPORT.search(path)) for path in paths):
        if found:
            model, mode, precision, batch = found.groups()
            key = (model, "jax" if mode == "xla" else "pytorch", mode, precision, int(batch))
            tensor = pathlib.Path(path.replace("_levels", "_tensor"))
            row = rows.setdefault(key, {**dict(zip(AXES, key)), "flops_per_item": None, "runs": []})
            row["kernels"] = [kernel_of(kernel) for kernel in
                              oracle.joined(path, tensor if tensor.exists() else None)]
            table["gpu_memory_bytes"] = oracle.memory_of(path)
    flops = {row["model"]: row["flops_per_item"] for row in rows.values() if row["flops_per_item"]}
    for row in rows.values():
        row["flops_per_item"] = flops.get(row["model"])
        if row["runs"]:
            row.pop("out_of_memory", None)  # another time it had more of the memory
    done = {name_of(row) for row in rows.values() if row["runs"] or row.get("out_of_memory")}
    table["not_run"] = {name: why for name, why in sorted(not_run.items()) if name not in done}
    table["rows"] = sorted((row for row in rows.values()
                            if row["runs"] or row.get("out_of_memory")), key=place)
    with open(out, "w", encoding="utf-8") as text:
        text.write(dump(table))


if __name__ == "__main__":
    main()
