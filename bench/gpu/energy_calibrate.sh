#!/usr/bin/env bash
# Calibrates the energy model on the GPU at hand: counters of every microbenchmark (Nsight Compute), then the raw energy
# points. Usage: bench/gpu/energy_calibrate.sh PROGRAM OUT_DIR [SEED [CALIBRATE-OPTION...]]. Leaves OUT_DIR/kernels.txt,
# kernels.ncu.csv.gz, points.jsonl.
set -euo pipefail
program=$1 out=$2 seed=${3:-1}
shift $(($# < 3 ? $# : 3))
mkdir -p "$out"
metrics=$("$program" calibrate --list-counters | paste -sd,)${MORE_COUNTERS:+,$MORE_COUNTERS}
ncu --clock-control none --cache-control none -k regex:^bench_ --csv --page raw --print-units base --metrics "$metrics" \
  "$program" calibrate --launch-once >"$out/kernels.raw" 2>"$out/ncu.err" || { tail -5 "$out/ncu.err" "$out/kernels.raw"; exit 1; }
grep -v '^"' "$out/kernels.raw" | grep -v '^==' >"$out/kernels.txt" || true
grep '^"' "$out/kernels.raw" | gzip -9 >"$out/kernels.ncu.csv.gz"
rm -f "$out/kernels.raw"
"$program" calibrate --points "$out/points.jsonl" --seed "$seed" "$@"
