  $ needs-corpus || exit 80
  $ findings() { gpufathom analyze --format json "$GPUFATHOM_CORPUS/public/$1.json.gz"; }

Data-parallel training with NCCL: communication that nothing overlaps.

  $ findings hta_a100_nccl | jq -r '.findings[] | select(.id == "exposed_communication") | .text, .evidence, .gain_ns'
  Exposed communication takes 5.9 % of the time. Start it earlier or in smaller pieces (gradient buckets), overlap it with the backward pass, or communicate less.
  39.6 ms of 46.9 ms communication is exposed
  39559468

The same training with the input in the main process, and with four workers:

  $ findings kineto_v100_resnet50_workers0 | jq -r '[.findings[].id | select(. == "input_bound")]' -c
  ["input_bound"]
  $ findings kineto_v100_resnet50_workers4 | jq -r '[.findings[].id | select(. == "input_bound")]' -c
  []

No tensor cores for TF32 on a V100: the advice is FP16.

  $ findings hta_v100_ns_resolution | jq -r '.findings[] | select(.id == "fp32_without_tensor_cores") | .text'
  58 % of kernel time multiplies matrices in FP32 outside the tensor cores. Use torch.autocast in FP16, if the accuracy of the model permits.

On an AMD device the command is that of rocprof-compute, none of Nsight Compute:

  $ findings hta_mi250_rocm | jq -c '[.findings[].command | select(. != "")]'
  ["rocprof-compute profile -n run -- python train.py"]

Every sum is exact in every trace of the corpus:

  $ for f in "$GPUFATHOM_CORPUS"/public/*.json.gz; do case "$f" in *cpu_only*) continue ;; esac; gpufathom analyze --format json "$f" | jq -c '(.devices | map(.kernel_busy_ns) | add) as $busy | [([.layer_types, .layers, .kernels] | map(([.[].ns] | add // 0) - $busy)[]), (.devices[] | .span_ns - (.waterfall | map(.ns) | add))] | unique'; done | sort -u
  [0]
