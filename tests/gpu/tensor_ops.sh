#!/usr/bin/env bash
# Counted tensor operations against arithmetic, and a report of a ResNet-50 step with every counter of the ladder: tests/gpu/tensor_ops.sh PROGRAM OUT_DIR
# The metrics are those that `gpufathom analyze` asks for when a report is missing, and the two ways to read the tensor pipe.
set -uo pipefail
program=$1 out=$2
mkdir -p "$out"
here=$(dirname "$0")
metrics=$("$program" analyze "$here"/../../examples/resnet50_amp_eager_b64.json.gz --format json | grep -o -- '--metrics [^ ]*' | head -1 | cut -d' ' -f2)
metrics+=,sm__cycles_elapsed.sum,sm__cycles_active.sum,smsp__inst_executed.sum,sm__warps_active.avg.pct_of_peak_sustained_elapsed
metrics+=,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active,smsp__issue_active.avg.pct_of_peak_sustained_elapsed
metrics+=,sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed,dram__bytes_read.sum,dram__bytes_write.sum
collect() {  # NAME COMMAND...: a report, and its raw page in both forms
  local name=$1; shift
  ncu --profile-from-start off --clock-control none --cache-control none --metrics "$metrics" -f -o "$out/$name" "$@"
  ncu --import "$out/$name.ncu-rep" --csv --page raw --print-units base >"$out/$name.base.ncu.csv"
  gzip -f "$out/$name.base.ncu.csv"
}
collect gemm_types python3 "$here"/tensor_ops.py | tee "$out/gemm_types.txt"
grep '^{' "$out/gemm_types.txt" >"$out/gemm_types.jsonl"
collect resnet50_amp_eager_b64_ops python3 "$here"/workload.py --model resnet50 --batch 64 --sync --ncu --warmup 4 --steps 2
rm -f "$out"/resnet50*.ncu-rep "$out/gemm_types.txt"
gzip -f "$out"/*.ncu-rep
