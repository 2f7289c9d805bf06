#!/usr/bin/env bash
# Counted tensor operations against arithmetic, for every input type: bench/gpu/tensor_ops.sh PROGRAM OUT_DIR makes examples/gemm_types.*
# The metrics are those that `gpufathom analyze` asks for when a report is missing, and the two ways to read the tensor pipe.
set -uo pipefail
program=$1 out=$2
mkdir -p "$out"
here=$(dirname "$0")
metrics=$("$program" analyze "$here"/../../examples/resnet50_amp_eager_b64.json.gz --format json | grep -o -- '--metrics [^ ]*' | head -1 | cut -d' ' -f2)
metrics+=,sm__cycles_elapsed.sum,sm__cycles_active.sum,smsp__inst_executed.sum,sm__warps_active.avg.pct_of_peak_sustained_elapsed
metrics+=,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active,smsp__issue_active.avg.pct_of_peak_sustained_elapsed
metrics+=,sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed,dram__bytes_read.sum,dram__bytes_write.sum
ncu --profile-from-start off --clock-control none --cache-control none --metrics "$metrics" -f -o "$out/gemm_types" python3 "$here"/tensor_ops.py |
  tee /dev/stderr | grep '^{' >"$out/gemm_types.jsonl"
ncu --import "$out/gemm_types.ncu-rep" --csv --page raw --print-units base | gzip >"$out/gemm_types.ncu.csv.gz"
