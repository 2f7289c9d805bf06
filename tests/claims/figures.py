#!/usr/bin/env python3
"""Every figure of every study, drawn again from the committed data: figures.py GPUFATHOM

As recomputed.py, whose readers it uses: nothing is shared with the program. Of each panel of
`gpufathom reproduce STUDY FILES` all points must be those found here, none more and none less, with
the publication's numbers apart. Layers are told by the names of kernels, as far as they multiply
matrices.
"""
import gzip
import json
import subprocess
import sys
from collections import defaultdict

from recomputed import (COUNTED, ENERGY, FILES, GRIDS, OVERHEAD, POINTS, RUNTIME, grouped, layer_of,
                        load, ranged,
                        runs_of_the_study)

MATRICES = {"convolution": "Convolution", "product": "MatMul", "attention": "Attention"}


def shape(values):
    """Twenty equal parts from the least to the most, each with its middle and its weight."""
    least, most = min(value for value, _ in values), max(value for value, _ in values)
    whole, parts = sum(weight for _, weight in values), [0] * 20
    for value, weight in values:
        parts[min(int((value - least) / (most - least) * 20), 19)] += weight
    step = (most - least) / 20
    return [(least + step * (at + 0.5), weight / whole) for at, weight in enumerate(parts)]


def thinned(points, most=200):
    return points[::(len(points) + most - 1) // most]


def date24():
    runs = runs_of_the_study()
    highest = defaultdict(float)
    for run in runs:
        highest[run["series"][1]] = max(highest[run["series"][1]], run["rate"][0])
        if run["kernels"] and "gpu.busy" in run and "tensor.issue" in run["kernels"][0]["levels"] and "tensor.issue" not in run:
            run["tensor.issue"] = run["gpu.busy"][0] * sum(kernel["ns"] * kernel["levels"]["tensor.issue"] for kernel in run["kernels"]) / sum(
                kernel["ns"] for kernel in run["kernels"])
    names = {"GPU active": ["gpu.busy"], "SM active": ["sm.active", "sm.active_any"],
             "Issue slot utilization": ["issue.active"],
             "Tensor pipe active": ["tensor.active"],
             "Tensor instructions issued": ["tensor.issue"]}

    def levels(run):
        return {title: ranged(run[known[0]])[0] for title, ids in names.items()
                if (known := [name for name in ids if name in run])}

    for run in runs:
        model, part, rate = run["series"][1], run["part"], run["rate"][0] / highest[run["series"][1]]
        if run["series"][3] == "eager":
            yield "1", model, "Throughput, of the best", run["batch"], rate
            for title, value in levels(run).items():
                if title == "GPU active":
                    yield "1", model, title, run["batch"], value
                if part:
                    yield "4", model, title, part, value
        if part and part >= 0.1:
            yield "3", model, "Throughput, of the best", part, rate
    for rows in grouped(runs, lambda run: run["series"]).values():
        best = max(rows, key=lambda run: run["rate"][0])
        for title, value in levels(best).items():
            yield "5", best["series"][1], "", title, value
        counted = [run for run in rows if run["kernels"]]
        for run in counted:
            kernels, model = run["kernels"], run["series"][1]
            for at, part in shape([(kernel["levels"]["issue.active"], kernel["ns"])
                                   for kernel in kernels]):
                yield "6", model, "Share of kernel time", at, part
            for layer, name in MATRICES.items():
                for title, ids in names.items():
                    found = [(kernel["levels"][ids[0]], kernel["ns"]) for kernel in kernels
                             if layer_of(kernel) == layer and ids[0] in kernel["levels"]]
                    if found:
                        yield "7", model, title, name, sum(value * ns
                                                           for value, ns in found) / sum(ns for _, ns in found)
        if counted and "tensor.issue" in counted[-1]["kernels"][0]["levels"]:
            whole, below, at = sum(kernel["ns"]
                                   for kernel in counted[-1]["kernels"]), 0, defaultdict(float)
            for kernel in counted[-1]["kernels"]:
                at[kernel["levels"]["tensor.issue"]] += kernel["ns"]
            curve = []
            for value in sorted(at):
                below += at[value]
                curve.append((value, below / whole))
            if len(curve) > 1:
                for point in thinned(curve):
                    yield "8", counted[-1]["series"][1], "Share of kernel time", *point


def parts(figure, model, title, **shares):
    """A bar with what is left of 1."""
    for name, value in shares.items():
        yield figure, model, title, name.replace("_", " "), value
    yield figure, model, title, "rest", 1 - sum(shares.values())


def phases(row):
    return {name: row[key] for name, key in (("GPU_kernels", "gpu_kernel"),
                                             ("CPU_kernels", "cpu_kernel"), ("dequeue", "dequeue"),
                                             ("transfers", "memcpy"))
            if key in row}


def dsd22():
    cpu = load(RUNTIME[0])
    for row in cpu["shares"]:
        yield "3.4, top", row["model"], "Time in kernels, CPU alone", row["batch"], row["cpu_kernel"]
        yield from parts("3.3 and 3.4, top", row["model"], "", **phases(row))
    for row in cpu["per_item"]:
        yield "3.4, bottom", row["model"], "Time of an item, CPU alone", row["batch"], (row["kernel_ns_per_item"] + row["overhead_ns_per_item"]) / 1e6
    for row in cpu["queues"]:
        for title, phase in (("Enqueuing", "enqueue"), ("Dequeuing", "dequeue")):
            yield "3.5", row["model"], f"{title} an operation", row["batch"], row[f"{phase}_ns_per_op"] / 1e3
        yield "3.6, use of the queue", row["model"], "Empty scheduling queue", row["batch"], row["empty"]
        for state in ("empty", "loaded"):
            told = {key: float(value)
                    for key, value in (pair.split("=") for pair in row[f"when_{state}"].split())}
            yield from parts(f"3.6, {state}", row["model"], "", **phases(told))
    for row in load(RUNTIME[3])["rows"]:
        for title, phase in (("Enqueuing", "enqueue"), ("Dequeuing", "dequeue"), ("GPU kernels of", "gpu_kernel"), ("CPU kernels of", "cpu_kernel")):
            if phase in row["operation"]:
                yield "3.5", row["model"], f"{title} an operation", row["batch"], row["operation"][phase] / 1e3
        yield "3.6, use of the queue", row["model"], "Empty scheduling queue", row["batch"], row["empty"]
        for state in ("empty", "loaded"):
            if row["empty"] >= 0.0001 and phases(row[f"when_{state}"]):
                yield from parts(f"3.6, {state}", row["model"], "", **phases(row[f"when_{state}"]))
        for at, depth in thinned(list(zip(row["queue.at_ms"], row["queue.depth"]))):
            yield "3.7", row["model"], "Operations in the scheduling queue", at, depth
    for path in RUNTIME[1:3]:
        for row in load(path)["rows"]:
            kernels, alone = row["kernel_share_percent"] / 100, row["framework"] == "jax-cpu"
            yield "3.4, top", row["model"], "Time in kernels, CPU alone" if alone else "Time in kernels, with a GPU", row["batch"], kernels
            if alone:
                yield "3.4, bottom", row["model"], "Time of an item, CPU alone", row["batch"], row["us_per_item"] / 1e3
            else:
                yield "3.4, bottom", row["model"], "Time of an item, with a GPU", row["batch"], row["overhead_us_per_item"] / (1 - kernels) / 1e3
            if phases(row.get("phases", {})):
                yield from parts("3.3 and 3.4, top", row["model"], "", **phases(row["phases"]))


def asap24():
    model = load(ENERGY[1])
    for row in model["curves"]:
        if row["bench"] in ("shared_load", "l1_load", "l2_load", "dram_load"):
            yield "5.8 and 5.9", "", "Energy of an access of 32 bytes", row["threads"], row["picojoules"]
    for row in model["board"]["divisions"]:
        yield "5.10", "", "Energy of a division", row["threads"], row["picojoules"]
    for row in load(ENERGY[0]):
        figure = "5.11" if row["name"].startswith("matmul") else "5.12, energy" if "step" in row else None
        if not figure:
            continue
        joules = {part["component"]: part["joules"] / row["joules"] for part in row["parts"]}
        yield from parts(figure, "matmul" if figure == "5.11" else "resnet50", "",
                         static=joules["static"], shared_memory=joules["shared"], L1=joules["l1"],
                         L2=joules["l2"], DRAM=joules["dram"])
        if figure != "5.11":
            yield "5.12, throughput", "resnet50", "", "Items a second", row["step"]["joules"] / row["step"]["joules_per_item"] / row["step"]["seconds"]
    with gzip.open(POINTS, "rt", encoding="utf-8") as lines:
        points = [json.loads(line) for line in lines]
    for point in points:
        if point.get("probe") == "latency":
            yield "5.4", "", "Latency of a dependent load", point["bytes"], point["ns"]
        if point.get("probe") == "sensor":
            for seconds, watts in zip(point["t_s"], point["watts"]):
                yield "5.6", "", "Power read", seconds, watts
        if point.get("bench") == "l1_load" and point["threads"] in (1, 1024):
            for edge in point["edges"]:
                yield ("5.7", "", f"Energy, {'one thread' if point['threads'] == 1 else '1024 threads'} a block",
                       edge["t_s"] * point["loops_per_s"] * point["warps"] / 1e6, edge["energy_j"])


def itu23():
    for grid in load(GRIDS)["microbenchmark"].values():
        for title, key in (("nvidia-smi", "nvidia_smi"), ("GPU active", "gpu.busy"),
                           ("SM active", "sm.active_any"), ("SM occupancy", "sm.occupancy"),
                           ("Issue slot utilization", "issue.active")):
            yield "slide 7", "", "", title, grid[key]
    for path in OVERHEAD:
        for row in load(path)["rows"]:
            tool = row["name"] != "none"
            values = [("slide 8", "Slowdown", row.get("measured_slow_down") if tool else None),
                      ("slide 10", "CPU time", row.get("cpu_seconds")),
                      ("slide 9", "On disk", row["disk_bytes"] / 1e6 if tool and row.get("disk_bytes") is not None else None),
                      ("slide 13, memory", "GPU memory", row["gpu_memory_bytes"] / 1e6 if row.get("gpu_memory_bytes") is not None else None),
                      ("slide 13, utilization", "GPU utilization", row.get("gpu_utilization")),
                      ("slide 12", "Memory", (row["memory_bytes"] + row["tool_memory_bytes"]) / 1e6
                       if row.get("memory_bytes") is not None
                       and row.get("tool_memory_bytes") is not None else None)]
            yield from ((figure, "", "", name, value) for figure, name, value in values
                        if value is not None)


def drawn(answer):
    for figure in answer["figures"]:
        for panel in figure["panels"]:
            for line in panel["lines"]:
                if line["from"] == "paper":
                    continue
                for point in line["points"]:
                    name = point["name"] if point["x"] is None else point["x"]
                    if figure["id"] != "7" or name in MATRICES.values():
                        yield figure["id"], panel["model"], panel["title"], name, point["y"]


def sorted_points(points):
    panels = defaultdict(list)
    for *panel, x, y in points:
        panels[tuple(panel)].append((x if isinstance(x, str) else float(f"{x:.9g}"),
                                     float(f"{y:.9g}")))
    return {panel: sorted(found, key=str) for panel, found in panels.items()}


def main():
    faults = points = figures = 0
    for study, again in (("date24", date24), ("dsd22", dsd22), ("asap24", asap24),
                         ("itu23", itu23)):
        answer = json.loads(subprocess.run([sys.argv[1], "reproduce", study,
                                            *map(str, FILES[study]), "--format", "json"],
                                           check=True, capture_output=True,
                                           text=True).stdout)
        told, own = sorted_points(drawn(answer)), sorted_points(again())
        figures += len(answer["figures"])
        points += sum(map(len, own.values()))
        for panel in sorted(told.keys() | own.keys()):
            if told.get(panel) != own.get(panel):
                faults += 1
                more, less = set(told.get(panel, [])) - set(own.get(panel,
                                                                    [])), set(own.get(panel, [])) - set(told.get(panel, []))
                print(study, *panel, f"{len(told.get(panel, []))} points, here {len(own.get(panel, []))}; there alone {sorted(more, key=str)[:3]}, here alone {sorted(less, key=str)[:3]}")
    print(f"{figures} figures, {points} points, {faults} panels differ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
