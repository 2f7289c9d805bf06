"""Recordings of hours: what reading, asking, exporting and analysing them costs in time and memory.

  ./dev bench long_recording [--hours 1 10] [--before PROGRAM] [-o docs/results/long_recording.json]

The recordings are made by long_recording.cpp: 13 counters at 1 kHz and the driver's sensors, with a
window of 5 s every ten minutes in which kernels were recorded too. --before names another gpufathom
to run on the same files, such as one of an earlier commit. Each number is of the run with the least
processor time of three (one for runs over ten seconds): the machine may have other work, which
processor time does not see. Above three hours neither the comparison runs, which may need gigabytes
an hour, nor exports, which fill the disk.
"""
import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import spent

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "bench"

p = argparse.ArgumentParser()
p.add_argument("--hours", type=float, nargs="+", default=[1])
p.add_argument("--before", help="another gpufathom to compare with")
p.add_argument("-o", "--output")
a = p.parse_args()

MIDDLE = "start_ns between 1795000100000000000 and 1795000105000000000"
COMMANDS = {
    "read, and analyse 5 s without kernels": ["analyze", "SAMPLES", "--window", "100s:105s", "--format", "json", "-o", "/dev/null"],
    "analyse all without kernels": ["analyze", "SAMPLES", "--format", "json", "-o", "/dev/null"],
    "energy of 5 s": ["energy", "SAMPLES", "--window", "100s:105s", "--format", "json", "-o", "/dev/null"],
    "energy of all": ["energy", "SAMPLES", "--format", "json", "-o", "/dev/null"],
    "analyse 1 s with kernels": ["analyze", "KERNELS", "--window", "1s:2s", "--format", "json", "-o", "/dev/null"],
    "query: count and mean of all": ["query", "SAMPLES", "select count(*), avg(value) from counter_samples"],
    "query: count and mean of each metric": ["query", "SAMPLES", "select metric, count(*), avg(value) from counter_samples group by metric"],
    "query: mean of one metric": ["query", "SAMPLES", "select avg(value) from counter_samples where metric = 'gpu.busy'"],
    "query: 5 s of all metrics": ["query", "SAMPLES", f"select metric, avg(value) from counter_samples where {MIDDLE} group by metric"],
    "export --csv": ["export", "--csv", "CSV", "KERNELS"],
    "export --perfetto": ["export", "--perfetto", "KERNELS", "-o", "/dev/null"],
    "import (write again)": ["import", "SAMPLES", "-o", "COPY"],
}


def recording(hours, kernels):
    """A generated file, made once."""
    path = CACHE / f"recording_{hours:g}h{'_kernels' if kernels else ''}.gpf"
    if not path.exists():
        print(f"making {path.name} ...", file=sys.stderr)
        CACHE.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        subprocess.run([ROOT / "build/bench/long_recording", part, str(hours),
                        *(["5", "600"] if kernels else [])], check=True)
        part.rename(path)
    return path


def measure(program, command):
    best = None
    for _ in range(3):
        start = time.perf_counter()
        done = spent.run([program, *command], ROOT)
        wall = time.perf_counter() - start
        if done.status != 0:
            print(done.error.decode().strip(), file=sys.stderr)
            return None  # refused

        run = {"wall_s": round(wall, 2), "cpu_s": round(done.cpu, 2),
               "peak_mb": round(done.peak_bytes / 1e6)}
        if best is None or run["cpu_s"] < best["cpu_s"]:
            best = run
        if wall > 10:
            break
    return best


result = {
    "what": "time and peak memory of what a user does with a recording of hours: 13 counters at 1 kHz, and the driver's sensors",
    "command": "./dev bench long_recording " + " ".join(sys.argv[1:]),
    "date": datetime.date.today().isoformat(),
    "hardware": {"machine": platform.machine(), "cores": os.cpu_count(), "processor": spent.processor()},
    "recordings": [],
}
for hours in a.hours:
    files = {"SAMPLES": recording(hours, False), "KERNELS": recording(hours, True),
             "CSV": CACHE / "csv", "COPY": CACHE / "copy.gpf"}
    values = json.loads(subprocess.run([ROOT / "build/gpufathom", "query", files["SAMPLES"],
                                        "select count(*) from counter_samples", "--format", "json"],
                                       check=True, capture_output=True).stdout)["rows"][0][0]
    entry = {"hours": hours, "values": values,
             "file_mb": round(files["SAMPLES"].stat().st_size / 1e6), "runs": {}}
    for name, command in COMMANDS.items():
        if hours > 3 and command[0] == "export":
            continue
        command = [str(files.get(word, word)) for word in command]
        run = {"now": measure(ROOT / "build/gpufathom", command)}
        if a.before and hours <= 3:
            run["before"] = measure(a.before, command)
        shutil.rmtree(files["CSV"], ignore_errors=True)
        files["COPY"].unlink(missing_ok=True)
        entry["runs"][name] = run
        print(f"{hours:g} h, {name}: {run}", file=sys.stderr)
    result["recordings"].append(entry)
text = json.dumps(result, indent=1) + "\n"
if a.output:
    Path(a.output).write_text(text)
else:
    print(text, end="")
