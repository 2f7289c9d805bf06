More data-loader workers: the step gets shorter by waiting less for input.

  $ needs-corpus || exit 80
  $ gpufathom compare "$GPUFATHOM_CORPUS"/public/kineto_v100_resnet50_workers0.json.gz "$GPUFATHOM_CORPUS"/public/kineto_v100_resnet50_workers4.json.gz |
  >   grep -E '^  [AB]  |^A step|gpu.busy|idle:|copies|total'
    A  kineto_v100_r..kers0.json.gz  Tesla V100-DGXS-32GB      6  166.1 ms  1.00 x
    B  kineto_v100_r..kers4.json.gz  Tesla V100-DGXS-32GB      6  133.6 ms  1.24 x
  A step of B takes 32.49 ms less than one of A (1.24 x as fast): idle: input
  -46.78 ms, idle: launch_bound +9.716 ms, idle: host_other +2.880 ms, the rest
    gpu.busy         59.4 %  74.2 %
    idle: input         47.49 ms  701.7 us  -46.78 ms
    idle: launch_bound  13.12 ms  22.84 ms  +9.716 ms
    idle: host_other    2.369 ms  5.249 ms  +2.880 ms
    copies and sets     2.004 ms  3.257 ms  +1.253 ms
    idle: kernel_gap    2.487 ms  2.366 ms  -120.3 us
    idle: memcpy        12.33 us  22.33 us  +10.00 us
    idle: sync          9.000 us  10.17 us  +1.166 us
    total               166.1 ms  133.6 ms  -32.49 ms
