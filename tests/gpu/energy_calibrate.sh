#!/usr/bin/env bash
# Calibrates the energy model on the GPU at hand: counters of every microbenchmark (Nsight Compute), then the raw energy
# points. Usage: tests/gpu/energy_calibrate.sh PROGRAM OUT_DIR [SEED]. Leaves OUT_DIR/kernels.txt, kernels.ncu.csv.gz, points.jsonl.
set -euo pipefail
program=$1 out=$2 seed=${3:-1}
mkdir -p "$out"
metrics=$(grep -o '"[^"]*\.sum[^"]*"' "$(dirname "$0")/../../src/analyze/energy/features.cpp" | tr -d '"' | tr '+*' '\n\n' | grep -o '[a-z0-9_]*\.sum' | sort -u | paste -sd,)
ncu --clock-control none --cache-control none -k bench --csv --page raw --print-units base \
  --metrics "$metrics,gpu__time_duration.sum,lts__t_sectors_srcunit_ltcfabric.sum,sm__cycles_active.sum,sm__cycles_elapsed.sum" \
  "$program" calibrate --launch-once >"$out/kernels.raw" 2>"$out/ncu.err" || { tail -5 "$out/ncu.err" "$out/kernels.raw"; exit 1; }
grep -v '^"' "$out/kernels.raw" | grep -v '^==' >"$out/kernels.txt" || true
grep '^"' "$out/kernels.raw" | gzip -9 >"$out/kernels.ncu.csv.gz"
rm -f "$out/kernels.raw"
"$program" calibrate --points "$out/points.jsonl" --seed "$seed"
