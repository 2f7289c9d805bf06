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
  4 rows of runs.json judge 19 statements: 4 hold, 2 hold in part, 0 are within
  noise, 3 do not hold, 10 are not measured.
  
    1 holds
      A GPU with enough memory saturates throughput: the last doubling of the
      batch buys next to nothing.
      VI.A, takeaway 1; original: 1024 to 2048 images: +3 % throughput for 1.98
      times the memory; A100, TF XLA.
      holds: Throughput over the last doubling of the batch (at most 1.05 times):
      1 of 1, 1.00 times (net fp32 b128).
      holds: Memory over the last doubling of the batch (at least 1.50 times): 1
      of 1, 2.00 times (net fp32 b128).
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
      does not hold: Throughput at the best batch, mixed precision over TF32 (at
      least 1.00 times): 0 of 1, 0.62 times (net amp b128).
      not measured: Throughput at the best batch, compiled over eager (at least
      1.00 times).
      does not hold: Largest batch that fits, mixed precision over FP32, doubled
      at least (at least 2.00 times): 0 of 1, 1.00 times (net amp b128).
      not measured: Largest batch that fits, compiled over eager, doubled at least
      (at least 2.00 times).
      not measured: Memory at the same batch, mixed precision over FP32, ResNet-50
      (0.40 times to 0.60 times).
      holds: Memory at the same batch, mixed precision over FP32, other models
      (0.40 times to 0.60 times): 1 of 1, 0.50 times (net amp b128).
      holds: Throughput at the same batch, mixed precision over FP32 (at least
      1.00 times): 1 of 1, 2.00 times (net amp b128).
      not measured: Memory at the same batch, compiled over eager (at most 1.00
      times).
      Needs: fp32, tf32 and amp, eager and compiled, at the same batches, each
      until memory is full: `gpufathom record -o MODEL_MODE_PRECISION_bN.gpf --
      python train.py` at each, then `gpufathom reproduce date24 *.gpf`;
      memory_bytes and gpu_memory_bytes by a table (docs/sweep.md).
  
    3 not measured
      Generally XLA outperforms PyTorch's just-in-time compiler in throughput and
      memory.
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
  gpufathom: there is no study 'date25': did you mean date24? (date24, dsd22, asap24, itu23)
  [2]
  $ gpufathom reproduce date24
  gpufathom: no FILE is given (see gpufathom reproduce --help)
  [2]
  $ gpufathom reproduce itu23 all
  gpufathom: nothing there has a number that itu23 needs (docs/claims.md names the tables of each study)
  [1]
  $ echo '[' > broken.json; gpufathom reproduce dsd22 broken.json
  gpufathom: broken.json: is not JSON (docs/claims.md names the tables of each study)
  [1]
  $ gpufathom reproduce itu23 overhead.json -o overhead.json
  gpufathom: overhead.json is an input and would be overwritten: choose another output file
  [2]
