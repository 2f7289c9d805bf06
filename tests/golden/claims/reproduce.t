Statements of a publication, judged over a table of runs. Every rule is recomputed from the committed tables by tests/claims/recomputed.py.

  $ cat > runs.json <<'END'
  > {"schema": "gpufathom.sweep-table/1", "gpu_memory_bytes": 4e9, "rows": [
  >  {"model": "net", "framework": "pytorch", "mode": "eager", "precision": "fp32", "batch": 64, "step_s": 0.064, "memory_bytes": 2e9, "levels": {"gpu.busy": 0.80, "sm.active_any": 0.45, "issue.active": 0.30}},
  >  {"model": "net", "framework": "pytorch", "mode": "eager", "precision": "fp32", "batch": 128, "step_s": 0.128, "memory_bytes": 4e9, "levels": {"gpu.busy": 0.95, "sm.active_any": 0.90, "issue.active": 0.45}},
  >  {"model": "net", "framework": "pytorch", "mode": "eager", "precision": "tf32", "batch": 128, "step_s": 0.040, "memory_bytes": 4e9},
  >  {"model": "net", "framework": "pytorch", "mode": "eager", "precision": "amp", "batch": 128, "step_s": 0.064, "memory_bytes": 2e9}]}
  > END
  $ gpufathom reproduce date24 runs.json | head -48
  Multi-Level Analysis of GPU Utilization in ML Training Workloads, DATE 2024
  4 rows of runs.json judge 27 statements: 4 hold, 2 hold in part, 0 are within
  noise, 3 do not hold, 18 are not measured.
  "ours" is the same by the tables that ship: utilization_h100.json,
  utilization_h200.json.
  
    1 holds
      A GPU with enough memory saturates throughput: the last doubling of the
      batch buys next to nothing.
      VI.A, takeaway 1; original: 1024 to 2048 images: +3 % throughput for 1.98
      times the memory; A100, TF XLA.
      holds: Throughput over the last doubling of the batch (at most 1.05 times):
      1 of 1, 1.00 times (net fp32 b128).
        ours: within noise, 25 of 26, 0.92 times to 1.07 times
      holds: Memory over the last doubling of the batch (at least 1.50 times): 1
      of 1, 2.00 times (net fp32 b128).
        ours: holds, 24 of 24, 1.91 times to 1.99 times
      Left out, one row in its series: net amp b128; net tf32 b128.
  
    2 holds in part
      Compilation and mixed precision raise throughput by fitting larger batches
      into memory.
      VI.A, takeaway 2; original: mixed precision: about 50 % of the memory, 1.5
      times the throughput at the same batch (A100, PyTorch; batches with over
      10 % of the memory); XLA: 48 % of the GPU's memory, TF eager 65 %, 8 times
      the throughput.
      holds: Throughput at the best batch, mixed precision over FP32 (at least
      1.00 times): 1 of 1, 2.00 times (net amp b128).
        ours: holds, 5 of 5, 2.20 times to 5.66 times
      does not hold: Throughput at the best batch, mixed precision over TF32 (at
      least 1.00 times): 0 of 1, 0.62 times (net amp b128).
        ours: holds, 5 of 5, 1.23 times to 2.25 times
      not measured: Throughput at the best batch, compiled over eager (at least
      1.00 times).
        ours: holds, 5 of 5, 1.09 times to 1.51 times
      does not hold: Largest batch that fits, mixed precision over FP32, doubled
      at least (at least 2.00 times): 0 of 1, 1.00 times (net amp b128).
        ours: does not hold, 3 of 5, 1.00 times to 2.00 times
      not measured: Largest batch that fits, compiled over eager, doubled at least
      (at least 2.00 times).
        ours: does not hold, 0 of 5, 1.00 times to 1.00 times
      not measured: Memory at the same batch, mixed precision over FP32, ResNet-50
      (0.40 times to 0.60 times).
        ours: holds, 5 of 5, 0.51 times to 0.52 times
      holds: Memory at the same batch, mixed precision over FP32, other models
      (0.40 times to 0.60 times): 1 of 1, 0.50 times (net amp b128).
        ours: does not hold, 0 of 12, 0.62 times to 0.71 times
      holds: Throughput at the same batch, mixed precision over FP32 (at least
  $ gpufathom reproduce date24 runs.json --format json | jq -c '.schema, .study, .sources, .rows, (.claims[] | [.id, .verdict])'
  "gpufathom.reproduction/1"
  "date24"
  ["runs.json"]
  4
  ["1","holds"]
  ["2","partly"]
  ["3","not_measured"]
  ["4","not_measured"]
  ["5","does_not_hold"]
  ["6","partly"]
  ["7","not_measured"]
  ["a1","holds"]
  ["a2","holds"]
  ["a3","not_measured"]
  ["s1","does_not_hold"]
  ["f1","does_not_hold"]
  ["b1","not_measured"]
  ["b2","holds"]
  ["b3","not_measured"]
  ["b4","not_measured"]
  ["b5","not_measured"]
  ["b6","not_measured"]
  ["b7","not_measured"]
  ["f2","not_measured"]
  ["b8","not_measured"]
  ["b9","not_measured"]
  ["b10","not_measured"]
  ["b11","not_measured"]
  ["b12","not_measured"]
  ["b13","not_measured"]
  ["b14","not_measured"]

A folder stands for its tables; what is beside them is not read.

  $ mkdir all && mv runs.json all && echo '{"rows": [{"batch": 1, "step_s": 2}]}' > all/other.json
  $ gpufathom reproduce date24 all --format json | jq -c '.sources, .rows'
  ["runs.json"]
  4

Captures are runs too.

  $ cp "$EXAMPLES"/resnet50_amp_eager_b64.json.gz "$EXAMPLES"/resnet50_amp_compile_b64.json.gz .
  $ gpufathom reproduce date24 resnet50_amp_*.json.gz --format json | jq -c '.claims[] | select(.verdict != "not_measured") | .id, (.rules[] | select(.count > 0) | [.about, .verdict, .count])'
  "a1"
  ["GPU active at the batch with the highest throughput","does_not_hold",2]
  "s1"
  ["Runs of a configuration","does_not_hold",2]

Other studies read any list of rows in JSON; Markdown is what docs/studies holds.

  $ echo '{"rows": [{"name": "none", "median_seconds": 2, "gpu_memory_bytes": 100}, {"name": "ncu", "median_seconds": 30}, {"name": "monitor", "gpu_memory_bytes": 101, "measured_slow_down": 0.002, "noise": 0.003}]}' > overhead.json
  $ gpufathom reproduce itu23 overhead.json --format md | sed -n "/^## 9/,$ p"
  ## 9. slides 4 and 6: holds
  
  Nsight Compute intrudes: it replays the program's kernels.
  Original: left out of the measurements for it.
  
  - **holds**: Time of the run, Nsight Compute over none (at least 2.00 times): 1 of 1, 15 times
    (ncu).
  
  ## 10. slides 8 and 14: not measured
  
  One iteration may be enough to show how a training behaves.
  Original: said without numbers.
  
  - **not measured**: Kernel time of a profiled step, of the run's mean (95.0 % to 105.0 %).
  
  Needs: one profiled step and the whole run (step_over_run):
  `examples/studies/utilization/counted.py`.
  
  ## 11. slide 9: not measured
  
  The space that tools take follows the time that they take.
  Original: said without numbers; A100.
  
  - **not measured**: Rank correlation of disk space and slowdown of a step over the tools of a
    program (0.7 to 1).
  
  Needs: `gpufathom overhead -o FILE.json -- python train.py`.

What is wrong is said.

  $ gpufathom reproduce date25 all
  gpufathom: STUDY: 'date25' is not one of date24, dsd22, asap24, itu23: did you mean date24? (see gpufathom reproduce --help)
  [2]
  $ gpufathom reproduce itu23 all
  gpufathom: nothing there has a number that itu23 needs (it needs one of: grids of one block (1x1, 1x1024): `gpufathom record` and `nvidia-smi` beside one kernel that spins; nvidia_smi, sm.active, issue.active; `gpufathom overhead -o FILE.json -- python train.py`; the GPU's utilization: `gpufathom overhead -o FILE.json -- python train.py`; one profiled step and the whole run (step_over_run): `examples/studies/utilization/counted.py`)
  [1]
  $ echo '[' > broken.json; gpufathom reproduce dsd22 broken.json
  gpufathom: broken.json: is not JSON (docs/claims.md names the tables of each study)
  [1]
  $ gpufathom reproduce itu23 overhead.json -o overhead.json
  gpufathom: overhead.json is an input and would be overwritten: choose another output file
  [2]

One capture with its counter report decides what needs no series; the measurements that ship stand beside it:

  $ gpufathom reproduce date24 "$EXAMPLES/resnet50_amp_eager_b64.json.gz" --counters "$EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz" --json > one.json
  $ jq -c '.sources, .shipped, (.claims[] | select(.verdict != "not_measured") | [.id, .verdict, .shipped])' one.json
  ["resnet50_amp_eager_b64.json.gz"]
  ["utilization_h100.json","utilization_h200.json"]
  ["5","partly","partly"]
  ["6","partly","does_not_hold"]
  ["7","partly","partly"]
  ["a1","does_not_hold","holds"]
  ["a2","holds","does_not_hold"]
  ["a3","holds","holds"]
  ["s1","does_not_hold","does_not_hold"]
  ["b5","holds","does_not_hold"]
  ["b6","does_not_hold","does_not_hold"]
  ["b7","does_not_hold","does_not_hold"]
  ["b11","partly","partly"]
  ["b12","holds","partly"]
  ["b13","holds","holds"]
  ["b14","partly","partly"]
  $ gpufathom reproduce date24 "$EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz" "$EXAMPLES/resnet50_amp_eager_b64.json.gz" --json | cmp - one.json
  $ (cd "$EXAMPLES" && gpufathom reproduce date24 gemm_types.ncu.csv.gz)
  gpufathom: gemm_types.ncu.csv.gz: no capture goes with this counter report (name the trace of the same program before it, or pass it with --counters)
  [1]

A profile of TensorFlow, an answer about it, and a recording with energy:

  $ tar xzf "$EXAMPLES/tf_lenet_eager.tgz"
  $ gpufathom reproduce dsd22 lenet5_async_b1 --json | jq -c '.sources, (.claims[] | select(.verdict != "not_measured") | [.id, .verdict, .rules[0].lowest])'
  ["lenet5_async_b1"]
  ["7","does_not_hold",0.11448602084281176]
  ["9","holds",0.9891472595551402]
  $ gpufathom analyze lenet5_async_b1 --json > lenet5_async_b1.json
  $ gpufathom reproduce dsd22 lenet5_async_b1.json --json | jq -c '.sources, (.claims[] | select(.verdict != "not_measured") | [.id, .verdict, .rules[0].lowest])'
  ["lenet5_async_b1.json"]
  ["7","does_not_hold",0.11448602084281176]
  ["9","holds",0.9891472595551402]
  $ gpufathom reproduce asap24 "$EXAMPLES/resnet50_fp32_b512_energy.gpf.gz" --json 2>/dev/null | jq -c '.claims[] | select(.verdict != "not_measured") | [.id, .verdict, .shipped]'
  ["9","does_not_hold","does_not_hold"]
  ["10","does_not_hold","does_not_hold"]
  ["14","partly","partly"]

A folder gives its captures with the reports of the same name, and its tables:

  $ mkdir folder && echo '{"schema": "gpufathom.sweep-table/1", "rows": [{"model": "net", "batch": 64, "step_s": 0.1}]}' > folder/runs.json && cp "$EXAMPLES"/lenet_train_b64.json.gz "$EXAMPLES"/lenet_train_b64.base.ncu.csv.gz "$EXAMPLES"/gemm_types.ncu.csv.gz folder
  $ gpufathom reproduce date24 folder --json | jq -c '.sources, .rows, (.claims[] | select(.id == "7") | .rules[0].count)'
  ["runs.json","lenet_train_b64.json.gz"]
  2
  1

Without a study: what there is. Without files: the measurements that ship. Every need names a command.

  $ gpufathom reproduce | head -12
  Statements of four publications, each a rule that measured runs decide. Here
  they are judged by the measurements that ship with gpufathom; with your own
  files the same rules judge your runs, beside ours.
  
    date24
      Multi-Level Analysis of GPU Utilization in ML Training Workloads, DATE 2024.
      286 rows of utilization_h100.json, utilization_h200.json judge 27
      statements: 7 hold, 10 hold in part, 1 is within noise, 9 do not hold, 0 are
      not measured.
      Yours: gpufathom reproduce date24 TRACE --counters REPORT,
      MODEL_MODE_PRECISION_bN.gpf of several batches, or a folder of them.
  
  $ gpufathom reproduce date24 --json | jq -c '.sources, .shipped'
  ["utilization_h100.json","utilization_h200.json"]
  []
  $ for study in date24 dsd22 asap24 itu23; do gpufathom reproduce $study --json | jq -r '.claims[] | select(.needs | test("`(gpufathom|examples/)") | not) | .id'; done
  $ gpufathom reproduce itu23 "$EXAMPLES/lenet_inf_b1.json.gz" 2>&1 | cut -c1-60
  gpufathom: nothing there has a number that itu23 needs (it n

The page draws the publication's figures of the same rows, with its own numbers and ours; the text names them.

  $ gpufathom reproduce date24 "$EXAMPLES/resnet50_amp_eager_b64.json.gz" --counters "$EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz" | tail -1
  Drawn on the page (-o page.html): figures 1; 5; 6; 7; 8.
  $ jq -c '.figures[] | [.id, .kind, (.panels | length)]' one.json
  ["1","lines",2]
  ["5","bars",1]
  ["6","course",1]
  ["7","groups",4]
  ["8","course",1]
  $ jq -c '.figures[] | select(.id == "7") | .panels[0].lines[0] | .from, (.points | map([.name, (.y * 1000 | round)]))' one.json
  "yours"
  [["Activation",855],["Convolution",775],["Copy",330],["Elementwise",868],["Loss",23],["MatMul",327],["Normalization",800],["Optimizer",674],["Pooling",964],["Softmax",58]]
  $ gpufathom reproduce dsd22 lenet5_async_b1 --json | jq -c '.figures[] | [.id, (.panels | map([.title, (.lines | map(.from) | unique)]))]'
  ["3.4, top",[["Time in kernels, CPU alone",["ours","yours"]]]]
  ["3.3 and 3.4, top",[["",["ours","yours"]]]]
  ["3.4, bottom",[["Time of an item, CPU alone",["ours","yours"]]]]
  ["3.5",[["Enqueuing an operation",["ours","paper","yours"]],["Dequeuing an operation",["ours","paper","yours"]],["CPU kernels of an operation",["yours"]]]]
  ["3.6, use of the queue",[["Empty scheduling queue",["ours","yours"]]]]
  ["3.6, empty",[["",["ours","yours"]]]]
  ["3.6, loaded",[["",["ours","yours"]]]]
  ["3.7",[["Operations in the scheduling queue",["ours","yours"]]]]
  $ zcat "$EXAMPLES"/../docs/results/energy/h200-2026-11-21f.points.jsonl.gz > board.points.jsonl
  $ gpufathom reproduce asap24 board.points.jsonl --json | jq -c '(.claims[] | select(.verdict != "not_measured") | .id), (.figures[] | [.id, (.panels[] | .lines | length)])'
  "17"
  ["5.4",2]
  ["5.6",12]
  ["5.7",2,6]
  $ echo 'not JSON' > bad.points.jsonl; gpufathom reproduce asap24 bad.points.jsonl
  gpufathom: bad.points.jsonl: is not JSON (docs/claims.md names the tables of each study)
  [1]
