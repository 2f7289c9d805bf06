The ladder of ResNet-50 against an independent calculation from the raw files:

  $ gpufathom analyze --window all --format json "$EXAMPLES/resnet50_amp_eager_b64.json.gz" --counters "$EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz" > resnet.json
  $ python3 "$ROOT/tests/oracle/ladder.py" "$EXAMPLES/resnet50_amp_eager_b64.json.gz" "$EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz" resnet.json
  gpu.busy         0.304639 equal
  gpu.kernel_time  0.304822 equal
  sm.active        0.242552 by cycles 0.236019 equal
  issue.active     0.083168 by cycles 0.081953 equal
  tensor.active    0.040179 by cycles 0.034958 equal
  tensor.issue     0.002769 by cycles 0.002472 equal

The waterfall sums to the window; so do the parts of every bar to the bar.

  $ jq -r '.devices[] | "\(.span_ns) \(.waterfall | map(.ns) | add)", (.waterfall[] | "\(.id) \(.ns) \(([.parts[].ns] | add // 0) - .ns) \(if .kernels == [] then 0 else (.kernels | map(.ns) | add) - .ns end)")' resnet.json
  148452995 148452995
  idle 103075170 0 0
  copy 153188 0 0
  sm_inactive 9217048 0 0
  stalled 18226992 0 0
  other_instructions 11815880 0 0
  tensor 5964717 0 0
  unknown 0 0 0
  $ jq -r '.devices[0].waterfall[] | select(.id == "tensor") | .parts[:3][], .kernels[:3][] | "\(.name) \(.ns)"' resnet.json
  Convolution 5766192
  Normalization 192983
  Activation 2245
  cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc_align8 743680
  sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn 487451
  sm90_xmma_wgrad_indexed_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x64x64_warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn 350728

Levels inside layers, weighted by time:

  $ jq -r '.layer_types[:3][] | "\(.type): \([.levels[] | select(.id | test("active$")) | "\(.id) \(.value * 1000 | round / 10) %"] | join(", "))"' resnet.json
  Normalization: sm.active 80 %, issue.active 32.3 %, tensor.active 1 %, dram.active 33.8 %
  Convolution: sm.active 77.5 %, issue.active 20.3 %, tensor.active 40.5 %, dram.active 35.5 %
  Activation: sm.active 85.5 %, issue.active 21.7 %, tensor.active 0.1 %, dram.active 69.3 %

The curve of kernel time over tensor-issue utilisation ends at all of the time:

  $ jq -r '.tensor_curve | "\(length > 20) \(.[0].utilization) \(.[-1].time_share)", ([.[] | select(.utilization <= 0.01)] | last | .time_share * 1000 | round / 1000)' resnet.json
  true 0 1
  0.78

A report that lacks counters for a level names them and the command that collects them:

  $ jq -r '.levels[] | select(.id == "tensor.flops") | .value, .why_missing' resnet.json | cut -c1-150
  0.03176267600071076
  the report lacks sm__ops_path_tensor_src_fp64.sum,sm__ops_path_tensor_src_tf32_dst_fp32.sum,sm__ops_path_tensor_src_fp16.sum,sm__ops_path_tensor_src_b

The counters of another program are not used:

  $ gpufathom analyze --window all --format json "$EXAMPLES/resnet50_amp_eager_b64.json.gz" --counters "$EXAMPLES/lenet_train_b64.base.ncu.csv.gz" > other.json 2>/dev/null
  [1]
  $ jq -c '[.levels[] | select(.id == "sm.active") | .value, .high], [.findings[].id]' other.json
  [null,0.29039394125136164]
  ["unfused_elementwise","launch_bound","different_program","observer_effect"]

The three CSV exports and the details page of one report give the same ladder, to the digits that they keep:

  $ for page in base auto details; do gpufathom analyze --window all --format json "$EXAMPLES/lenet_train_b64.json.gz" --counters "$EXAMPLES/lenet_train_b64.$page.ncu.csv.gz" | jq -c '[.levels[] | select(.id | test("^(sm|issue|tensor)")) | .value | if . then . * 1000000 | round else . end]'; done
  [12041,5861,72,36,0]
  [12041,5861,72,36,0]
  [12041,5861,72,36,0]
