The first ten lines give the answer.

  $ export COLUMNS=80 LC_ALL=C
  $ run() { gpufathom analyze $EXAMPLES/resnet50_amp_eager_b64.json.gz --counters $EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz --window stable "$@"; }
  $ run >report.txt
  $ head -10 report.txt
  resnet50_amp_eager_..ager_b64.ncu.csv.gz  NVIDIA H200, stable: 3 steps, 148.5 ms
  The GPU runs kernels at least 30.5 % of the time; its tensor cores work 4.0 % of
  it. The largest loss: idle, launch too late, 83.07 ms (56.0 %).
  
  How deep it is used                                            share of 148.5 ms
    GPU runs a kernel         ############                                  30.5 %
    SM has work               ##########                                    24.3 %
    issue slots used          ###                                            8.3 %
    tensor cores work         ##                                             4.0 %
    tensor issue slots        #                                              0.3 %

Where the time goes adds up to the window, and causes of idle time to the idle time.

  $ sed -n '/^Where the time goes/,/^What to change/p' report.txt
  Where the time goes                                     parts add up to 148.5 ms
    GPU idle                  ###################             103.1 ms      69.4 %
    only copies                                  #            153.2 us       0.1 %
    SMs without work                             ##           9.217 ms       6.2 %
    stalled                                        ###        18.23 ms      12.3 %
    other instructions                                 ##     11.82 ms       8.0 %
    tensor cores working                                 #    5.965 ms       4.0 %
  
  Why it idles                                                       103.1 ms idle
    cause                     time   share   gaps  most of it in
    launch too late       83.07 ms  56.0 %  2 852  aten::convo..n_backward  20.1 %
    host busy elsewhere   15.98 ms  10.8 %  1 243  Optimizer.z...zero_grad   2.8 %
    gap between kernels   3.974 ms   2.7 %  2 666  aten::native_batch_norm  17.7 %
    host waits in a sync  49.47 us  <0.1 %      2
  
  What to change

Tables are cut at --rows; the narrow terminal leaves out what can be spared.

  $ run --rows 3 | sed -n '/^By kernel/,/^Counters/p' | grep -v more
  By kernel                                         levels in % inside the kernels
    kernel                        count      time  share    SM  issue   TC  TC iss
    batch_norm_co..s_last_kernel    159  6.756 ms  4.6 %  77.4   35.0  1.7     0.9
    batch_norm_ba..s_last_kernel    159  4.667 ms  3.1 %  78.4   32.1  1.5     0.7
    batch_norm_ba..s_last_kernel    159  4.408 ms  3.0 %  89.2   32.5  0.1    <0.1
  
  Counters matched to the trace                                               good
  $ COLUMNS=120 run --rows 3 | sed -n '/^By kernel/,/^Counters/p' | grep -v more
  By kernel                                                                                 levels in % inside the kernels
    kernel                                              count    median      time  share    SM  issue   TC  TC iss
    batch_norm_collect_statistics_channels_last_kernel    159  23.39 us  6.756 ms  4.6 %  77.4   35.0  1.7     0.9
    batch_norm_backward_reduce_channels_last_kernel       159  18.94 us  4.667 ms  3.1 %  78.4   32.1  1.5     0.7
    batch_norm_backward_elemt_channels_last_kernel        159  12.83 us  4.408 ms  3.0 %  89.2   32.5  0.1    <0.1
  
  Counters matched to the trace                                                                                       good

Bars are made of block characters in a UTF-8 locale, and of plain ASCII in others.

  $ run --rows 500 | LC_ALL=C grep -c '[^ -~]'
  0
  [1]
  $ LC_ALL=C.UTF-8 run | grep -c '█'
  15

No colour when it is not a terminal; a pipe that closes early ends it without a word.

  $ run | grep -c "$(printf '\033')"
  0
  [1]
  $ run --rows 500 | head -1 >/dev/null

Without counters, levels below the first have no data, which is not 0.

  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz | sed -n '/^How deep/,/^Why/p'
  How deep it is used                                            share of 2.001 ms
    GPU runs a kernel         ##                                             4.6 %
    SM has work                                                            no data
    issue slots used                                                       no data
    tensor cores work                                                      no data
    tensor issue slots                                                     no data
    tensor FLOP/s of peak                                                  no data
    no data: the capture has no per-kernel counters (how to collect them: see
    below)
  
  Where the time goes                                     parts add up to 2.001 ms
    GPU idle                  ###########################     1.909 ms      95.4 %
    no counters                                          #    91.94 us       4.6 %
  
  Why it idles                                                       1.909 ms idle
