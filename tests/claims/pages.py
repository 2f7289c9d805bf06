#!/usr/bin/env python3
"""The tables of the study pages have the numbers of their data: pages.py GPUFATHOM

docs/lab/utilization-h200.md against `compare --table`, coverage, repeats and counters,
energy-breakdown.md, runtime.md and overhead.md against the files that they name.
"""
import itertools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results"


def load(name):
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def rows_of(page):
    """The cells of every row of every table, without the marks of Markdown."""
    for line in (ROOT / "docs/lab" / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("|") and "---" not in line and "--:" not in line:
            yield [cell.strip() for cell in line.strip("|").split("|")]


def utilization(program):
    """Wanted and found cells of each run in the table of throughput."""
    table = RESULTS / "utilization_h200.json"
    sweep = json.loads(subprocess.run([program, "compare", "--table", table, "--format", "json"],
                                      check=True, capture_output=True, text=True).stdout)
    known = {}
    for series in sweep["series"]:
        for run in (sweep["runs"][at] for at in series["runs"]):
            levels = {level["id"]: f"{level['value'] * 100:.1f}" for level in run["levels"]}
            mark = "*" if run["batch"] == series["saturation_batch"] else ""
            known[series["name"], f"{run['batch']:,}{mark}".replace(",", " ")] = [
                f"{run['throughput']:,.0f}".replace(",", " "), f"{run['flops'] / 1e12:.1f}",
                f"{run['mfu'] * 100:.1f}",
                *(levels.get(name, "–") for name in ("gpu.busy", "sm.active_any", "issue.active",
                                                     "tensor.active")),
                f"{run['memory_bytes'] / 1e9:.1f}" if run["memory_bytes"] else "–"]
    for cells in rows_of("utilization-h200.md"):
        if len(cells) == 10 and cells[0]:
            yield cells, known.get((cells[0], cells[1])), cells[2:]


def coverage(_):
    """The grid's table is what the study's own script prints."""
    script = ROOT / "examples/studies/utilization/coverage.py"
    printed = subprocess.run([sys.executable, "-B", script, RESULTS / "utilization_h200.json"],
                             check=True, capture_output=True, text=True).stdout
    wanted = [[cell.strip() for cell in line.strip("|").split("|")]
              for line in printed.splitlines() if line.startswith("|") and "--" not in line]
    known = {cells[0]: cells for cells in wanted}
    for cells in rows_of("utilization-h200.md"):
        if len(cells) == 4 and cells[0] in known:
            yield cells, known.pop(cells[0]), cells
    for name, cells in known.items():
        yield [name], cells, "not on the page"
    sums = next(line for line in printed.splitlines() if " three runs or more" in line)
    page = " ".join((ROOT / "docs/lab/utilization-h200.md").read_text(encoding="utf-8").split())
    yield ["sums"], True, sums in page
    whole, any_run = (int(sums.split()[at]) for at in (3, -2))
    yield ["what has no run has its reason"], whole - any_run, len(load("utilization_h200.json")["not_run"])


def merged(_):
    """The committed table is what the study's script makes of it, and it alone."""
    script, table = ROOT / "examples/studies/utilization/merge.py", RESULTS / "utilization_h200.json"
    with tempfile.NamedTemporaryFile(suffix=".json") as again:
        subprocess.run([sys.executable, "-B", script, again.name, table], check=True)
        found = json.loads(Path(again.name).read_text(encoding="utf-8"))["rows"]
    for row, same in itertools.zip_longest(load("utilization_h200.json")["rows"], found):
        yield ["a row"], row, same


def energy(_):
    names = {f"{precision}, {mode}": f"resnet50.{precision.lower()}.{short}"
             for precision in ("FP32", "AMP")
             for mode, short in (("eager", "eager"), ("compiled", "compile"))}
    known = {row["name"]: row for row in load("energy/h200-2026-11-21.breakdown.json")}
    for cells in rows_of("energy-breakdown.md"):
        row = known.get(names.get(cells[0], cells[0]))
        if len(cells) != 11 or not row:
            continue
        parts = {part["component"]: part["joules"] for part in row["parts"]}
        moved = sum(parts.get(name, 0) for name in ("shared", "l1", "l2", "dram"))
        groups = [parts["static"],
                  sum(joules for name, joules in parts.items()
                      if name == "instructions" or name.startswith(("pipe.", "tensor"))),
                  parts.get("shared", 0) + parts.get("l1", 0), parts.get("l2", 0),
                  parts.get("dram", 0), parts["rest"]]
        joules = row["step"]["joules"] if "step" in row else row["joules_per_call"]
        wanted = [f"{row['watts']:.0f}", f"{row['sm_mhz']:.0f}", f"{joules:.3g}",
                  *(f"{group / row['joules'] * 100:.1f}" for group in groups),
                  f"{moved / (row['joules'] - parts['static']) * 100:.0f}"]
        yield cells, wanted, cells[1:]


def runtime(_):
    """The two tables of GPUs: kernels in %, overhead of an item."""
    files, known = ["runtime_gpu_h200.json", "runtime_paper_sizes_h200.json"], {}
    for cells in rows_of("runtime.md"):
        if cells[0] == "model":  # a table begins
            known = {(row["model"], row["batch"], row["framework"]): row
                     for row in (load(files.pop(0))["rows"] if files else [])}
            continue
        for of, cell in zip(("torch", "jax"), cells[2:]):
            told = re.fullmatch(r"([\d.]+) %, ([\d.]+) (us|ns)", cell)
            row = known.get((cells[0].split(",")[0], int(cells[1]) if cells[1].isdigit() else 0,
                             of))
            if not row or not told:
                continue
            scale, digits = 1000 if told[3] == "ns" else 1, len(told[2].partition(".")[2])
            yield cells, [f"{row['kernel_share_percent']:.1f}",
                          f"{row['overhead_us_per_item'] * scale:.{digits}f}"], [told[1], told[2]]


def samples(_):
    """Samples beside counters, level by level, of both GPUs."""
    levels = ("sm.active_any", "sm.occupancy", "issue.active", "tensor.active", "dram.active")
    names = {"resnet50": "ResNet-50", "bert": "BERT", "dlrm_sparse": "DLRM"}
    for gpu in ("h100", "h200"):
        known = {(names[model["model"]], model["batch"]):
                 [100 * model["levels"][level][way] for level in levels
                  for way in ("sampled", "counted")]
                 for model in load(f"samples_against_counters_{gpu}.json")["models"]}
        for cells in rows_of(f"utilization-{gpu}.md"):
            told = re.fullmatch(r"([\w-]+)(?:, sparse)?, batch ([\d ]+)", cells[0])
            if told and len(cells) == 6:
                wanted = known.pop((told[1], int(told[2].replace(" ", ""))))
                found = [float(number) for cell in cells[1:] for number in cell.split(",")]
                close = [abs(one - other) < 0.0051
                         for one, other in zip(wanted, found, strict=True)]
                yield cells, True, all(close)
        yield [gpu, "every model is on the page"], {}, known


def repeats(_):
    """The number that repeat within 1 %, in words."""
    script = ROOT / "examples/studies/utilization/repeats.py"
    for gpu in ("h100", "h200"):
        printed = subprocess.run([sys.executable, "-B", script,
                                  RESULTS / f"utilization_{gpu}.json"],
                                 check=True, capture_output=True, text=True).stdout
        page = " ".join((ROOT / f"docs/lab/utilization-{gpu}.md").read_text(encoding="utf-8").split())
        for group in ("GPU-bound", "host-bound"):
            whole, close = re.search(group + r": (\d+) configurations, (\d+) within",
                                     printed).groups()
            yield [gpu, group], True, bool(re.search(rf"\b{close} of (the )?{whole}\b", page))


def tools(_):
    """Time and output of each tool."""
    rows = {row["name"]: row for row in load("overhead_tools_h200.json")["rows"]}
    alone = rows["none"]["memory_bytes"]

    def digits(value, unit):
        return "–" if not value else f"{value:.2f} {unit}" if value < 1 else f"{value:.1f} {unit}"

    for cells in rows_of("overhead.md"):
        row = rows.get({"top every second": "top",
                        "nvidia-smi every second": "nvidia-smi -l 1"}.get(
            cells[0], re.sub(r"[`]|,? ?\(.*|, 30 kernels.*", "", cells[0])))
        if len(cells) == 6 and row:
            memory = row["tool_memory_bytes"] or row["memory_bytes"] - alone
            disk = row["disk_bytes"] / 1e6
            yield cells, [digits(row["tool_cpu_seconds"], "s"), f"{memory / 1e6:.0f} MB",
                          digits(disk, "MB") if disk < 1 else f"{disk:.0f} MB",
                          digits(row["convert_seconds"], "s"),
                          digits(row["analyse_seconds"], "s")], cells[1:]


def main():
    faults = checked = 0
    for page in (utilization, coverage, merged, energy, runtime, samples, repeats, tools):
        before = checked
        for cells, wanted, found in page(sys.argv[1]):
            checked += 1
            if wanted != found:
                faults += 1
                print(f"{page.__name__}: {' | '.join(cells)}: the data say {wanted}")
        if checked == before:
            faults += 1
            print(f"{page.__name__}: no row of the page was found")
    print(f"{checked} rows, {faults} differ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
