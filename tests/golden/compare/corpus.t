More data-loader workers: the step gets shorter by waiting less for input.

  $ needs-corpus || exit 80
  $ gpufathom compare "$GPUFATHOM_CORPUS"/public/kineto_v100_resnet50_workers0.json.gz "$GPUFATHOM_CORPUS"/public/kineto_v100_resnet50_workers4.json.gz |
  >   grep -E '^  [AB]  |^A step|gpu.busy|idle:|copies|total'
    A  kineto_v100_re..workers0..  Tesla V100-DGXS-32GB      6  177.6 ms  1.00x
    B  kineto_v100_re..workers4..  Tesla V100-DGXS-32GB      6  141.1 ms  1.26x
  difference: kernels +556.0 us, copies +1.253 ms, host +13.27 ms, waiting
    idle: input pipeline        58.98 ms  7.523 ms  -51.46 ms
    idle: launch-bound          13.14 ms  22.86 ms  +9.726 ms
    idle: other host work       2.387 ms  5.927 ms  +3.540 ms
    copies and sets             2.004 ms  3.257 ms  +1.253 ms
    idle: kernel launch gap     2.487 ms  2.366 ms  -120.3 us
    idle: host synchronization  9.000 us  10.17 us  +1.167 us
    total                       177.6 ms  141.1 ms  -36.50 ms

Databases of Nsight Systems without steps are compared by their windows, of the same work.

  $ gpufathom compare "$GPUFATHOM_CORPUS"/public/flameox_nsys_2025.5.sqlite "$GPUFATHOM_CORPUS"/public/flameox_nsys_2025.5.sqlite | sed -n '/^[A-Z]/,$p' | head -5
  The window of B takes as long as that of A.
  Not every run has steps: the times are those of the whole windows and compare
  only when these contain the same work.
  
  Time breakdown
