#!/usr/bin/env python3
"""A planted table flips exactly its statement: planted.py GPUFATHOM

For each study a made-up table by which every statement holds, and for each statement a change after
which that one does not hold any more and all others still do.
"""
import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Framework, mode, precision: throughput, memory, GPU active at the largest batch, batches that fit,
# issue slots and tensor pipes at the smallest.
WAYS = {("pytorch", "eager", "fp32"): (1.0, 1.00, 0.99, 4, 0.16, 0.001),
        ("pytorch", "eager", "tf32"): (1.2, 1.00, 0.98, 4, 0.13, 0.21),
        ("pytorch", "eager", "amp"): (1.5, 0.50, 0.97, 5, 0.08, 0.1), ("pytorch", "compile", "amp"): (2.0, 0.48, 0.96, 6, 0.07, 0.1),
        ("jax", "xla", "amp"): (2.5, 0.45, 0.95, 6, 0.09, 0.1)}


def date24():
    rows = []
    for model in ("bert", "resnet50"):
        for way, (rate, memory, busy, batches, issue, tensor) in WAYS.items():
            for at in range(batches):
                batch, left = 64 << at, batches - 1 - at
                levels = {"gpu.busy": busy - 0.05 * left, "sm.active": busy - 0.06 * left - 0.05,
                          "issue.active": issue + 0.03 * at,
                          "tensor.active": tensor + (0.002 if way[2] == "fp32" else 0.03) * at}
                late = way[1:] == ("eager", "amp")
                speed = 1000 * rate * ((0.4, 0.7, 0.9, 1.0, 1.02) if late
                                       else (0.5, 0.8, 1.0, 1.02, 1.03, 1.035))[at]
                rows.append({"model": model, "framework": way[0], "mode": way[1],
                             "precision": way[2], "batch": batch, "step_s": batch / speed, "noise": 0.002,
                             "memory_bytes": 1e9 * batch / 64 * memory, "levels": levels})
        rows[-1]["kernels"] = [
            {"name": "vectorized_elementwise_kernel", "count": 80, "ns": 400, "levels": {
                "tensor.issue": 0.0, "tensor.active": 0.0, "issue.active": 0.6, "sm.active": 0.95}},
            {"name": "sm90_gemm_bf16", "count": 12, "ns": 400, "levels": {
                "tensor.issue": 0.05, "tensor.active": 0.64, "issue.active": 0.3,
                "sm.active": 0.95}},
            {"name": "sm90_xmma_fprop_implicit_gemm_bf16", "count": 8, "ns": 200, "levels": {
                "tensor.issue": 0.04, "tensor.active": 0.4, "issue.active": 0.3,
                "sm.active": 0.95}}]
    return {"schema": "gpufathom.sweep-table/1", "gpu_memory_bytes": 17_000_000_000, "rows": rows}


def way_of(row):
    return row["framework"], row["mode"], row["precision"]


def each(change, wanted=lambda row: True):
    """An edit of every row that is wanted."""
    def edit(table):
        for row in table["rows"]:
            if wanted(row):
                change(row)
    return edit


def scaled(key, factor, wanted=lambda row: True):
    return each(lambda row: row.__setitem__(key, row[key] * factor), wanted)


def level(name, value):
    return lambda row: row["levels"].__setitem__(name, value(row))


def kernels(change):
    return each(lambda row: change(row["kernels"]), lambda row: "kernels" in row)


def is_amp(row):
    return row["precision"] == "amp"


def is_way(mode, batch=None):
    return lambda row: row["mode"] == mode and batch in (None, row["batch"])


def ordered(name):
    """An edit after which the faster ways have more of a level, AMP in eager mode no more than
    FP32."""
    least = dict(zip(WAYS, (0.962, 0.962, 0.958, 0.97, 0.98)))
    return each(lambda row: raised(least[way_of(row)] - WAYS[way_of(row)][2], name)(row))


def raised(by, *names):
    return lambda row: row["levels"].update({name: row["levels"][name] + by for name in names
                                             if name in row["levels"]})


def spike(table):
    table["rows"][3]["levels"]["issue.active"] = 0.55


BOTH = "gpu.busy", "sm.active"
DATE24 = [
    ("1", scaled("step_s", 0.6, is_way("compile", 2048))),
    ("1", scaled("memory_bytes", 0.6, is_way("compile", 2048))),
    ("2", scaled("memory_bytes", 1.7, is_amp)),
    ("2", scaled("step_s", 1.6, is_way("compile"))),  # slower than eager
    ("3", scaled("memory_bytes", 1.09, is_way("xla"))),
    ("3", scaled("step_s", 1.5, is_way("xla"))),
    ("4", ordered("gpu.busy")),
    ("5", each(level("sm.active", lambda row: row["levels"]["gpu.busy"] - 0.2),
               lambda row: row["batch"] == 64)),  # far at the small batch only
    ("6", each(level("issue.active", lambda row: 0.35 - row["levels"]["issue.active"]))),
    ("6", each(level("issue.active", lambda row: 0.24 + row["levels"]["issue.active"]))),
    ("7", kernels(lambda all: all[1].__setitem__("count", 120))),
    ("7", kernels(lambda all: all.append(
        {"name": "sm90_gemm_bf16", "count": 1, "ns": 100,
         "levels": {"tensor.issue": 0.13, "tensor.active": 0.52}}))),
    ("s1", scaled("noise", 10, lambda row: row["batch"] == 64)),
    ("a1", each(raised(-0.1, *BOTH))),
    ("a2", spike),
    ("a3", kernels(lambda all: [kernel["levels"].__setitem__("tensor.issue", 0.098) for kernel in all[1:]])),
    ("f1", each(raised(0.025, *BOTH), lambda row: way_of(row) == ("pytorch", "eager", "amp"))),
    ("b1", scaled("memory_bytes", 1.2, is_way("xla", 64))),
    ("b2", each(lambda row: row["levels"].update({"gpu.busy": 0.995, "sm.active": 0.935}),
                lambda row: row["precision"] == "tf32" and row["batch"] == 64)),
    ("b3", ordered("sm.active")),
    ("b4", each(level("tensor.active", lambda row: 0.3 - row["levels"]["tensor.active"]), is_amp)),
    ("b5", each(raised(0.15, "tensor.active"), lambda row: row["precision"] == "tf32")),
    ("b7", kernels(lambda all: all[0]["levels"].__setitem__("issue.active", 0.85))),
    ("b6", kernels(lambda all: all[0].__setitem__("ns", 99500))),
    ("f2", each(raised(0.08, *BOTH), lambda row: way_of(row) == ("pytorch", "eager", "amp") and row["batch"] == 64)),
    ("f2", scaled("step_s", 1.6, lambda row: way_of(row) == ("pytorch", "eager", "amp") and row["batch"] == 64)),
    ("b8", each(lambda row: raised((0, 0.04, 0.08, 0.12, 0.16)[list(WAYS).index(way_of(row))] + 0.16
                                   - WAYS[way_of(row)][4] - 0.1, "issue.active")(row))),
    ("b9", each(lambda row: raised(-0.2, "tensor.active")(row), lambda row: row["precision"] == "tf32")),
    ("b10", each(level("tensor.active", lambda row: 0.02 + row["levels"]["tensor.active"]), lambda row: row["precision"] == "fp32")),
    ("f2", scaled("step_s", 0.9, lambda row: way_of(row) == ("pytorch", "eager", "amp") and row["batch"] == 256)),
    ("b11", kernels(lambda all: all.append({"name": "softmax_warp_forward", "count": 1, "ns": 200, "levels": {
        "tensor.issue": 0.11, "tensor.active": 0.44}}))),
    ("b12", kernels(lambda all: all[2]["levels"].__setitem__("tensor.active", 0.6))),
    ("b13", kernels(lambda all: all[1]["levels"].__setitem__("tensor.issue", 0.11))),
    ("b14", kernels(lambda all: all[1]["levels"].__setitem__("sm.active", 0.8))),
    # Repeats that disagree leave open what their mean says.
    ("1", scaled("step_s", 0.96, is_way("compile", 2048)),
     scaled("noise", 2.5, is_way("compile", 2048))),
]


def shared(batch, share):
    return {"kernel_share_percent": share, "overhead_us_per_item": 1000 * (100 - share) / batch}


def dsd22():
    gpu, shares, items, queues, operations = [], [], [], [], []
    for model in ("lenet5", "resnet50", "bert"):
        for at, batch in enumerate((1, 64, 8192)):
            share = (10, 40, 80)[at]
            item = {"kernel_ns_per_item": 1e6 / (1 + 10 * at), "overhead_ns_per_item": 1e6 / batch}
            gpu.append({"framework": "tensorflow", "model": model, "batch": batch,
                        **shared(batch, share), "both": 0.005,
                        "phases": {"gpu_kernel": share / 100, "cpu_kernel": 0.01,
                                   "wait": 0.1 / (1 + at), "memcpy": 0.12}})
            shares.append({"model": model, "mode": "async", "batch": batch,
                           "cpu_kernel": share / 100,
                           "dequeue": 0.02, "enqueue": 0.01, "wait": 0.1 / (1 + at),
                           "memcpy": 0.01})
            items.append({"model": model, "mode": "async", "batch": batch, **item})
            queues.append({"model": model, "mode": "async", "batch": batch,
                           "empty": 1 - 3e5 / (batch * sum(item.values())) if model == "bert"
                           else 0.9 - 0.1 * at})
            operations.append({"model": model, "mode": "async", "batch": batch,
                               "enqueue_ns_per_op": 1e5, "dequeue_ns_per_op": 2e5})
            gpu[-1]["operation_cpu_kernel_ns"] = 1e4
    return {"rows": gpu, "shares": shares, "per_item": items, "queues": queues,
            "operations": operations}


def within(name, change, wanted=lambda row: True):
    def edit(table):
        for row in table[name]:
            if wanted(row):
                change(row)
    return edit


def put(**values):
    return lambda row: row.update(values)


def phase(name, value):
    return lambda row: row["phases"].__setitem__(name, value)


def at_batch(batch, model=None):
    return lambda row: row["batch"] == batch and model in (None, row["model"])


DSD22 = [
    ("1", within("shares", put(cpu_kernel=0.05), at_batch(8192, "lenet5"))),
    ("2", within("rows", phase("cpu_kernel", 0.05))),
    ("2", within("rows", put(both=0.02))),
    ("3", within("rows", lambda row: row.update(shared(row["batch"], {1: 52, 64: 60}.get(row["batch"], 80))))),
    ("4", within("per_item", put(kernel_ns_per_item=5e6), at_batch(8192, "lenet5"))),
    ("5", within("operations", put(enqueue_ns_per_op=9e5, dequeue_ns_per_op=18e5), at_batch(8192))),
    ("5", within("rows", put(operation_cpu_kernel_ns=9e4), at_batch(8192, "bert"))),
    ("6", within("rows", put(overhead_us_per_item=1e-4), at_batch(8192))),
    ("7", within("operations", put(dequeue_ns_per_op=5e5))),
    ("8", within("queues", put(empty=1 - 1e-7), at_batch(8192, "lenet5"))),
    ("8", within("queues", put(empty=0.99), at_batch(8192, "bert"))),
    ("9", within("queues", put(empty=0.45), at_batch(8192, "lenet5"))),
    ("10", within("rows", phase("gpu_kernel", 0.05), at_batch(8192, "bert"))),
    ("10", within("shares", put(dequeue=0.85), at_batch(1, "bert"))),
    ("11", within("rows", phase("memcpy", 0.01), at_batch(8192, "lenet5"))),
    ("12", within("rows", lambda row: row.update(shared(8192, 45)), at_batch(8192, "resnet50"))),
]


def asap24():
    curves = [{"bench": bench, "threads": threads, "r2": 0.999, "picojoules": cost * slope}
              for bench, cost in (("shared_load", 80), ("l1_load", 100), ("l2_load", 400),
                                  ("dram_load", 2000))
              for threads, slope in ((1, 15.0), (32, 4.0), (512, 1.04), (1024, 1.0))]
    curves += [{"bench": bench, "threads": 1024, "blocks": blocks, "r2": 0.999,
                "picojoules": cost * slope}
               for bench, cost in (("l2_load_wide", 400), ("dram_load_wide", 2000))
               for blocks, slope in ((33, 1.1), (66, 1.01), (132, 1.0))]
    rows = []
    for size in (512, 4096):
        rows.append({"name": f"matmul_fp32_{size}", "joules": 100.0, "joules_per_call": size,
                     "parts": parts_of(
            static=55, shared=16, l1=2, l2=6, dram=5)})
    # Dynamic part 60 J; data movement 48, 50, 20 and 36 of it.
    for name, energy, moved in (("fp32.eager", 300, 48), ("fp32.compile", 280, 50),
                                ("amp.eager", 200, 32), ("amp.compile", 180, 36)):
        rows.append({"name": f"resnet50.{name}", "joules": 100.0, "step": {"joules": energy},
                     "parts": parts_of(static=40, shared=1, l1=0.5, l2=6, dram=moved - 7.5)})
    return {"curves": curves, "breakdown": rows,
            "points": [{"bench": "asleep", "energy_j": 55, "seconds": 1}, {"bench": "context", "energy_j": 80, "seconds": 1}],
            "board": {"divisions": [{"level": name, "threads": threads, "picojoules": 2000}
                                    for name in ("l1", "l2") for threads in (16, 1024)]}}


def parts_of(**joules):
    return [{"component": name, "joules": value} for name, value in joules.items()]


def named(text):
    return lambda row: text in row.get("name", row.get("bench", ""))


def part(name, value):
    def change(row):
        for entry in row["parts"]:
            if entry["component"] == name:
                entry["joules"] = value
    return change


def divided(change):
    return lambda table: [change(row) for row in table["board"]["divisions"][-1:]]


def grown(name, by):
    """One part of the steps grows at the cost of DRAM, so that what is moved stays."""
    def change(row):
        for entry in row["parts"]:
            entry["joules"] += {name: by, "dram": -by}.get(entry["component"], 0)
    return within("breakdown", change, named("resnet50"))


ASAP24 = [
    ("1", within("curves", put(r2=0.9), lambda row: row["threads"] == 1)),
    ("2", within("curves", lambda row: row.update(picojoules={1: 2010, 32: 2005}.get(row["threads"], row["picojoules"])),
                 named("dram_load"))),
    ("3", within("curves", put(picojoules=900),
                 lambda row: row["bench"] == "l1_load" and row["threads"] == 1)),
    ("4", within("curves", lambda row: row.update(picojoules=row["picojoules"] * 1.3),
                 named("shared_load"))),
    ("5", divided(put(picojoules=2500))),
    ("6", within("breakdown", part("static", 45), named("matmul"))),
    ("7", within("breakdown", part("shared", 8), named("matmul_fp32_512"))),
    ("8", within("breakdown", part("l2", 17), named("matmul_fp32_512"))),
    ("9", within("breakdown", part("static", 30), named("resnet50"))),
    ("10", within("breakdown", part("dram", 18), named("amp.eager")),
           within("breakdown", part("dram", 19), named("amp.compile"))),
    ("11", within("breakdown", put(step={"joules": 310}), named("fp32.compile"))),
    ("12", within("breakdown", lambda row: part("dram", 42 if "eager" in row["name"] else 45)(row),
                  named("amp"))),
    ("12", within("breakdown", put(step={"joules": 250}), named("amp.eager"))),
    ("13", within("breakdown", part("dram", 40), named("fp32.compile"))),
    ("14", grown("l2", 4)),
    ("15", within("curves", put(picojoules=3000), lambda row: row["bench"] == "dram_load" and row["threads"] == 512)),
    ("17", within("points", put(energy_j=56), named("context"))),
    ("18", within("curves", put(picojoules=450), lambda row: row["bench"] == "l2_load_wide" and row["blocks"] == 132)),
    ("18", within("curves", put(picojoules=2300), lambda row: row["bench"] == "dram_load_wide" and row["blocks"] == 66)),
    ("16", within("breakdown", part("dram", 14), named("matmul_fp32_4096"))),
]


def itu23():
    rows = [{"name": name, "measured_slow_down": slow, "noise": 0.002, "disk_bytes": disk,
             "cpu_seconds": cpu, "memory_bytes": 1e9, "tool_memory_bytes": memory,
             "gpu_memory_bytes": 1e9, "gpu_utilization": 0.9, "median_seconds": 10.0,
             "convert_seconds": convert}
            for name, slow, disk, cpu, memory, convert in (
                ("none", 0, 0, 10, 0, None), ("record", 0.001, 1e5, 10, 1e7, None),
                ("nvidia-smi -l 1", 0.0, 1e4, 10, 1e7, None), ("torch.profiler", 0.3, 1e8, 12, 4e8, 3),
                ("nsys", 0.2, 1e8, 12, 4e8, 3), ("ncu", None, 1e8, 60, 4e8, 3))]
    rows[-1]["median_seconds"] = 80.0
    grids = {name: {"nvidia_smi": 0.99, "sm.active": 0.0075} for name in ("1x1", "1x1024")}
    return {"rows": rows, "grids": grids, "steps": [{"name": "steps", "step_over_run": 1.0}]}


ITU23 = [
    ("1", lambda table: table["grids"]["1x1"].update({"sm.active": 0.5})),
    ("2", within("rows", put(measured_slow_down=0.05), named("nvidia-smi"))),
    ("3", within("rows", put(measured_slow_down=0.01), named("nsys"))),
    ("4", within("rows", put(disk_bytes=2e5), named("torch"))),
    ("5", within("rows", put(cpu_seconds=10), named("nsys"))),
    ("6", within("rows", put(convert_seconds=0.01))),
    ("7", within("rows", put(tool_memory_bytes=0), named("torch"))),
    ("8", within("rows", put(gpu_utilization=0.6), named("nsys"))),
    ("9", within("rows", put(median_seconds=11.0), named("ncu"))),
    ("10", within("steps", put(step_over_run=1.2))),
    ("11", within("rows", put(disk_bytes=1e9), named("nvidia-smi"))),
]


def as_runs(row):
    """Three runs around the time of a step."""
    if "noise" in row and "step_s" in row:
        time, noise = row["step_s"], row["noise"]
        row = {**row, "runs": [{"step_s": time * (1 + noise * at)} for at in (-1, 0, 1)]}
        del row["step_s"]
    return row


def verdicts(program, study, table, folder):
    if study == "date24":
        table = {**table, "rows": [as_runs(row) for row in table["rows"]]}
    path = Path(folder) / "table.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    answer = json.loads(subprocess.run([program, "reproduce", study, path, "--format", "json"],
                                       check=True, capture_output=True, text=True).stdout)
    return {claim["id"]: claim["verdict"] for claim in answer["claims"]}


def main():
    program, faults, tried = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for make, edits in ((date24, DATE24), (dsd22, DSD22), (asap24, ASAP24), (itu23, ITU23)):
            study, base = make.__name__, make()
            plain = verdicts(program, study, base, folder)
            for claim, verdict in plain.items():
                if verdict != "holds" or claim not in [name for name, *_ in edits]:
                    faults += 1
                    print(f"{study} {claim}: {verdict} by the plain table, or no change is planted")
            for number, (claim, *changes) in enumerate(edits):
                table = copy.deepcopy(base)
                for change in changes:
                    change(table)
                changed = [name for name, verdict in verdicts(program, study, table, folder).items()
                           if verdict != plain[name]]
                tried += 1
                if changed != [claim]:
                    faults += 1
                    print(f"{study} change {number}: {claim} should flip alone, {changed} did")
    print(f"{tried} planted changes, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
