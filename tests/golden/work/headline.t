The headline of work in analyze: achieved operations a second, utilization, items and tokens per second, from recorded sizes.

  $ gpufathom analyze "$EXAMPLES/resnet50_amp_eager_b64.json.gz" --format json > analysis.json
  $ jq -c '.work | [(.flops_per_s / 1e9 | round), .flops_source, (.mfu * 1e6 | round), .peak_type, .peak_flops_per_s, .coverage], (.throughput | [.items, .items_source, (.items_per_s | round), .tokens_per_s, .flops_per_item])' analysis.json
  [31209,"model",31542,"bf16",989429760000000,1]
  [64,"shapes",1284,null,24299077632]
  $ gpufathom analyze "$EXAMPLES/bert_amp_eager_b32.json.gz" --format json | jq -c '.work.throughput | [.items, .tokens, (.items_per_s | round), (.tokens_per_s | round)]'
  [32,4096,530,67899]

They are the numbers of the whole answer:

  $ for capture in "$EXAMPLES"/resnet50_amp_eager_b64.json.gz "$EXAMPLES"/bert_amp_eager_b32.json.gz "$EXAMPLES"/lenet_train_b64.json.gz "$TESTDIR"/../../work/captures/h200/*.json.gz; do
  >   gpufathom analyze "$capture" --window steps --format json > short.json; gpufathom work "$capture" --window steps --format json > whole.json
  >   jq -c -s '.[0].work as $short | .[1] as $whole | [($short.mfu - $whole.accounts[0].mfu | fabs) < 1e-6, $short.coverage == $whole.accounts[0].coverage, $short.throughput == $whole.throughput, ($short.memory | map([.device, .headroom, .fitting_batch])) == ($whole.memory | map([.device, .headroom, .fitting_batch]))]' short.json whole.json
  > done
  [true,true,true,true]
  [true,true,true,true]
  [true,true,true,true]
  [true,true,true,true]
  [true,true,true,true]
  [true,true,true,true]

In text it stands under the ladder:

  $ LC_ALL=C gpufathom analyze "$EXAMPLES/resnet50_amp_eager_b64.json.gz" | grep -A 4 'tensor FLOP/s of peak'
    tensor FLOP/s of peak     #                                              3.2 %
    achieved occupancy        ######?                                     ~14-17 %
    31.21 TFLOP/s from operator shapes (model): MFU (model operations / peak x
    time) 3.2 % of 989.4 TFLOP/s in bf16. 1 284 items per second (64 per step from
    its shapes), 24.3 GFLOP per item. See also: gpufathom work.

A GPU that could not have done it: no MFU, and the reason.

  $ zcat "$EXAMPLES/resnet50_amp_eager_b64.json.gz" | sed 's/NVIDIA H200/Tesla T4/' > slower.json
  $ LC_ALL=C gpufathom analyze slower.json | grep -A 4 'from operator shapes'
    31.21 TFLOP/s from operator shapes (model), more than its kernels had time for
    at the peak (65.13 TFLOP/s in fp16): the sizes or the GPU's name are not those
    of this run, and there is no MFU. 1 284 items per second (64 per step from its
    shapes), 24.3 GFLOP per item. See also: gpufathom work.
    ~ estimated from the launches' grids, blocks, registers and shared memory
  $ gpufathom work slower.json | tail -3
  
  no data: MFU: kernels would have done more operations than their time allows at
  the peak, so the sizes or the GPU's name are not those of this run

Counters and sizes: both numbers, each under its name.

  $ captures="$TESTDIR/../../work/captures/h200"
  $ gpufathom analyze "$captures/odd_sizes.json.gz" --counters "$captures/odd_sizes.ncu.csv.gz" --window steps --format json | jq -c '.work | [.flops_source, .measured_flops_per_s > .flops_per_s]'
  ["model",true]

Counters without sizes: what they saw, and no utilization by a model.

  $ zcat "$captures/odd_sizes.json.gz" | python3 -c 'import json, sys; trace = json.load(sys.stdin); [event.get("args", {}).pop("Input Dims", None) for event in trace["traceEvents"]]; json.dump(trace, open("bare.json", "w"))'
  $ gpufathom analyze bare.json --counters "$captures/odd_sizes.ncu.csv.gz" --window steps --format json | jq -c '.work | [.flops_source, .flops_per_s == .measured_flops_per_s, .flops_per_s > 1e12, .mfu]'
  ["measured",true,true,null]

Neither: no data.

  $ gpufathom analyze bare.json --format json | jq -c '.work | [.flops_per_s, .flops_source, .mfu, .throughput.items_per_s]'
  [null,"",null,null]
  $ gpufathom analyze bare.json --batch 64 --format json | jq -c '.work.throughput | [.items, .items_source, .items_per_s > 0]'
  [64,"option",true]

Items by the shapes make joules an item in energy, and items and operations a second in compare.

  $ awk 'BEGIN { print "unix_time_s,power_instant_w,energy_mj,sm_clock_mhz,temp_c"; for (i = 0; i < 40; ++i) printf "%.3f,240,%d,1980,41\n", 1795186726.9 + i / 10, 24000 * i }' > power.csv
  $ gpufathom energy "$EXAMPLES/resnet50_amp_eager_b64.json.gz" --power power.csv --format json | jq -c '.energy.devices[0].step | [(.joules * 1000 | round), (.joules_per_item * 1000 | round)]'
  [11959,187]
  $ gpufathom compare "$EXAMPLES/resnet50_amp_eager_b64.json.gz" "$EXAMPLES/resnet50_amp_compile_b64.json.gz" --full | grep -A 5 '^Result'
  Result
                            A              B
    items            1 284 /s       1 504 /s
    operations  31.21 TFLOP/s  36.56 TFLOP/s
    MFU                 3.2 %          3.7 %
  
  $ gpufathom compare "$EXAMPLES/resnet50_amp_eager_b64.json.gz" "$EXAMPLES/resnet50_amp_compile_b64.json.gz" --format json | jq -c '.runs[] | [.batch, (.items_per_s // 0 | round), .tokens_per_s, (.flops_per_s / 1e9 | round), (.mfu * 1e4 | round)]'
  [64,1284,null,31209,315]
  [64,1504,null,36557,369]

Room in the memory is a finding where the GPU is little used. Its numbers are those of the raw events: what was reserved at most, of what the device has.

  $ gpufathom analyze "$captures/written_out_attention.json.gz" --format json | jq -r '.findings[] | select(.id == "room_in_memory") | .text, .evidence'
  At its peak 0.5 % of GPU memory is allocated: a larger batch, or several programs on one GPU, would fit. About 8 392 items a step would.
  731.9 MB of 150.11 GB; 419.8 MB of it are activations and temporary memory of 32 items a step
  $ zcat "$captures/written_out_attention.json.gz" | jq -c '[([.traceEvents[] | select(.name == "[memory]" and .args["Device Type"] == 1) | .args["Total Reserved"]] | max), .deviceProperties[0].totalGlobalMem]'
  [731906048,150109880320]

Without memory events nothing is said.

  $ jq -c '.work.memory, [.findings[] | select(.id == "room_in_memory")]' analysis.json
  []
  []

The peaks of AMD's matrix cores are known, too; what ROCm calls a compute capability of 9.4 is no Hopper. Here a product of 8192 x 8192 x 8192 in bf16 in 900 us: 2 x 8192^3 operations are 1.22 PFLOP/s.

  $ cat > amd.py <<'PY'
  > import json
  > events = []
  > for step in range(4):
  >     at, shared = 1000 + 1000 * step, {"External id": step + 1, "correlation": 100 + step}
  >     events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": 990},
  >                {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at + 10, "dur": 50, "args": {"External id": step + 1, "Input Dims": [[8192, 8192], [8192, 8192]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
  >                {"ph": "X", "cat": "cuda_runtime", "name": "hipModuleLaunchKernel", "pid": 1, "tid": 1, "ts": at + 20, "dur": 10, "args": shared},
  >                {"ph": "X", "cat": "kernel", "name": "Cijk_Alik_Bljk_BBS_BH_MT256x256x64_MI16x16x1", "pid": 0, "tid": 7, "ts": at + 60, "dur": 900, "args": {**shared, "device": 0, "stream": 7, "grid": [4096, 1, 1], "block": [256, 1, 1]}}]
  > device = {"id": 0, "name": "AMD Instinct MI300X", "computeMajor": 9, "computeMinor": 4, "numSms": 304, "warpSize": 64}
  > json.dump({"deviceProperties": [device], "traceEvents": events}, open("mi300x.json", "w"))
  > PY
  $ python3 amd.py
  $ gpufathom work mi300x.json | sed -n '/MFU/,/PFLOP/p;/^Roofline/,$p'
    MFU 84.3 % (HFU 84.3 %) of 1.307 PFLOP/s in bf16 on AMD Instinct MI300X: 1.102
    PFLOP/s.
  Roofline                                              ceilings of the data sheet
    kernel                         time   FLOP/s  bytes/s  of its ceiling  ceiling
    Cijk_Alik_Bl..4_MI16x16x1  3.600 ms  1.222 P  447.4 G          93.4 %  compute
  $ gpufathom work mi300x.json --json | jq -c '[.ceilings[] | [.id, .value]]'
  [["tensor.fp64",163430400000000],["tensor.tf32",653721600000000],["tensor.fp16",1307443200000000],["tensor.bf16",1307443200000000],["tensor.fp8",2614886400000000],["tensor.int8",2614886400000000],["fma.fp32",163430400000000],["dram",5300000000000]]
