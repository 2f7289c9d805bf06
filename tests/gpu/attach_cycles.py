"""Attaches to a serving loop and lets go of it again and again: does it notice, is anything left?

A decoder runs under `gpufathom run`; recorders come for a fraction of a second each, half of them
with hardware counters, and record its kernels. Afterwards its own report tells whether it lost a
request and what its steps took while a recorder was there, and while none was.
Usage: attach_cycles.py GPUFATHOM OUT.json [--budget-seconds S] [--cycles N] [--program WORDS ...]
"""
import argparse
import csv
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "zoo"))
from recording import PROGRAMS, Started  # noqa: E402



def held(pid):
    """Resources of a process: descriptors, threads, mappings of ours; and its memory."""
    with open(f"/proc/{pid}/maps") as maps:
        ours = sum("gpufathom" in line for line in maps)
    with open(f"/proc/{pid}/status") as status:
        resident = [int(line.split()[1]) for line in status if line.startswith("VmRSS")]
    return {"descriptors": len(os.listdir(f"/proc/{pid}/fd")),
            "threads": len(os.listdir(f"/proc/{pid}/task")), "mappings": ours,
            "resident_mb": resident[0] // 1024 if resident else None}


def counts(gpufathom, capture):
    sql = """select (select count(*) from activities where kind = 'kernel') as kernels,
        (select count(*) from steps) as steps, (select count(*) from recording_windows) as windows,
        (select coalesce(sum(count), 0) from quality
         where code in ('no_time', 'no_kernel', 'lost_records', 'dropped_kernels')) as damage,
        (select min(start_ns) from recording_windows) as first,
        (select max(start_ns + duration_ns) from recording_windows) as last"""
    text = subprocess.run([gpufathom, "query", "--format", "csv", capture, sql],
                          capture_output=True, text=True, timeout=60).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    return {key: int(value or 0) for key, value in rows[0].items()} if rows else {}


def step_times(report, spans):
    """Means of the program's groups of steps inside some of the spans, and outside all."""
    edges = [report["start_ns"], *report["ends_ns"]]
    inside, outside = [], []
    for begin, end in zip(edges, edges[1:]):
        ms = (end - begin) / 1e6 / report["group"]
        if any(first <= begin and end <= last for first, last in spans):
            inside.append(ms)
        elif not any(first - 1e9 < end and begin < last + 1e9 for first, last in spans):
            outside.append(ms)
    return inside, outside


def attach_once(options, pid, cycle, folder):
    capture = os.path.join(folder, f"{cycle}.gpf")
    source = ["--source", "nvml"] if cycle % 2 else []
    begin = time.time_ns()
    done = subprocess.run(
        [options.gpufathom, "record", "-q", "--pid", str(pid), "--kernels", "--window", "0",
         "--duration", "0.2", "-o", capture, *source], capture_output=True, text=True, timeout=30)
    return capture, {"code": done.returncode, "begin_ns": begin, "end_ns": time.time_ns(),
                     "note": done.stderr[-200:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gpufathom")
    parser.add_argument("out")
    parser.add_argument("--budget-seconds", type=float, default=110)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--program", nargs="+", default=[
        sys.executable, os.path.join(PROGRAMS, "torch_models.py"), "--what", "decode_eager"])
    options = parser.parse_args()
    options.gpufathom = os.path.abspath(options.gpufathom)
    until = time.monotonic() + options.budget_seconds
    folder = tempfile.mkdtemp()
    serving = max(options.budget_seconds - 25, 5)
    command = [options.gpufathom, "run", "--", *options.program, "--seconds", str(serving)]
    os.environ["PYTHONFAULTHANDLER"] = "1"
    cycles, captures = [], []
    with open(os.path.join(folder, "log"), "w") as log:
        started = Started(command, 0, log)
        started.ready.wait(60)
        pid = started.process.pid
        loop_ends = time.monotonic() + serving
        time.sleep(2.0)
        before = held(pid)
        while (len(cycles) < options.cycles and time.monotonic() < loop_ends - 2.5
               and started.process.poll() is None):
            capture, row = attach_once(options, pid, len(cycles), folder)
            captures.append(capture)
            cycles.append(row)
        died = started.process.poll()
        after = held(pid) if died is None else None
        code = started.wait(until - time.monotonic() + options.budget_seconds)
    for capture, row in zip(captures, cycles):
        row.update(counts(options.gpufathom, capture))
    report = started.report() or {}
    result = {"schema": "gpufathom.attach_cycles/1", "cycles": len(cycles), "held_before": before,
              "held_after": after, "program_code": code, "rows": cycles,
              "died_after_cycles": len(cycles) if died is not None else None,
              "left_on_disk": [n for n in os.listdir(folder) if n.startswith(".gpufathom")],
              "with_kernels": sum(row.get("kernels", 0) > 0 for row in cycles),
              "failed": sum(row["code"] != 0 for row in cycles),
              "damaged": sum(row.get("damage", 0) > 0 for row in cycles)}
    if "ends_ns" in report:
        windows = [(row["first"], row["last"]) for row in cycles if row.get("first")]
        inside, outside = step_times(report, windows)
        result.update({
            "steps": report["steps"], "own_steps": report["group"] * len(report["ends_ns"]),
            "step_ms_inside": statistics.fmean(inside) if inside else None,
            "step_ms_outside": statistics.fmean(outside) if outside else None,
            "longest_step_ms": max(inside + outside, default=None),
            "groups_inside": len(inside), "groups_outside": len(outside)})
    with open(os.path.join(folder, "log")) as log:
        result["program_said"] = log.read()[-3000:]
    with open(options.out, "w") as out:
        json.dump(result, out, indent=1)
    print(json.dumps({k: v for k, v in result.items() if k != "rows"}))


if __name__ == "__main__":
    main()
