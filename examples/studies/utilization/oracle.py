"""Levels of one step from Nsight Compute's counters of every kernel, weighted by their
durations."""
import csv
import gzip
import re

# Each fits one pass on GH100, so that no kernel is replayed: replay saves and restores gigabytes.
METRICS = {
    "levels": (
        "gpu__time_duration.sum", "smsp__cycles_active.sum", "smsp__cycles_elapsed.sum",
        "smsp__issue_active.sum", "sm__pipe_tensor_cycles_active.sum",
        "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__warps_active.avg.pct_of_peak_sustained_elapsed",
        "dram__bytes_read.sum", "dram__bytes_write.sum"),
    "tensor": (
        "gpu__time_duration.sum", "smsp__cycles_active.sum", "smsp__cycles_elapsed.sum",
        "sm__inst_executed_pipe_tensor.sum"),
}
UNITS = {"us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9,
         "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
PERCENTAGES = (
    ("sm.active_any", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"),
    ("sm.occupancy", "sm__warps_active.avg.pct_of_peak_sustained_elapsed"),
)
BYTES = ("dram__bytes_read.sum", "dram__bytes_write.sum")
# Level, counter above, counter below.
RATIOS = (
    ("sm.active", "smsp__cycles_active.sum", "smsp__cycles_elapsed.sum"),
    ("issue.active", "smsp__issue_active.sum", "smsp__cycles_elapsed.sum"),
    ("tensor.active", "sm__pipe_tensor_cycles_active.sum", "smsp__cycles_elapsed.sum"),
    ("tensor.issue", "sm__inst_executed_pipe_tensor.sum", "smsp__cycles_elapsed.sum"),
)


def kernels_of(path):
    """Every kernel of a report: its name, grid, duration, levels and bytes."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as text:
        rows = list(csv.reader(line for line in text if line.startswith('"')))
    column = {name: index for index, name in enumerate(rows[0])} if rows else {}

    def number(row, name):
        at = column.get(name)
        if at is None or at >= len(row) or not row[at]:
            return None
        return float(row[at].replace(",", "")) * UNITS.get(rows[1][at], 1)

    kernels = []
    for row in rows[2:]:
        duration = number(row, "gpu__time_duration.sum")
        if duration is None:  # the report ends in the middle of a row
            continue
        levels = {}
        for level, counter in PERCENTAGES:
            percentage = number(row, counter)
            if percentage is not None:
                levels[level] = percentage / 100
        for level, above, below in RATIOS:
            numerator, denominator = number(row, above), number(row, below)
            if numerator is not None and denominator:
                levels[level] = numerator / denominator
        moved = {metric: number(row, metric) for metric in BYTES}
        kernels.append({"name": row[column["Kernel Name"]], "grid": row[column["Grid Size"]],
                        "ns": duration, "levels": levels, "bytes": moved})
    return kernels


def read(path, model):
    """Sums over the kernels of the report: durations, durations times level, bytes."""
    if not path.exists():
        return {"model": model, "note": "no report"}
    kernels = kernels_of(path)
    if not kernels:
        return {"model": model, "note": "an empty report"}
    sums = {}
    for kernel in kernels:
        for level, value in kernel["levels"].items():
            sums[level] = sums.get(level, 0.0) + kernel["ns"] * value
        for metric, moved in kernel["bytes"].items():
            if moved is not None:
                sums[metric] = sums.get(metric, 0.0) + moved
    return {"model": model, "kernels": len(kernels),
            "kernel_ns": sum(kernel["ns"] for kernel in kernels), "sums": sums}


def joined(levels, tensor=None):
    """Every kernel as a row of a sweep's table, by its time; `tensor` is a report of the same step
    whose kernels, in the same order, have the counters that the first lacks."""
    kernels = kernels_of(levels)
    for kernel, other in zip(kernels, kernels_of(tensor) if tensor else ()):
        if (kernel["name"], kernel["grid"]) != (other["name"], other["grid"]):
            raise SystemExit(f"{levels} and {tensor} are not of the same kernels")
        kernel["levels"] = {**other["levels"], **kernel["levels"]}
    return sorted(({"name": short(kernel["name"]), "count": 1, "ns": round(kernel["ns"]),
                    "levels": kernel["levels"]} for kernel in kernels), key=lambda row: -row["ns"])


def memory_of(path):
    """Bytes of memory that the device of a report has."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as text:
        rows = csv.reader(line for line in text if line.startswith('"'))
        at = next(rows).index("device__attribute_total_memory")
        next(rows)  # the units
        return int(next(rows)[at].replace(",", ""))


def short(name):
    """A kernel's name without its arguments and template arguments."""
    for unnamed in ("<unnamed>::", "(anonymous namespace)::"):
        name = name.replace(unnamed, "")
    return re.sub(r"[<(].*", "", name.removeprefix("void ")) or name
