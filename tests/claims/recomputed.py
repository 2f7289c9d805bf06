#!/usr/bin/env python3
"""Every rule of every statement, recomputed from the committed data: recomputed.py GPUFATHOM

Plain sums over the JSON of docs/results, the shipped energy model and, where they are committed,
the counter reports themselves (not the rows made of them). It shares nothing with the program:
limits and formulas are written here again, from the publications. Counts, extremes, all failing
values, what the repeats allow and verdicts must be those of `gpufathom reproduce`, and no rule of
the program may be missing here.
"""
import csv
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results"
UTILIZATION = [RESULTS / f"utilization_{gpu}.json" for gpu in ("h100", "h200")]
REPORTS = {("h100", model, "eager", "amp", batch): RESULTS / f"counted_steps_h100/{model}_levels.csv.gz"
           for model, batch in (("resnet50", 256), ("bert", 128), ("dlrm_sparse", 16384))}
REPORTS |= {("h200", model, mode, precision, batch): RESULTS / f"counted_steps_h200/{model}_{mode}_{precision}_b{batch}_levels.csv.gz"
            for model, mode, precision, batch in (
                ("resnet50", "eager", "fp32", 256), ("resnet50", "eager", "tf32", 256), ("dlrm_sparse", "eager", "fp32", 16384),
                ("dlrm_sparse", "eager", "tf32", 16384), ("resnet50", "xla", "amp", 256), ("bert", "xla", "amp", 128),
                *(("dlrm_sparse", mode, "amp", batch) for mode in ("compile", "xla") for batch in (1024, 16384, 262144)))}
RUNTIME = [RESULTS / f"runtime_{name}.json" for name in ("cpu", "gpu_h200", "paper_sizes_h200", "queues_h200")]
ENERGY = [RESULTS / "energy/h200-2026-11-21.breakdown.json",
          RESULTS / "energy/h200-2026-11-29h.curves.json"]
POINTS = RESULTS / "energy/h200-2026-11-21f.points.jsonl.gz"
OVERHEAD = sorted(RESULTS.glob("overhead_*.json"))
GRIDS = RESULTS / "record_agreement_h200.json"
COUNTED = sorted(RESULTS.glob("samples_against_counters_*.json"))
FILES = {"date24": UTILIZATION, "dsd22": RUNTIME, "asap24": [*ENERGY, POINTS],
         "itu23": [*OVERHEAD, GRIDS, *COUNTED]}


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def mean(values):
    return sum(values) / len(values)


def ranks(values):
    """Shares to a whole percent."""
    if all(0 <= value <= 1 for value in values):
        values = [int(value * 100 + 0.5) for value in values]
    return [sum(other < value for other in values) + (values.count(value) - 1) / 2
            for value in values]


def correlation(first, second):
    first, second = ranks(first), ranks(second)
    middle = (len(first) - 1) / 2
    over = sum((a - middle) * (b - middle) for a, b in zip(first, second))
    under = (sum((a - middle) ** 2 for a in first) * sum((b - middle) ** 2 for b in second)) ** 0.5
    return over / under if under else None


def grouped(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def ranged(value):
    """A value with its least and most; a plain one has no range."""
    return value if isinstance(value, tuple) else (value, value, value)


def ratio(above, below):
    (value, least, most), (under, low, high) = ranged(above), ranged(below)
    if low <= 0 <= high:
        return value / under, float("-inf"), float("inf")
    bounds = [one / other for one in (least, most) for other in (low, high)]
    return value / under, min(bounds), max(bounds)


def less(first, second):
    (value, least, most), (other, low, high) = ranged(first), ranged(second)
    return value - other, least - high, most - low


def judged(values, low=None, high=None, share=1.0, steps=None):
    """The answer of a rule: verdict, kept, count, by all and by some of the repeats, all that fail.
    With `steps` whether each is kept was found out already."""
    values = [ranged(value) for value in values if value is not None]
    if not values:
        return {"verdict": "not_measured", "kept": 0, "count": 0, "kept_least": 0, "kept_most": 0,
                "lowest": None, "highest": None, "failing": []}
    floor, ceiling = float("-inf") if low is None else low, float("inf") if high is None else high
    if steps is None:
        steps = [(floor <= value <= ceiling, floor <= least and most <= ceiling,
                  most >= floor and least <= ceiling) for value, least, most in values]
    kept, surely, possibly = (sum(each) for each in zip(*steps))
    enough = [count >= share * len(values) for count in (surely, possibly)]
    return {"verdict": "within_noise" if enough[0] != enough[1] else
            "holds" if enough[0] else "does_not_hold",
            "kept": kept, "count": len(values), "kept_least": surely, "kept_most": possibly,
            "lowest": min(value[0] for value in values), "highest": max(value[0] for value in values),
            "failing": sorted(value[0] for value, each in zip(values, steps) if not each[0])}


def steps(series, value, by, up):
    """The change of each series from end to end, and whether every step goes one way: as measured,
    by all and by some of the repeats."""
    changes, kept = [], []
    for rows in series:
        values = [ranged(value(row)) for row in sorted(rows, key=by)]
        if not up:
            values.reverse()
        if len(values) < 2 or values[0][0] == 0:
            continue
        changes.append(ratio(values[-1], values[0]))
        pairs = list(zip(values, values[1:]))
        kept.append((all(after[0] > before[0] for before, after in pairs),
                     all(after[1] > before[2] for before, after in pairs),
                     all(after[2] > before[1] for before, after in pairs)))
    return changes, kept


# DATE 2024

def instances(path):
    """Every execution of a kernel in a report and the one beside it: its time and its levels."""
    def rows(name):
        with gzip.open(name, "rt", encoding="utf-8", errors="replace") as text:
            table = csv.DictReader(line for line in text if line.startswith('"'))
            next(table)  # the units, all of them ns, inst and cycle here
            return [{"name": row["Kernel Name"]} | {
                key: float(value.replace(",", "")) for key, value in row.items()
                if key and key.endswith(".sum") and value} for row in table]
    found, beside = [], Path(str(path).replace("_levels", "_tensor"))
    counted = rows(path)
    for row, tensor in zip(counted, rows(beside) if beside.exists() else [None] * len(counted)):
        cycles = row["smsp__cycles_elapsed.sum"]
        found.append({"name": row["name"], "count": 1, "ns": row["gpu__time_duration.sum"], "levels": {
            "issue.active": row["smsp__issue_active.sum"] / cycles,
            "tensor.active": row["sm__pipe_tensor_cycles_active.sum"] / cycles,
            "sm.active": row["smsp__cycles_active.sum"] / cycles}})
        if tensor:
            found[-1]["levels"]["tensor.issue"] = (tensor["sm__inst_executed_pipe_tensor.sum"]
                                                   / tensor["smsp__cycles_elapsed.sum"])
    return found


def layer_of(kernel):
    """Of a kernel by its name, as far as it multiplies matrices."""
    name = kernel["name"].split("<")[0]  # arguments of a template name what it serves
    if re.search("flash|fmha|attention", name, re.I):
        return "attention"
    if re.search("fprop|dgrad|wgrad|convolve|implicit_gemm|_conv_|cutlass.*_cudnn::Kernel", name, re.I):
        return "convolution"
    return "product" if re.search("gemm|nvjet|cutlass|gemv|splitK", name) else "other"


def runs_of_the_study():
    runs = []
    for path in UTILIZATION:
        gpu, table = path.stem.split("_")[1], load(path)
        for row in table["rows"]:
            if row.get("out_of_memory"):
                continue
            levels = {name: [value] for name, value in row.get("levels", {}).items()}
            for repeat in row["runs"]:
                for name, value in repeat.get("levels", {}).items():
                    levels.setdefault(name, []).append(value)
            times = [repeat["step_s"] for repeat in row["runs"]]
            counted = REPORTS.get((gpu, row["model"], row["mode"], row["precision"], row["batch"]))
            batch, memory = row["batch"], row.get("memory_bytes")
            middle = mean(times)
            deviation = (sum((time - middle) ** 2 for time in times) / (len(times) - 1)) ** 0.5 / middle \
                if len(times) > 2 else None
            runs.append({
                "series": (gpu, row["model"], row["framework"], row["mode"], row["precision"]),
                "batch": batch, "memory": memory, "repeats": len(times), "deviation": deviation,
                "part": memory / table["gpu_memory_bytes"] if memory else None,
                "rate": (batch / middle, batch / max(times), batch / min(times)),
                "kernels": instances(counted) if counted else row.get("kernels", []),
                **{name: (mean(values), min(values), max(values))
                   for name, values in levels.items()}})
    return runs


def date24():
    runs = runs_of_the_study()
    series = grouped(runs, lambda run: run["series"])
    filled = {key: max(run["part"] or 0 for run in rows) for key, rows in series.items()}
    for rows in series.values():
        most = max(run["rate"][0] for run in rows)
        first = min(run["batch"] for run in rows if run["rate"][0] >= 0.95 * most)
        for run in rows:
            run["saturated"] = first if first < max(other["batch"] for other in rows) else None

    def model(key):
        return key[1]

    def amp(key):
        return key[4] == "amp"

    def precision(*names):
        return lambda key: [key[:4] + (name,) for name in names]

    def compiled(key):
        return key[3] in ("compile", "xla")

    def eager(key):
        return [key[:3] + ("eager", key[4])]

    def xla(key):
        return key[3] == "xla"

    def torch(mode):
        return lambda key: [key[:2] + ("pytorch", mode, key[4])]

    def ratios(value, wanted, change, shown=False, above=0):
        """Value of a run over those of its partners, which differ as `change` says."""
        known = {(run["series"], run["batch"]): run for run in runs}
        for run in runs:
            if not wanted(run["series"]) or run["batch"] <= above or shown and (run["part"] or 0) < 0.1:
                continue
            for other in change(run["series"]):
                partner = known.get((other, run["batch"]))
                if partner and run.get(value) and partner.get(value):
                    yield ratio(run[value], partner[value])

    def best_ratios(value, wanted, change, by="rate", full=False):
        """The same of the best batch of each series."""
        best = {}
        for key, rows in series.items():
            rows = [run for run in rows if run.get(value)]
            if rows and not (full and filled[key] < 0.45):
                best[key] = max(rows, key=lambda run: ranged(run[by])[0])[value]
        for key in filter(wanted, best):
            yield from (ratio(best[key], best[other]) for other in change(key) if other in best)

    def doubling(value):
        """The last two of the rows of each series that have the value, if they are a doubling."""
        for rows in series.values():
            rows = [run for run in rows if run[value]]
            if len(rows) > 1 and rows[-1]["batch"] == 2 * rows[-2]["batch"]:
                yield ratio(rows[-1][value], rows[-2][value])

    sampled = [run for run in runs if "gpu.busy" in run]
    levels = grouped(sampled, lambda run: run["series"])
    # Runs whose kernels are counted; where a rule is about a series, at its largest batch.
    with_kernels = [run for run in runs if run["kernels"]]
    with_issue = [run for run in with_kernels if "tensor.issue" in run["kernels"][0]["levels"]]
    counted = [max(rows, key=lambda run: run["batch"])
               for rows in grouped(with_issue, lambda run: run["series"]).values()]
    known = {run["series"] for run in counted}
    active_alone = [max(rows, key=lambda run: run["batch"]) for rows in grouped(
        (run for run in with_kernels if run["series"] not in known),
        lambda run: run["series"]).values()]

    def part(run, weight, has):
        return (sum(kernel[weight] for kernel in run["kernels"] if has(kernel["levels"]))
                / sum(kernel[weight] for kernel in run["kernels"]))

    def no_instruction(level):
        return level["tensor.issue"] <= 0

    def no_matrix(level):
        if "tensor.issue" not in level:
            return level["tensor.active"] < 0.03
        return level["tensor.issue"] <= 0 or level["tensor.active"] / level["tensor.issue"] < 3.5

    def in_layers(level, *layers):
        """Mean of a level over the kernels of layers, by time, of each run that has such."""
        for run in with_kernels:
            kernels = [kernel for kernel in run["kernels"]
                       if layer_of(kernel) in layers and level in kernel["levels"]]
            if kernels:
                yield (sum(kernel["ns"] * kernel["levels"][level] for kernel in kernels)
                       / sum(kernel["ns"] for kernel in kernels))

    def issued(run, counts=lambda level: True):
        whole = sum(kernel["ns"] for kernel in run["kernels"])
        return run["gpu.busy"][0] * sum(kernel["ns"] * kernel["levels"]["tensor.issue"]
                                        for kernel in run["kernels"]
                                        if counts(kernel["levels"])) / whole

    def over_batch(level, wanted=lambda key: True):
        return steps([rows for key, rows in levels.items() if wanted(key)],
                     lambda run: run[level], lambda run: run["batch"], True)

    def ranked(level):
        """Over the best rows of each model."""
        for rows in grouped(best, lambda run: model(run["series"])).values():
            yield correlation([run["rate"][0] for run in rows], [run[level][0] for run in rows])

    best = [max(rows, key=lambda run: run["rate"][0]) for rows in levels.values()]
    long = [rows for rows in levels.values() if len(rows) >= 3]
    yield "1", 0, judged(doubling("rate"), 0, 1.05)
    yield "1", 1, judged(doubling("memory"), 1.5)
    yield "2", 0, judged(best_ratios("rate", amp, precision("fp32"), full=True), 1)
    yield "2", 1, judged(best_ratios("rate", amp, precision("tf32"), full=True), 1)
    yield "2", 2, judged(best_ratios("rate", compiled, eager, full=True), 1)
    yield "2", 3, judged(best_ratios("batch", amp, precision("fp32"), "batch", True), 2)
    yield "2", 4, judged(best_ratios("batch", compiled, eager, "batch", True), 2)
    yield "2", 5, judged(ratios("memory", lambda key: amp(key) and model(key) == "resnet50",
                                precision("fp32"), True), 0.4, 0.6)
    yield "2", 6, judged(ratios("memory", lambda key: amp(key) and model(key) != "resnet50",
                                precision("fp32"), True), 0.4, 0.6)
    yield "2", 7, judged(ratios("rate", amp, precision("fp32"), True), 1)
    yield "2", 8, judged(ratios("memory", compiled, eager, True), 0, 1)
    yield "3", 0, judged(ratios("rate", xla, torch("compile")), 1, share=0.75)
    yield "3", 1, judged(ratios("memory", xla, torch("compile")), 0, 1, 0.75)
    yield "4", 0, judged(ranked("gpu.busy"), -1, 0.7)
    yield "5", 0, judged((less(run["gpu.busy"], run["sm.active_any"]) for run in sampled), 0.01, 0.15)
    yield "5", 1, judged((correlation([run["sm.active_any"][0] for run in rows],
                                      [run["gpu.busy"][0] for run in rows]) for rows in long), 0.6, 1)
    rises = over_batch("issue.active")
    yield "6", 0, judged(rises[0], share=0.75, steps=rises[1])
    yield "6", 1, judged((run["issue.active"] for run in sampled), 0, 0.4, 0.75)
    yield "7", 0, judged((part(run, "count", no_instruction) for run in counted), 0.5, 1)
    yield "7", 1, judged((part(run, "count", no_matrix) for run in counted + active_alone), 0.5, 1)
    yield "7", 2, judged((part(run, "ns", lambda level: level["tensor.issue"] > 0.12)
                          for run in counted), 0, 0.01)
    yield "a1", 0, judged((run["gpu.busy"] for run in best), 0.9, share=0.75)
    yield "a2", 0, judged((run["issue.active"] for run in sampled), 0, 0.5)
    sampled_too = [run for run in counted if "gpu.busy" in run]
    yield "a3", 0, judged((issued(run) for run in with_issue if "gpu.busy" in run), 0, 0.052)
    yield "a3", 1, judged((issued(run, lambda level: not no_matrix(level)) for run in sampled_too),
                          0, 0.052)
    yield "s1", 0, judged((run["repeats"] for run in runs), 3)
    yield "s1", 1, judged((run["deviation"] for run in runs), 0, 0.01)
    yield "f1", 0, judged(best_ratios("rate", amp, precision("fp32", "tf32"), full=True), 1)
    yield "f1", 1, judged(best_ratios("gpu.busy", amp, precision("fp32", "tf32"), full=True), 0, 1)
    yield "b1", 0, judged(ratios("rate", xla, torch("eager")), 1)
    yield "b1", 1, judged(ratios("memory", xla, torch("eager")), 0, 1)
    yield "b2", 0, judged(over_batch("gpu.busy")[0], 0.99)
    yield "b3", 0, judged(ranked("sm.active_any"), -1, 0.7)
    yield "b4", 0, judged(over_batch("tensor.active", amp)[0], 1)
    yield "b5", 0, judged((run["tensor.active"] for run in best), 0, 0.35)
    yield "b7", 0, judged((max(kernel["levels"]["issue.active"] for kernel in run["kernels"])
                           for run in counted + active_alone), 0.5, 0.8)
    yield "b6", 0, judged((part(run, "ns", no_instruction) for run in counted), 0.3, 0.95)
    pictures = [lambda key: amp(key) and model(key) == "resnet50", precision("fp32")]
    yield "f2", 0, judged(ratios("gpu.busy", *pictures), 0, 1)
    yield "f2", 1, judged(ratios("rate", *pictures, above=16), 1)
    yield "f2", 2, judged(best_ratios("saturated", *pictures), 2)
    yield "b11", 0, judged(in_layers("tensor.issue", "convolution", "product", "attention"), 0.03, 1)
    yield "b11", 1, judged(in_layers("tensor.issue", "other"), 0, 0.03)
    yield "b12", 0, judged(in_layers("tensor.active", "product"), 0, 0.8)
    yield "b12", 1, judged(in_layers("tensor.active", "convolution"), 0, 0.5)
    yield "b13", 0, judged(in_layers("tensor.issue", "product"), 0, 0.1)
    yield "b13", 1, judged(in_layers("tensor.issue", "convolution"), 0, 0.1)
    yield "b13", 2, judged((max(kernel["levels"]["tensor.issue"] for kernel in run["kernels"])
                            for run in with_issue), 0, 0.15)
    yield "b14", 0, judged(in_layers("sm.active", "product"), 0.9, 1)
    yield "b14", 1, judged(in_layers("sm.active", "convolution"), 0.9, 1)
    yield "b14", 2, judged(in_layers("issue.active", "product"), 0, 0.4)
    yield "b14", 3, judged(in_layers("issue.active", "convolution"), 0, 0.4)
    yield "b8", 0, judged(ranked("issue.active"), -1, 0.7)
    yield "b9", 0, judged(ranked("tensor.active"), -1, 0.7)
    yield "b10", 0, judged((run["tensor.active"] for run in runs if "tensor.active" in run
                            and model(run["series"]) != "resnet50" and run["series"][2] == "pytorch"
                            and run["series"][4] == "fp32"), 0, 0.01)


# DSD 2022

def batch_of(row):
    return row["batch"]


def dsd22():
    cpu = load(RUNTIME[0])
    gpu, host = [], []
    for path in RUNTIME[1:3]:  # the last has queues alone, of no framework
        for row in load(path)["rows"]:
            row["file"] = path.name
            (host if row["framework"] == "jax-cpu" else gpu).append(row)
    on_gpu = list(grouped(gpu, lambda row: (row["file"], row["framework"], row["model"])).values())
    on_cpu = list(grouped(host, lambda row: row["model"]).values())
    models = {name: list(grouped(cpu[name], lambda row: (row["model"], row["mode"])).values())
              for name in ("shares", "per_item", "queues")}

    def kernels(row):
        return row["kernel_share_percent"] / 100

    def item(row):
        return row["overhead_us_per_item"] / (1 - kernels(row))

    def stepwise(changes, low=None):
        if low is not None:
            return judged(changes[0], low)
        return judged(changes[0], steps=changes[1])

    def rest(row):
        """Neither kernels nor dequeuing nor transfers."""
        return 1 - sum(row.get(name, 0) for name in ("gpu_kernel", "cpu_kernel", "dequeue", "memcpy"))

    deep = [rows for rows in on_gpu if rows[0]["model"] != "lenet5" and "phases" in rows[0]]
    waiting = steps(deep, lambda row: rest(row["phases"]), batch_of, False)
    cpu_waiting = (steps([rows for rows in models["shares"]
                          if rows[0]["mode"] == "async" and rows[0]["model"] != "lenet5"],
                         rest, batch_of, False),
                   steps([rows for rows in on_cpu if rows[0]["model"] != "lenet5"],
                         lambda row: rest(row["phases"]), batch_of, False))
    cpu_share = (steps(models["shares"], lambda row: row["cpu_kernel"], batch_of, True),
                 steps(on_cpu, kernels, batch_of, True))
    cpu_item = (steps(models["per_item"],
                      lambda row: row["kernel_ns_per_item"] + row["overhead_ns_per_item"], batch_of,
                      False),
                steps(on_cpu, lambda row: row["us_per_item"], batch_of, False))

    def joined(parts):
        return sum((part[0] for part in parts), []), sum((part[1] for part in parts), [])

    queues = models["queues"]
    yield "1", 0, stepwise(steps(on_gpu, kernels, batch_of, True))
    yield "1", 1, stepwise(joined(cpu_share))
    yield "2", 0, judged([])
    yield "2", 1, judged([])
    yield "3", 0, judged((1 - kernels(row) for row in gpu if row["batch"] == 1), 0.5, 1)
    yield "4", 0, stepwise(steps(on_gpu, item, batch_of, False), 1)
    yield "4", 1, stepwise(joined(cpu_item), 1)
    yield "4", 2, stepwise(steps(on_gpu, lambda row: row["overhead_us_per_item"], batch_of, False))
    for number, phase in enumerate(("enqueue", "dequeue")):
        taken = [[row[f"{phase}_ns_per_op"] for row in rows] for rows in queues if len(rows) > 1]
        yield "5", number, judged((max(each) / min(each) for each in taken), 1, 1.5)
    yield "5", 2, judged([])
    yield "6", 0, stepwise(steps(on_gpu, lambda row: row["overhead_us_per_item"] * row["batch"]
                                 * kernels(row) / (1 - kernels(row)), batch_of, True))
    yield "7", 0, judged((row["dequeue_ns_per_op"] / row["enqueue_ns_per_op"]
                          for row in cpu["queues"]), 1.5, 2.5)
    times = {(row["model"], row["mode"], row["batch"]): row["batch"] * (
        row["kernel_ns_per_item"] + row["overhead_ns_per_item"]) for row in cpu["per_item"]}

    def loaded(row):
        return (1 - row["empty"]) * times[row["model"], row["mode"], row["batch"]]

    yield "8", 0, stepwise(steps([rows for rows in queues if rows[0]["model"] != "bert"], loaded,
                                 batch_of, True), 1)
    yield "8", 1, judged((max(map(loaded, rows)) / min(map(loaded, rows))
                          for rows in queues if rows[0]["model"] == "bert" and len(rows) > 1),
                         1, 1.1)
    yield "9", 0, judged((row["empty"] for row in cpu["queues"]), 0.5, 1)
    yield "10", 0, stepwise(waiting, 1)
    yield "10", 1, stepwise(joined(cpu_waiting), 1)
    yield "11", 0, judged((row["phases"].get("memcpy", 0) for row in gpu
                           if row["model"] == "lenet5" and row["batch"] == 8192), 0.1, 1)
    largest = (max(rows, key=batch_of) for rows in on_gpu if rows[0]["model"] == "resnet50")
    yield "12", 0, judged((1 - kernels(row) for row in largest), 0, 0.5)


# ASAP 2024

def asap24():
    parts = {}
    for row in load(ENERGY[0]):
        parts[row["name"]] = {part["component"]: part["joules"] for part in row["parts"]}
        parts[row["name"]]["all"] = row["joules"]
        parts[row["name"]]["step"] = row.get("step", {}).get("joules")
    model = load(ENERGY[1])
    loads = {name: [row for row in model["curves"] if row["bench"] == name]
             for name in ("shared_load", "l1_load", "l2_load", "dram_load")}
    least = {name: min(row["picojoules"] for row in rows) for name, rows in loads.items()}
    steps_of = {name: part for name, part in parts.items() if name.startswith("resnet50")}
    products = [part for name, part in parts.items() if name.startswith("matmul_fp32")]
    divisions = {least: [row for row in model["board"]["divisions"] if row["threads"] >= least] for least in (16, 1024)}
    of_division = {least: [row["picojoules"] for row in rows] for least, rows in divisions.items()}
    parallel = [row["picojoules"] for row in loads["l1_load"]]

    def moved(part):
        return part["shared"] + part["l1"] + part["l2"] + part["dram"]

    def moved_part(part):
        return moved(part) / (part["all"] - part["static"])

    def r2(threads):
        return judged((row["r2"] for rows in loads.values() for row in rows
                       if row["threads"] == threads), 0.99 if threads > 1 else 0.96, 1)

    def over(value, changed, other):
        return [value(part) / value(steps_of[name.replace(changed, other)])
                for name, part in steps_of.items() if changed in name]

    def step(part):
        return part["step"]

    def of_all(component, low, high):
        return judged((part[component] / part["all"] for part in steps_of.values()), low, high)

    yield "1", 0, r2(1024)
    yield "1", 1, r2(1)
    yield "2", 0, judged((correlation([row["picojoules"] for row in rows],
                                      [row["threads"] for row in rows])
                          for rows in loads.values()), -1, -0.7)
    yield "3", 0, judged([max(parallel) / min(parallel)], 10, 20)
    yield "4", 0, judged([least["l1_load"] / least["shared_load"]], 1)
    yield "4", 1, judged([least["l2_load"] / least["l1_load"]], 1)
    yield "4", 2, judged([least["dram_load"] / least["l2_load"]], 1)
    yield "5", 0, judged([max(of_division[1024]) / min(of_division[1024])], 1, 1.1)
    yield "5", 1, judged([max(of_division[16]) / min(of_division[16])], 1, 1.25)
    yield "5", 2, judged((value / 2000 for value in of_division[16]), 0.5, 2)
    yield "6", 0, judged((part["static"] / part["all"] for part in products), 0.5, 1)
    yield "7", 0, judged(map(moved_part, products), 0.5, 1)
    for at, memory in enumerate(("l1", "l2", "dram")):
        yield "8", at, judged((part[memory] / part["shared"] for part in products), 0, 1)
    yield "9", 0, of_all("static", 0.35, 0.45)
    yield "10", 0, judged(map(moved_part, steps_of.values()), 0.5, 1, 0.75)
    yield "11", 0, judged(over(step, "amp", "fp32"), 0, 1)
    yield "11", 1, judged(over(step, "compile", "eager"), 0, 1)
    yield "11", 2, judged([step(steps_of["resnet50.amp.compile"]) / step(steps_of["resnet50.fp32.eager"])],
                          0, 1)
    yield "12", 0, judged(over(lambda part: moved(part) / part["all"] * step(part), "amp", "fp32"),
                          0, 0.5)
    yield "12", 1, judged(over(moved_part, "amp", "fp32"), 0, 1)
    yield "13", 0, judged(over(moved_part, "compile", "eager"), 1)
    yield "14", 0, judged((part["dram"] / moved(part) for part in steps_of.values()), 0.7, 1)
    yield "14", 1, of_all("l2", 0.02, 0.08)
    yield "14", 2, of_all("l1", 0, 0.05)
    yield "14", 3, of_all("shared", 0, 0.02)
    last = [sorted(rows, key=lambda row: row["threads"])[-2:] for rows in loads.values()]
    yield "15", 0, judged((after["picojoules"] / before["picojoules"] for before, after in last
                           if after["threads"] == 2 * before["threads"]), 0.9, 1.1)
    largest = max((row for row in load(ENERGY[0]) if row["name"].startswith("matmul_fp32")),
                  key=lambda row: row["joules_per_call"])["name"]
    blocks = [sorted((row["blocks"], row["picojoules"]) for row in model["curves"]
                     if row["bench"] == bench and row["threads"] == 1024)
              for bench in ("l2_load_wide", "dram_load_wide")]
    yield "18", 0, judged((rows[0][1] / rows[-1][1] for rows in blocks), 1)
    yield "18", 1, judged((rows[-1][1] / rows[-2][1] for rows in blocks
                           if rows[-1][0] == 2 * rows[-2][0]), 0.9, 1.1)
    with gzip.open(POINTS, "rt", encoding="utf-8") as lines:
        points = [json.loads(line) for line in lines]
    idle = {bench: [point["energy_j"] / point["seconds"] for point in points
                    if point.get("bench") == bench] for bench in ("context", "asleep")}
    yield "17", 0, judged((one / other for one in idle["context"] for other in idle["asleep"]), 1.05)
    yield "16", 0, judged([moved(parts[largest]) / parts[largest]["all"]], 0.25, 0.35)


# ITU 2023

def itu23():
    tables = [{row["name"]: row for row in load(path)["rows"]} for path in OVERHEAD]
    watched = ("record", "monitor", "nvidia-smi -l 1", "top", "torch.profiler")

    def costs(*names, noise=-1):
        for table in tables:
            for row in (table[name] for name in names if table.get(name, {}).get("noise") is not None):
                yield row["measured_slow_down"] + noise * row["noise"]

    def over(value, above, below):
        for table in tables:
            for name in (name for name in above if name in table):
                first, second = value(table[name]), value(table[below])
                if first is not None and second:
                    yield first / second

    def field(name):
        return lambda row: row.get(name)

    def memory(row):
        return row["memory_bytes"] + row["tool_memory_bytes"] if "memory_bytes" in row else None

    def in_use(row):
        """A tool that makes the run longer lowers the mean utilization and takes nothing."""
        share = row.get("gpu_utilization")
        return share * row["median_seconds"] if share is not None else None

    grids = load(GRIDS)["microbenchmark"]
    profiler, smi = ("torch.profiler",), "nvidia-smi -l 1"
    yield "1", 0, judged((grids[name]["nvidia_smi"] for name in ("1x1", "1x1024")), 0.95, 1)
    yield "1", 1, judged((grids[name]["sm.active_any"] for name in ("1x1", "1x1024")), 0, 0.05)
    yield "2", 0, judged(costs("record", "monitor", "top", smi), None, 0.01)
    yield "2", 1, judged(costs("record", "monitor", "top", smi, noise=1), None, 0.02)
    yield "3", 0, judged(costs(*profiler), 0.05)
    yield "3", 1, judged([])
    yield "4", 0, judged(over(field("disk_bytes"), profiler, "record"), 10)
    yield "4", 1, judged([])
    yield "5", 0, judged(over(field("cpu_seconds"), profiler, smi), 1.02)
    yield "5", 1, judged([])
    converted = (table[name].get("convert_seconds") for table in tables
                 for name in ("ncu", "nsys", "torch.profiler") if name in table)
    yield "6", 0, judged((seconds for seconds in converted if seconds is not None), 0.1)
    yield "7", 0, judged(over(memory, profiler, smi), 1.02)
    yield "7", 1, judged([])
    yield "8", 0, judged(over(field("gpu_memory_bytes"), watched, "none"), 0, 1.05)
    yield "8", 1, judged(over(in_use, watched, "none"), 0.95, 1.05)
    yield "9", 0, judged(over(field("median_seconds"), ("ncu",), "none"), 2)
    spaces = ([row for name, row in table.items() if name != "none" and row.get("disk_bytes") is not None
               and row.get("measured_slow_down") is not None] for table in tables)
    yield "11", 0, judged((correlation([row["disk_bytes"] for row in rows],
                                       [row["measured_slow_down"] for row in rows])
                           for rows in spaces if len(rows) > 2), 0.7, 1)
    yield "10", 0, judged((model["step_over_run"] for path in COUNTED
                           for model in load(path)["models"]), 0.95, 1.05)


def claim_verdict(verdicts):
    for one in ("not_measured", "holds"):
        if all(verdict == one for verdict in verdicts):
            return one
    if set(verdicts) == {"holds", "within_noise"}:
        return "within_noise"
    if "holds" in verdicts:
        return "partly"
    return "does_not_hold" if "does_not_hold" in verdicts else "within_noise"


def alike(told, own):
    if told is None or own is None:
        return told is own
    return abs(told - own) <= 1e-9 * max(1, abs(own))


def same(told, own):
    if isinstance(own, list):
        return len(told) == len(own) and all(map(alike, told, own))
    return told == own if isinstance(own, str) else alike(told, own)


def main():
    faults = rules = 0
    for study, recompute in (("date24", date24), ("dsd22", dsd22), ("asap24", asap24),
                             ("itu23", itu23)):
        told = json.loads(subprocess.run(
            [sys.argv[1], "reproduce", study, *map(str, FILES[study]), "--format", "json"],
            check=True, capture_output=True, text=True).stdout)
        own = {}
        for claim, at, answer in recompute():
            own.setdefault(claim, {})[at] = answer
        wanted = {claim["id"]: {at: rule for at, rule in enumerate(claim["rules"])}
                  for claim in told["claims"]}
        if {name: set(each) for name, each in own.items()} != {name: set(each) for name, each
                                                               in wanted.items()}:
            sys.exit(f"{study}: the program judges other rules than this script")
        for claim in told["claims"]:
            verdict = claim_verdict([own[claim["id"]][at]["verdict"] for at in sorted(own[claim["id"]])])
            if verdict != claim["verdict"]:
                faults += 1
                print(f"{study} {claim['id']}: {claim['verdict']}, here {verdict}")
            for at, rule in enumerate(claim["rules"]):
                rules += 1
                here = own[claim["id"]][at]
                said = {key: rule[key] for key in here if key != "failing"}
                said["failing"] = sorted(value["value"] for value in rule["failing"])
                wrong = [key for key in here if not same(said[key], here[key])]
                if wrong:
                    faults += 1
                    print(f"{study} {claim['id']} rule {at}, {rule['about']}:",
                          *(f"{key} {said[key]}, here {here[key]};" for key in wrong))
    print(f"{rules} rules, {faults} differ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
