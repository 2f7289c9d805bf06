#!/usr/bin/env bash
# The fits of the energy calibration against SciPy, on committed points: the joint fit's system solved again by
# scipy.optimize.nnls, and the curves by scipy.stats.linregress from the raw counter updates.
set -euo pipefail
build=$(cd "$1" && pwd)
results=$(cd "$(dirname "$0")/../../docs/results/energy" && pwd)
python3 -c 'import scipy.optimize, scipy.stats' 2>/dev/null || { echo "SciPy is not installed: ./dev setup"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
zcat "$results/h200-2026-11-21e.points.jsonl.gz" >"$work/points.jsonl"
"$build/gpufathom" calibrate --fit-only --points "$work/points.jsonl" --counters "$results/h200-2026-11-21e.kernels.ncu.csv.gz" --system "$work/system.csv" -o "$work/model.json" >/dev/null
python3 - "$work" <<'PYTHON'
import csv, json, sys
import numpy as np
from scipy.optimize import nnls
from scipy.stats import linregress

work = sys.argv[1]
file = json.load(open(f"{work}/model.json"))
model = file["model"]
rows = list(csv.reader(open(f"{work}/system.csv")))
A = np.array(rows[1:], dtype=float)
A, b = A[:, :-1], A[:, -1]
scale = np.linalg.norm(A, axis=0)
x = nnls(A / scale, b)[0] / scale
ours = {c["feature"]: c["picojoules"] for c in model["coefficients"]} | {k: model[k] for k in ("static_w", "active_w")}
for name, value in zip(rows[0], x):
    assert abs(ours[name] - value) <= 1e-6 * max(value, 1e-3), (name, ours[name], value)
residual = A @ x - b
assert abs(np.mean(np.abs(residual)) - model["mean_absolute_error"]) < 1e-9

per_loop = 256  # 32 loads of 32 lanes of 8 bytes, in accesses of 32 bytes
points = [p for p in map(json.loads, open(f"{work}/points.jsonl")) if "bench" in p]
checked = 0
for curve in file["curves"]:
    if curve["bench"] not in ("l1_load", "l2_load", "dram_load") or curve["threads"] < 32:
        continue
    xs, ys = [], []
    for p in points:
        if (p["bench"], p["threads"], p["blocks"]) == (curve["bench"], curve["threads"], curve["blocks"]):
            rate = per_loop * p["warps"] * p["loops_per_s"]
            xs += [rate * e["t_s"] for e in p["edges"][1:]]
            ys += [e["energy_j"] - model["context_w"] * e["t_s"] for e in p["edges"][1:]]
    line = linregress(xs, ys)
    assert abs(line.slope * 1e12 / curve["picojoules"] - 1) < 1e-3, (curve, line)
    assert abs(line.rvalue**2 - curve["r2"]) < 1e-6, (curve, line)
    checked += 1
assert checked >= 12, checked
print(f"{A.shape[0]} points, {A.shape[1]} coefficients and {checked} curves agree with SciPy")
PYTHON
