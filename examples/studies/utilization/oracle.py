"""Levels of one step from Nsight Compute's counters of every kernel, weighted by their durations."""
import csv

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
# Level, counter above, counter below.
RATIOS = (
    ("sm.active", "smsp__cycles_active.sum", "smsp__cycles_elapsed.sum"),
    ("issue.active", "smsp__issue_active.sum", "smsp__cycles_elapsed.sum"),
    ("tensor.active", "sm__pipe_tensor_cycles_active.sum", "smsp__cycles_elapsed.sum"),
    ("tensor.issue", "sm__inst_executed_pipe_tensor.sum", "smsp__cycles_elapsed.sum"),
)


def read(path, model):
    """Sums over the kernels of the report: durations, durations times level, bytes."""
    if not path.exists():
        return {"model": model, "note": "no report"}
    with open(path, encoding="utf-8", errors="replace") as text:
        rows = list(csv.reader(line for line in text if line.startswith('"')))
    if len(rows) < 3:
        return {"model": model, "note": "an empty report"}
    column = {name: index for index, name in enumerate(rows[0])}

    def number(row, name):
        at = column.get(name)
        if at is None or not row[at]:
            return None
        return float(row[at].replace(",", "")) * UNITS.get(rows[1][at], 1)

    kernel_ns, sums = 0.0, {}
    for row in rows[2:]:
        duration = number(row, "gpu__time_duration.sum")
        if duration is None:
            continue
        kernel_ns += duration
        values = {}
        for level, counter in PERCENTAGES:
            percentage = number(row, counter)
            if percentage is not None:
                values[level] = percentage / 100
        for level, above, below in RATIOS:
            numerator, denominator = number(row, above), number(row, below)
            if numerator is not None and denominator:
                values[level] = numerator / denominator
        for level, value in values.items():
            sums[level] = sums.get(level, 0.0) + duration * value
        for metric in ("dram__bytes_read.sum", "dram__bytes_write.sum"):
            moved = number(row, metric)
            if moved is not None:
                sums[metric] = sums.get(metric, 0.0) + moved
    return {"model": model, "kernels": len(rows) - 2, "kernel_ns": kernel_ns, "sums": sums}
