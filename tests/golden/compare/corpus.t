More data-loader workers: the step gets shorter by waiting less for input.

  $ needs-corpus || exit 80
  $ gpufathom compare "$GPUFATHOM_CORPUS"/public/kineto_v100_resnet50_workers0.json.gz "$GPUFATHOM_CORPUS"/public/kineto_v100_resnet50_workers4.json.gz |
  >   grep -E '^  [AB]  |^A step|gpu.busy|idle:|copies|total'
    A  kineto_v100_re..kers0.json.gz  Tesla V100-DGXS-32GB      6  166.1 ms  1.00x
    B  kineto_v100_re..kers4.json.gz  Tesla V100-DGXS-32GB      6  133.6 ms  1.24x
  A step of B takes 32.49 ms less than one of A (1.24x as fast): idle: waits for
  input -46.78 ms, idle: launch too late +9.726 ms, idle: host busy elsewhere
    idle: waits for input       47.49 ms  701.7 us  -46.78 ms
    idle: launch too late       13.14 ms  22.86 ms  +9.726 ms
    idle: host busy elsewhere   2.369 ms  5.249 ms  +2.880 ms
    copies and sets             2.004 ms  3.257 ms  +1.253 ms
    idle: gap between kernels   2.487 ms  2.366 ms  -120.3 us
    idle: host waits in a sync  9.000 us  10.17 us  +1.166 us
    total                       166.1 ms  133.6 ms  -32.49 ms
