"""Cost of a window of `record --kernels` for the program, inside and outside it: one process,
windows opened and closed in it.

Steps before the first window ran with the library loaded and nothing enabled. Usage: window_cost.py
GPUFATHOM MODEL SECONDS WINDOW EVERY OUT.json
"""
import csv
import datetime
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile

gpufathom, model, seconds, window, every, out = sys.argv[1:7]
here = os.path.dirname(os.path.abspath(__file__))
capture = tempfile.mkdtemp() + "/w.gpf"
run = json.loads(subprocess.run([gpufathom, "record", "-q", "--kernels", "--window", window,
                                 "--every", every, "--delay", "6", "-o", capture, "--",
                                 sys.executable, f"{here}/workload.py", "--model", model,
                                 "--seconds", seconds],
                                check=True, capture_output=True, text=True).stdout)
text = subprocess.run([gpufathom, "query", "--format", "csv", "--rows", "0", capture,
                       "select start_ns, duration_ns from recording_windows order by start_ns"],
                      check=True, capture_output=True, text=True).stdout
windows = [(int(r["start_ns"]), int(r["start_ns"]) + int(r["duration_ns"]))
           for r in csv.DictReader(io.StringIO(text))]
calls = subprocess.run([gpufathom, "query", "--format", "csv", capture,
                        "select kind, count(*) as n from api_calls group by kind"], check=True,
                       capture_output=True, text=True).stdout
kernels = subprocess.run([gpufathom, "query", "--format", "csv", capture,
                          "select count(*) as n from activities where kind = 'kernel'"], check=True,
                         capture_output=True, text=True).stdout
at, groups = run["start_ns"], []
for ms in run["times_ms"]:  # groups of ten steps follow one another
    groups.append((at, at + ms * 1e7, ms))
    at += ms * 1e7
settle = 50_000_000  # opening and closing take milliseconds
pairs = []
for i, (begin, end) in enumerate(windows):
    last = windows[i - 1][1] if i else groups[0][0]
    following = windows[i + 1][0] if i + 1 < len(windows) else groups[-1][1]
    inside = [g[2] for g in groups if g[0] > begin + settle and g[1] < end]
    outside = [g[2] for g in groups if (g[0] > last + settle and g[1] < begin)
               or (g[0] > end + settle and g[1] < following)]
    if inside and outside:
        pairs.append({"inside_ms": statistics.fmean(inside),
                      "outside_ms": statistics.fmean(outside)})
before = [g[2] for g in groups if g[1] < windows[0][0]]
ratio = [p["inside_ms"] / p["outside_ms"] - 1 for p in pairs]
result = {"what": "step time inside and outside the windows of record --kernels",
          "command": "bench/gpu/window_cost.py gpufathom " + " ".join(sys.argv[2:6]), "date": datetime.date.today().isoformat(), "gpu": run["gpu"], "torch": run["torch"], "model": model,
          "windows": len(windows), "pairs": pairs, "before_ms": statistics.fmean(before) if before else None, "outside_ms": statistics.fmean(p["outside_ms"] for p in pairs), "inside_slow_down": statistics.fmean(ratio),
          "noise": statistics.stdev(ratio) / len(ratio) ** 0.5 if len(ratio) > 1 else None, "of_5_s_in_60": statistics.fmean(ratio) * 5 / 60, "kernels": int(kernels.split()[-1]), "calls": dict(line.split(",") for line in calls.split()[1:])}
json.dump(result, open(out, "w"), indent=1)
print({k: v for k, v in result.items() if k != "pairs"})
