The first lines give the answer.

  $ export COLUMNS=80 LC_ALL=C
  $ run() { gpufathom analyze $EXAMPLES/resnet50_amp_eager_b64.json.gz --counters $EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz "$@"; }
  $ run --full >report.txt
  $ head -10 report.txt
  resnet50_amp_eager_b64...mp_eager_b64.ncu.csv.gz  NVIDIA H200, 3 steps, 149.5 ms
  GPU active at least 30.3 % of the time; tensor pipes active 4.0 % of the time.
  Largest loss: idle time (launch-bound), 83.18 ms (55.6 %). The profiler may have
  caused up to 71.81 ms of it.
  
  Recommendations
    1. 58 % of kernel time goes to elementwise, activation, normalization and
       softmax kernels, each of which makes another pass over memory.
       torch.compile fuses adjacent kernels. [predicted gain 23 % of a step
       (20-25 %); programs that made the change gained 11-69 %]

A larger gain below a smaller one says why it stands there.

  $ for one in causes/nan_checks libraries/weights_dequantised_again; do gpufathom analyze $ROOT/tests/advice/$one.json.gz | tr -s '\n ' ' ' | grep -oE 'predicted [^]]*change 1[^]]*'; done
  predicted gain 48 % of a step (36-56 %); change 1 ends a wait that a graph keeps
  predicted gain 40 % of the program (37-44 %); programs that made change 1 gained more

The time breakdown adds up to the window, and causes of idle time to the idle time.

  $ sed -n '/^Time breakdown/,/^Framework runtime/p' report.txt
  Time breakdown                                          parts add up to 149.5 ms
    GPU idle                  ####################            104.1 ms      69.6 %
    memory copies only                            #           153.2 us       0.1 %
    idle SMs                                      ##          9.217 ms       6.2 %
    stalled                                        ###        18.23 ms      12.2 %
    non-tensor instructions                            ##     11.82 ms       7.9 %
    tensor pipe active                                   #    5.965 ms       4.0 %
  
  GPU idle time by cause                                             104.1 ms idle
    cause                     time   share   gaps  most of it in
    launch-bound          83.18 ms  55.6 %  2 853  aten::convo..n_backward  20.1 %
    other host work       16.89 ms  11.3 %  1 246  Optimizer.z...zero_grad   4.8 %
    kernel launch gap     3.974 ms   2.7 %  2 666  aten::native_batch_norm  17.7 %
    host synchronization  72.92 us  <0.1 %      3
  
  Framework runtime                                       eager; share of 149.5 ms

Tables are cut at --rows; the narrow terminal leaves out what can be spared.

  $ run --rows 3 | sed -n '/^By kernel/,/^Counters/p' | grep -v more
  By kernel                                         levels in % inside the kernels
    kernel                        count      time  share    SM  issue   TC  TC iss
    batch_norm_co..s_last_kernel    159  6.756 ms  4.5 %  77.4   35.0  1.7     0.9
    batch_norm_ba..s_last_kernel    159  4.667 ms  3.1 %  78.4   32.1  1.5     0.7
    batch_norm_ba..s_last_kernel    159  4.408 ms  2.9 %  89.2   32.5  0.1    <0.1
  
  Counters matched to the trace                                               good
  $ COLUMNS=120 run --rows 3 | sed -n '/^By kernel/,/^Counters/p' | grep -v more
  By kernel                                                                                 levels in % inside the kernels
    kernel                                              count    median      time  share    SM  issue   TC  TC iss  MM iss
    batch_norm_collect_statistics_channels_last_kernel    159  23.39 us  6.756 ms  4.5 %  77.4   35.0  1.7     0.9     0.0
    batch_norm_backward_reduce_channels_last_kernel       159  18.94 us  4.667 ms  3.1 %  78.4   32.1  1.5     0.7     0.0
    batch_norm_backward_elemt_channels_last_kernel        159  12.83 us  4.408 ms  2.9 %  89.2   32.5  0.1    <0.1     0.0
  
  Counters matched to the trace                                                                                       good

Bars are made of block characters in a UTF-8 locale, and of plain ASCII in others.

  $ run --rows 500 | LC_ALL=C grep -c '[^ -~]'
  0
  [1]
  $ LC_ALL=C.UTF-8 run --full | grep -c '█'
  16

No colour when it is not a terminal; a pipe that closes early ends it without a word.

  $ run | grep -c "$(printf '\033')"
  0
  [1]
  $ run --rows 500 | head -1 >/dev/null

Without counters, levels below the first have no data, which is not 0.

  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz --full | sed -n '/^Utilization/,/^GPU idle time/p'
  Utilization by level                                           share of 2.396 ms
    GPU active                ##                                             3.8 %
    SM active                 #                                               ~0 %
    tensor FLOP/s of peak                                                    0.0 %
    achieved occupancy        #                                               ~0 %
    1.043 GFLOP/s from operator shapes (model): MFU (model operations / peak x
    time) <0.1 % of 989.4 TFLOP/s in bf16. 1 252 items per second (1 per step from
    its shapes), 833 kFLOP per item. See also: gpufathom work.
    ~ estimated from the launches' grids, blocks, registers and shared memory
    no data for issue slot utilization, tensor pipe active, tensor instr. issued:
    the capture has no per-kernel counters (how to collect them: see below)
  
  Time breakdown                                          parts add up to 2.396 ms
    GPU idle                  ###########################     2.304 ms      96.2 %
    no counters                                          #    91.94 us       3.8 %
  
  GPU idle time by cause                                             2.304 ms idle

Where one gap is most of the time, the headline also says what ran beside it, and how to analyze that alone.

  $ cat > gap.py <<'PY'
  > import json
  > starts = [0] + [463000 + 100 * i for i in range(100)]
  > events = [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": start, "dur": 80, "args": {"device": 0, "stream": 7, "correlation": i}} for i, start in enumerate(starts)]
  > json.dump({"traceEvents": events}, open("gap.json", "w"))
  > PY
  $ python3 gap.py
  $ gpufathom gap.json --window all | sed -n '1,/^$/p'
  gap.json                                            GPU, whole capture, 473.0 ms
  GPU active 1.7 % of the time. Utilization inside kernels needs counters. Largest
  loss: idle time (launch not captured), 464.9 ms (98.3 %). One gap takes
  462.9 ms; after it the GPU is active 80.2 % of 9.980 ms, and the largest loss is
  idle time (launch not captured), 1.980 ms (19.8 %) (--window 463000000:472980000
  analyzes that). No steps are known: 101 equal blocks of 1 kernel, 100.0 us each,
  after 463.0 ms (97.9 %) of one-time work.
  
By itself it analyzes the loop behind the gap.

  $ gpufathom gap.json | sed -n '1,/^$/p'
  gap.json                                            GPU, steady period, 9.980 ms
  GPU active 80.2 % of the time. Utilization inside kernels needs counters.
  Largest loss: idle time (launch not captured), 1.980 ms (19.8 %). No steps are
  known: 101 equal blocks of 1 kernel, 100.0 us each; the time before and after
  them is left out (--window all includes it).
  

The loss of that side is the one that its own window has.

  $ gpufathom gap.json --window all --json | jq -c '.window.dense | [.loss, .loss_ns, .loss_share * .duration_ns]'
  ["no_launch_record",1980000,1980000]
  $ gpufathom gap.json --window "$(gpufathom gap.json --window all --json | jq -r .window.dense.window)" | sed -n '1,/^$/p'
  gap.json                                             GPU, chosen range, 9.980 ms
  GPU active 80.2 % of the time. Utilization inside kernels needs counters.
  Largest loss: idle time (launch not captured), 1.980 ms (19.8 %). No steps are
  known: 101 equal blocks of 1 kernel, 100.0 us each.
  
  $ gpufathom gap.json --window all --json | jq -c '.window.dense'
  {"gap_ns":462920000,"start_ns":463000000,"duration_ns":9980000,"kernel_busy":0.8016032064128257,"loss":"no_launch_record","loss_ns":1980000,"loss_share":0.19839679358717435,"window":"463000000:472980000"}
