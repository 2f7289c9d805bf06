What to change, with evidence. A rule fires only when its numbers reach a threshold (docs/findings.md).

  $ ids() { gpufathom analyze --format json "$EXAMPLES/$1.json.gz" | jq -r '[.findings[].id] | join(" ")'; }
  $ ids resnet50_amp_eager_b64
  unfused_elementwise launch_bound missing_counters observer_effect
  $ ids resnet50_fp32_eager_b64
  fp32_without_tensor_cores kernel_bound missing_counters
  $ ids resnet50_amp_compile_b64
  launch_bound missing_counters observer_effect
  $ ids bert_amp_eager_b32
  launch_bound casts odd_sizes missing_counters observer_effect
  $ ids lenet_train_b64
  launch_bound small_batch fp32_without_tensor_cores missing_counters observer_effect
  $ ids lenet_inf_b1
  launch_bound small_batch tiny_kernels missing_counters observer_effect

The order is by replay. What has the change of one above, or leaves nothing once that is made, says so; caveats have no number:

  $ gpufathom analyze --format json "$EXAMPLES/lenet_inf_b1.json.gz" | jq -r '.findings[] | select(.follows != "") | .id, .follows'
  tiny_kernels
  launch_bound
  $ COLUMNS=80 gpufathom analyze "$EXAMPLES/lenet_inf_b1.json.gz" | grep -E '^ +[0-9]+[.] |^  - |^Caveats' | cut -c1-40
    1. Launch-bound: the GPU waits for the
    2. A step has too little work for the 
    3. 93 % of the kernels run for less th
  Caveats
    - The trace shows GPU active only. Uti
    - The trace shows 96 % idle, but a pro

FP32 outside the tensor cores, by kernel name:

  $ gpufathom analyze --format json "$EXAMPLES/resnet50_fp32_eager_b64.json.gz" | jq -r '.findings[] | select(.id == "fp32_without_tensor_cores") | .text, .evidence, .gain_ns'
  72 % of kernel time multiplies matrices in FP32 outside the tensor cores. Allow TF32 (torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.allow_tf32) or use torch.autocast in BF16, if the accuracy of the model permits.
  164 ms of 176 ms in convolutions, matrix products and attention, by kernel name; most in dgrad_engine 36.7 ms, wgrad_alg0_engine 32.9 ms, sm80_xmma_fprop_implicit_gemm_f32f32_f32..ecute_kernel__5x_cudnn 24.7 ms
  163756580

The command that collects all that the ladder needs, made for the chip:

  $ gpufathom analyze --format json "$EXAMPLES/lenet_inf_b1.json.gz" | jq -r '.findings[] | select(.id == "missing_counters") | .command'
  ncu --launch-skip 75 --launch-count 15 --clock-control none --cache-control none --metrics gpu__time_duration.sum,smsp__cycles_elapsed.sum,smsp__cycles_active.sum,smsp__issue_active.sum,sm__pipe_tensor_cycles_active.sum,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,sm__inst_executed_pipe_tensor.sum,sm__ops_path_tensor_src_fp64.sum,sm__ops_path_tensor_src_tf32_dst_fp32.sum,sm__ops_path_tensor_src_fp16.sum,sm__ops_path_tensor_src_bf16_dst_fp32.sum,sm__ops_path_tensor_src_fp8.sum,sm__ops_path_tensor_src_int8.sum --csv --page raw --log-file counters.csv python train.py

A report that lacks a level: one report has to hold all, so the command is the same.

  $ gpufathom analyze --format json "$EXAMPLES/lenet_train_b64.json.gz" --counters "$EXAMPLES/lenet_train_b64.base.ncu.csv.gz" | jq -r '.findings[] | select(.id == "missing_levels") | .text'
  The report has no counters for tensor.flops. Collect them for the same step and pass that report with --counters.

With counters: what the memory and the tensor cores do, and whether the counters belong to the trace. The last report lacks the
kernels of 200 lines.

  $ with() { gpufathom analyze --format json "$EXAMPLES/$1.json.gz" --counters "$2" 2>/dev/null | jq -r '[.findings[].id] | map(select(. == ("memory_bound", "low_tensor_use", "different_program", "weak_matching"))) | join(" ")'; }
  $ with resnet50_amp_eager_b64 "$EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz"
  memory_bound
  $ with lenet_train_b64 "$EXAMPLES/lenet_train_b64.base.ncu.csv.gz"
  
  $ with bert_amp_eager_b32 "$EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz"
  different_program
  $ zcat "$EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz" | sed 200,399d > part.ncu.csv
  $ with resnet50_amp_eager_b64 part.ncu.csv
  low_tensor_use memory_bound weak_matching

As text it can be copied as it is:

  $ gpufathom analyze "$EXAMPLES/lenet_inf_b1.json.gz" --full | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | grep -c -E '^ncu .* gpu__time_duration.sum,smsp__cycles_elapsed.sum,[a-z0-9_.,]*int8.sum --csv .* python train.py$'
  1

No finding gives back more than the window:

  $ for f in "$EXAMPLES"/*.json.gz; do gpufathom analyze --format json "$f" | jq '(.devices | map(.span_ns) | add) as $window | [.findings[] | select(.gain_ns != null and (.gain_ns > $window or .gain_ns <= 0))] | length'; done | sort -u
  0

A trace that holds every tenth event of a run says so, and gives no advice.

  $ zcat "$EXAMPLES/resnet50_amp_eager_b64.json.gz" | jq -c '.traceEvents |= (map(select(.ph != "X")) + (map(select(.ph == "X")) | [.[range(0; length; 10)]]))' > tenth.json
  $ gpufathom analyze --format json tenth.json | jq -r '[.findings[].id], (.findings[] | select(.id == "launches_not_captured") | .text)'
  [
    "launches_not_captured",
    "missing_counters"
  ]
  The capture lacks the launches of 412 of the GPU's activities. The GPU idles 96 % of the time before them, for unknown reasons. They are missing throughout, so this may be a sample of the events of a run: its times and shares are not the run's.

The calls and settings that a recommendation names are those of the capture's framework:

  $ fields="$ROOT/tests/advice/fields"
  $ texts() { gpufathom analyze "$1" --format json | python3 -c 'import json, sys; print(*[f["text"] for f in json.load(sys.stdin)["findings"] if f["id"] in sys.argv[1:]], sep="\n")' "$2"; }
  $ texts "$fields"/jax_highest.xplane.pb.gz fp32_without_tensor_cores
  99 % of kernel time multiplies matrices in FP32 outside the tensor cores. Allow TF32 (jax.default_matmul_precision("tensorfloat32"), no precision=HIGHEST) or use BF16, if the accuracy of the model permits.
  $ texts "$fields"/jax_by_operator.xplane.pb.gz launch_bound
  Launch-bound: the GPU waits for the host to launch the next kernel 56 % of the time. Launch less often: put the whole step into one jax.jit, run several steps in one call (jax.lax.scan), or use a larger batch.
  $ texts "$fields"/jax_to_numpy.xplane.pb.gz input_bound
  Input-bound: the GPU waits for input 16 % of the time. Load the next batch and copy it (jax.device_put) while the step runs.
