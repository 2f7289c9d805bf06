What a person types without thinking.

A file alone is analysed, also from a pipe and from a process's output:

  $ cp $EXAMPLES/lenet_train_b64.json.gz .
  $ gpufathom lenet_train_b64.json.gz | head -1
  lenet_train_b64.json.gz                           NVIDIA H200, 3 steps, 10.40 ms
  $ gpufathom - --format json < lenet_train_b64.json.gz | jq -r .source.path | sed 's/.*gpufathom-[^/]*//'
  standard input
  $ cat lenet_train_b64.json.gz | gpufathom analyze - --format json | jq .devices[0].kernels
  150
  $ bash -c 'gpufathom analyze <(cat lenet_train_b64.json.gz) --format json' | jq .devices[0].kernels
  150
  $ zcat lenet_train_b64.json.gz | gpufathom query - "select count(*) from kernels" --format csv
  count(*)
  150
  $ gpufathom - < /dev/null 2>&1 | sed 's/[^ ]*gpufathom-[^/]*//'
  gpufathom: standard input: is empty (the program that wrote it may have failed or may still be running)
  $ ls -d "${TMPDIR:-/tmp}"/gpufathom-??????/standard-input 2>/dev/null
  [2]

A folder with one trace is that trace, as profilers write one:

  $ mkdir run1 && cp lenet_train_b64.json.gz run1/host_4711.1700000000000.pt.trace.json.gz
  $ gpufathom run1 | head -1
  host_4711.1700000000000.pt.trace.json.gz          NVIDIA H200, 3 steps, 10.40 ms

Two that the profiler wrote of one worker are windows of one run, not ranks; beside another worker's the last one counts.

  $ cp lenet_train_b64.json.gz run1/host_4711.1700000009999.pt.trace.json.gz
  $ gpufathom run1 2> words | head -1; cat words
  host_4711.1700000009999.pt.trace.json.gz          NVIDIA H200, 3 steps, 10.40 ms
  gpufathom: 2 captures of one worker: this is the last, run1/host_4711.1700000009999.pt.trace.json.gz (`gpufathom compare` shows how they differ)
  $ gpufathom run1/*.gz 2> words | head -1; cat words
  host_4711.1700000009999.pt.trace.json.gz          NVIDIA H200, 3 steps, 10.40 ms
  gpufathom: 2 captures of one worker: this is the last, run1/host_4711.1700000009999.pt.trace.json.gz (`gpufathom compare` shows how they differ)
  $ zcat lenet_train_b64.json.gz | sed 's/"dur": 2/"dur": 3/' | gzip > run1/host_4712.1700000009998.pt.trace.json.gz
  $ gpufathom run1 2> words | head -1; cat words
  2 ranks, 0 shared collectives over 9.925 ms (whole captures)
  gpufathom: run1/host_4711.1700000000000.pt.trace.json.gz: skipped: the same worker has a later capture (`gpufathom compare` takes both)

One screen:

  $ LC_ALL=C gpufathom lenet_train_b64.json.gz
  lenet_train_b64.json.gz                           NVIDIA H200, 3 steps, 10.40 ms
  GPU active at least 6.8 % of the time. Utilization inside kernels needs
  counters. Largest loss: idle time (launch-bound), 6.005 ms (57.7 %). The
  profiler may have caused up to 3.696 ms of it.
  
  Recommendations
    1. Launch-bound: the GPU waits for the host to launch the next kernel 58 % of
       the time. Launch less often: torch.compile (mode="reduce-overhead"), CUDA
       graphs for the step, fused optimizers, or a larger batch. [predicted gain
       87 % of a step (84-88 %)]
    2. A step has too little work for the GPU: it is launch-bound, and kernels
       leave most of the GPU empty. Use a larger batch; the gain is in time per
       item. [predicted gain 87 % of an item's time, batch x 8 (87-88 %)]
    3. 46 % of kernel time multiplies matrices in FP32 outside the tensor cores.
       Allow TF32 (torch.backends.cuda.matmul.allow_tf32 and
       torch.backends.cudnn.allow_tf32) or use torch.autocast in BF16, if the
       accuracy of the model permits. [no gain by itself; up to 328.1 us, 3.2 %]
       Together 89 % of a step (88-89 %). Gains are predicted for a step without
       profiler overhead, by replay of the capture.
  
  Caveats
    - The trace shows GPU active only. Utilization of SMs, issue slots and tensor
      cores needs hardware counters: collect them for one step and pass the file
      with --counters.
    - The trace shows 93 % idle, but a profiler was active, which slows the host
      and not the kernels. It may have taken up to 36 % of the time. Compare with
      the step time of a run without the profiler before acting on time that waits
      for the host. Replayed without it, a step's GPU work ends 2.51 ms after that
      of the step before, instead of 3.42 ms.
  
  Utilization by level                                           share of 10.40 ms
    GPU active                ###                                            6.8 %
    SM active                 #                                             ~1-3 %
    tensor FLOP/s of peak                                                    0.0 %
    achieved occupancy        #                                               ~0 %
    41.78 GFLOP/s from operator shapes (model): MFU (model operations / peak x
    time) <0.1 % of 989.4 TFLOP/s in bf16. 18 457 items per second (64 per step
    from its shapes), 2.264 MFLOP per item. See also: gpufathom work.
    ~ estimated from the launches' grids, blocks, registers and shared memory
    no data for issue slot utilization, tensor pipe active, tensor instr. issued:
    the capture has no per-kernel counters
  
  More with --full: time breakdown, idle causes, runtime, layers, kernels, how to
  collect missing counters, data quality. As a page: -o page.html.

A window that means nothing is wrong usage, before any file is read:

  $ gpufathom analyze nowhere.json --window sometimes
  gpufathom: --window: 'sometimes' is not auto, all, steps, stable, step:N or START:END, such as 1.5ms:20ms (see gpufathom analyze --help)
  [2]
  $ gpufathom analyze nowhere.json --window stabel
  gpufathom: --window: 'stabel' is not auto, all, steps, stable, step:N or START:END, such as 1.5ms:20ms: did you mean stable? (see gpufathom analyze --help)
  [2]
  $ gpufathom compare a.gpf b.gpf --window step:x
  gpufathom: --window: 'step:x' is not auto, all, steps, stable, step:N or START:END, such as 1.5ms:20ms (see gpufathom compare --help)
  [2]
  $ gpufathom energy nowhere.json --window 3ms:1ms
  gpufathom: --window: '3ms:1ms' is empty: START must come before END (see gpufathom energy --help)
  [2]

The man page and the shells' completions name every verb and its options:

  $ gpufathom help man | sed -n 's/^\.SS //p' > in-man
  $ gpufathom help completion zsh | sed -n 's/^    \([a-z]*\)) _arguments.*/\1/p' | diff in-man -
  $ gpufathom --help | sed -n '/^Verbs/,$s/^  \([a-z][a-z]*\) .*/\1/p' | grep -vx help | diff in-man -
  $ gpufathom help completion tcsh
  gpufathom: help completion requires bash, zsh or fish
  [2]

A pager is used on a terminal alone:

  $ PAGER='sed s/^/paged:/' TERM=xterm script -qc "stty rows 10; gpufathom metrics" /dev/null | head -1 | cut -c1-6
  paged:
  $ PAGER='sed s/^/paged:/' TERM=xterm script -qc "stty rows 10; gpufathom --version" /dev/null | tr -d '\r'
  gpufathom 0.1.0
  $ PAGER='sed s/^/paged:/' gpufathom metrics | grep -c paged:
  0
  [1]
