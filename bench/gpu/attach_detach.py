"""Cost of recording for a running program: one training loop, the recorder attached from outside
for some seconds, then not, in turns.

The same process, the same GPU, the same clocks: only the recorder comes and goes, so drift from run
to run cannot hide or fake a cost. Usage: attach_detach.py GPUFATHOM MODEL PAIRS SECONDS RATE
OUT.json
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

gpufathom, model, pairs, seconds, rate, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5], sys.argv[6]
here = os.path.dirname(os.path.abspath(__file__))
work = tempfile.mkdtemp()
total = pairs * 2 * (seconds + 2) + 12
load = subprocess.Popen([sys.executable, f"{here}/workload.py", "--model", model, "--seconds",
                         str(total)], stdout=subprocess.PIPE, text=True)
time.sleep(12)  # imports, warm-up
windows, summaries = [], []
for i in range(pairs):
    for kind in ("off", "on") if i % 2 == 0 else ("on", "off"):
        if kind == "on":
            begin = time.time_ns()
            subprocess.run([gpufathom, "record", "-q", "--rate", rate, "--duration", str(seconds),
                            "-o", f"{work}/a.gpf", "--summary", f"{work}/s.json"], check=True)
            end = time.time_ns()
            summaries.append(json.load(open(f"{work}/s.json")))
            begin += int(1.2e9)  # the recorder's own start is not recording yet
        else:
            begin = time.time_ns()
            time.sleep(seconds)
            end = time.time_ns()
        windows.append((kind, begin, end))
        time.sleep(0.5)
text, _ = load.communicate()
run = json.loads(text)
at, step = run["start_ns"], []
for ms in run["times_ms"]:  # groups of ten steps follow one another
    at += ms * 1e6 * 10
    step.append((at, ms))
rows = []
for kind, begin, end in windows:
    inside = [ms for t, ms in step if begin + ms * 1e7 < t <= end]
    rows.append({"recorder": kind, "groups": len(inside), "median_ms": statistics.median(inside),
                 "mean_ms": statistics.fmean(inside)})
by = {k: [r["mean_ms"] for r in rows if r["recorder"] == k] for k in ("on", "off")}
median = {k: [r["median_ms"] for r in rows if r["recorder"] == k] for k in ("on", "off")}
result = {
    "model": model, "rate_hz": float(rate), "pairs": pairs, "window_s": seconds, "windows": rows,
    "mean_ms": {k: statistics.fmean(v) for k, v in by.items()}, "spread_of_means_ms": {k: statistics.stdev(v) for k, v in by.items()},
    "slow_down_of_means": statistics.fmean(by["on"]) / statistics.fmean(by["off"]) - 1,
    "slow_down_of_medians": statistics.median(median["on"]) / statistics.median(median["off"]) - 1,
    "noise": statistics.stdev(by["off"]) / statistics.fmean(by["off"]) / len(by["off"]) ** 0.5,
    "recorder_cpu_share": statistics.fmean(s["recorder_cpu_seconds"] / (s["duration_ns"] * 1e-9) for s in summaries),
    "recorder_memory_bytes": max(s["recorder_memory_bytes"] for s in summaries), "recorder_private_bytes": max(s.get("recorder_private_bytes", 0) for s in summaries),
    "disk_bytes_a_minute": statistics.fmean(s["file_bytes"] / (s["duration_ns"] * 1e-9) * 60 for s in summaries),
    "lost_samples": sum(s["devices"][0]["lost"] for s in summaries), "samples": sum(s["devices"][0]["samples"] for s in summaries),
}
json.dump(result, open(out, "w"), indent=1)
print(json.dumps({k: result[k] for k in result if k != "windows"}))
