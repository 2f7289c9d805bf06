#!/usr/bin/env bash
# Measures kernels that the calibration never saw (energy_unseen.py), and counts them (Nsight Compute), on a GPU with PyTorch.
# Usage: bench/gpu/energy_unseen.sh PROGRAM OUT_DIR. Leaves OUT_DIR/unseen.jsonl, unseen_names.txt, unseen.ncu.csv.gz.
set -euo pipefail
program=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
python3 "$here/energy_unseen.py" measure "$out/unseen.jsonl" 1.0
metrics=$("$program" calibrate --list-counters | paste -sd,)${MORE_COUNTERS:+,$MORE_COUNTERS}
ncu --clock-control none --cache-control none --profile-from-start off --graph-profiling graph --csv --page raw --print-units base --metrics "$metrics" \
  python3 "$here/energy_unseen.py" count "$out/unseen_names.txt" >"$out/unseen.raw" 2>"$out/unseen.err" || { tail -5 "$out/unseen.err" "$out/unseen.raw"; exit 1; }
grep '^"' "$out/unseen.raw" | gzip -9 >"$out/unseen.ncu.csv.gz"
rm -f "$out/unseen.raw"
