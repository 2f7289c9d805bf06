Captures of other sources than torch.profiler. Equal ones are not called different.

  $ mkdir jax && tar xzf "$EXAMPLES"/jax_mlp.tgz -C jax && cp jax/plugins/profile/*/vm.xplane.pb mlp.xplane.pb
  $ said() { sed -n '/^  *[AB] /d; /^Time breakdown/,$d; /^[A-Z]/,$p' | sed '/^$/d'; }
  $ gpufathom compare mlp.xplane.pb mlp.xplane.pb | said
  Undecided: B's step is 0.0 % longer than A's (95 %: -21.8 to +27.9 %); about 79
  captures of each, recorded alternately, would decide; its kernels show no
  difference (+0.0 %, 95 %: -0.6 to +0.6 %). A single capture does not show what
  differs from run to run: record several of each version in turns (A B A B).

How much work a recording holds that has neither kernels nor steps nobody knows; it has no speed.

  $ cp "$EXAMPLES"/mnist_recorded.gpf "$EXAMPLES"/resnet50_recorded.gpf .
  $ gpufathom compare mnist_recorded.gpf resnet50_recorded.gpf --fail-on "step > 3%"
       run                    device       steps   window    energy    speed
    A  mnist_recorded.gpf     NVIDIA H200      0  3.000 s   775.1 J    1.00x
    B  resnet50_recorded.gpf  NVIDIA H200    151  2.500 s  1.395 kJ  no data
  
  Not judged: mnist_recorded.gpf has neither kernels nor steps, so that nobody
  knows how much work it holds: mark the steps.
  Other differences: source of the steps (A none, B period of the device's
  activity).
  Not every run has steps: the times are those of the whole windows and compare
  only when these contain the same work.
  
  Rules
    refused   step > 3%: resnet50_recorded.gpf: not judged: mnist_recorded.gpf has
    neither kernels nor steps, so that nobody knows how much work it holds: mark
    the steps
  
  Time breakdown
    part                            A         B      B - A
    GPU idle                  1.526 s  23.81 ms   -1.503 s
    stalled                  387.3 ms   1.009 s  +622.2 ms
    non-tensor instructions  342.6 ms  670.0 ms  +327.3 ms
    tensor pipe active       66.35 ms  287.3 ms  +220.9 ms
    idle SMs                 677.4 ms  509.5 ms  -167.9 ms
    total                     3.000 s   2.500 s  -500.0 ms
  --full shows all tables.
  gpufathom: --fail-on "step > 3%": resnet50_recorded.gpf: not judged: mnist_recorded.gpf has neither kernels nor steps, so that nobody knows how much work it holds: mark the steps
  [3]

Ranks of one job wait for each other, and count as no version together. What a rank computes is
told from what it may wait for.

  $ cp "$ROOT"/tests/ranks/captures/none.rank?.json.gz "$ROOT"/tests/ranks/captures/extra_kernels.rank?.json.gz .
  $ gpufathom compare none.rank0.json.gz none.rank1.json.gz --fail-on "kernels > 3%" 2> words | said; cat words
  A and B are ranks 0 and 1 of one job. They wait for each other, so neither is
  faster; the communication rows show which one waits: less time means arriving
  later.
  Rules
    refused   kernels > 3%: none.rank1.json.gz: not judged: the runs are ranks of
    one job, which wait for each other: compare a rank with the same rank of
    another job
  gpufathom: --fail-on "kernels > 3%": none.rank1.json.gz: not judged: the runs are ranks of one job, which wait for each other: compare a rank with the same rank of another job
  $ gpufathom compare none.rank?.json.gz --after extra_kernels.rank?.json.gz | said
  Not judged: extra_kernels.rank0.json.gz and extra_kernels.rank1.json.gz are of
  different ranks, which wait for each other: give one rank of each job.
  $ gpufathom compare none.rank0.json.gz extra_kernels.rank0.json.gz | said
  B is 2.40x slower than A (step 15.02 ms vs. 6.251 ms; 95 %: 2.28-2.54x); its
  kernels take 88.5 % more (95 %: +76.0 to +101.9 %). Sources of the difference:
  kernels +8.497 ms, copies +72.22 us, host -57.93 us, waiting +3.934 us, other
  idle +250.6 us. A single capture does not show what differs from run to run:
  record several of each version in turns (A B A B).
  What adds time to a step of B:
    - MatMul (forward) +10.85 ms (95 %: +10.79 ms to +10.91 ms): most in
    aten::matmul, of extra_augmentation, kernel
    nvjet_sm90_tst_256x12..x4_1x2_h_bz_coopA_NNT, 68 calls a step after 8;
    11.44 ms after 704.4 us, and 106.0 us of the host for added calls.
    - MatMul (backward) +304.2 us (95 %: +204.0 us to +404.4 us): most in
    aten::mm, kernel nvjet_sm90_tst_256x12..x4_1x2_h_bz_coopA_NNT; 1.545 ms after
    1.240 ms.
    - memory set +150.8 us (noise not known): most in aten::mm, of
    extra_augmentation, kernel Memset, 84 calls a step after 24; 84.97 us after
    22.20 us, and 90.62 us of the host for added calls.
  $ gpufathom compare none.rank1.json.gz extra_kernels.rank1.json.gz | said
  B is 2.43x slower than A (step 15.02 ms vs. 6.189 ms; 95 %: 2.33-2.52x); its
  kernels take 407.7 % more (95 %: +388.9 to +427.2 %). Sources of the difference:
  kernels +10.81 ms, copies -43.16 us, host -1.780 ms, waiting -68.30 us, other
  idle -89.52 us. A single capture does not show what differs from run to run:
  record several of each version in turns (A B A B). A profiler slowed the host:
  by kernel time alone it is 0.20x as fast, and without the profiler likely 0.26x
  to 0.42x.
  What adds time to a step of B:
    - Communication (backward) +11.18 ms (95 %: +11.07 ms to +11.29 ms): most in
    c10d::allreduce_, kernel ncclDevKernel_AllReduce_Sum_bf16_RING_LL; 11.47 ms
    after 293.6 us, in which a rank may wait for others (`gpufathom ranks` tells).
