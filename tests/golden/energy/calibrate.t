A fit needs points; what is wrong with them is said.

  $ gpufathom calibrate
  gpufathom: calibrate needs --points FILE
  [2]
  $ : >empty.jsonl; gpufathom calibrate --fit-only --points empty.jsonl
  gpufathom: empty.jsonl: contains no calibration points
  [1]
  $ printf '{"bench":"context"}\nnonsense\n' >broken.jsonl; gpufathom calibrate --fit-only --points broken.jsonl
  gpufathom: broken.jsonl: byte 20: not a line of calibration points (remove the broken line)
  [1]

No clock is touched unless it is asked for; a held clock is given back, whatever happens.

  $ export GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE_LOG=clocks.log
  $ gpufathom calibrate --clock 1500 --points x.jsonl
  gpufathom: the SM clock of NVIDIA H200 cannot be held at 1500 MHz: Insufficient Permissions (run it as root, or without --clock: the fit carries a clock term)
  [1]
  $ GPUFATHOM_FAKE=clocks=1,cuinit=100 gpufathom calibrate --clock 1500 --points x.jsonl
  gpufathom: cuInit: CUDA_ERROR, no GPU at all
  [1]
  $ GPUFATHOM_FAKE=cuinit=100 gpufathom calibrate --points y.jsonl
  gpufathom: cuInit: CUDA_ERROR, no GPU at all
  [1]
  $ gpufathom calibrate --only l2_load,l9_load --points z.jsonl
  gpufathom: no microbenchmark is called l9_load
  [1]
  $ cat clocks.log
  hold 1500
  give back 0

The board is the one that is named, whatever CUDA_VISIBLE_DEVICES hides: to NVML (the fake's temperature is 40 degrees and its number) and to CUDA. What the driver does not compile is left out and said.

  $ export GPUFATHOM_FAKE=gpus=4,sms=132,sensor=1,refuses=bench_mma_int8 GPUFATHOM_FAKE_LOG=board.log
  $ CUDA_VISIBLE_DEVICES=1 gpufathom calibrate --device GPU-00000000-0000-0000-0000-000000000002 --only mma_int8,l2_add_int --seconds 0.5 --repeats 1 --points two.jsonl
  left out: mma_int8: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX, no GPU at all
  NVIDIA H200 on GPU-00000000-0000-0000-0000-000000000002: 5 points, about 0 minutes
  gpufathom: two.jsonl: too few points (5) for 4 coefficients
  [1]
  $ sort -u board.log | grep -v energy; jq -c '[.uuid // .bench, .temperature_c]' two.jsonl | sort -u
  context 2
  ["GPU-00000000-0000-0000-0000-000000000002",null]
  ["asleep",42]
  ["context",42]
  ["l2_add_int",42]
  $ gpufathom calibrate --device 3 --only mma_int8,l2_add_int --launch-once
  left out: mma_int8: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX, no GPU at all
  l2_add_int 200 1024 132
  l2_add_int 400 1024 132

The H200's committed points, with their counters: the fit, the board, microbenchmarks predicted without themselves, and kernels unseen by the fit.

  $ R=$ROOT/docs/results/energy/h200-2026-11-21
  $ for b in d e; do zcat ${R}$b.points.jsonl.gz >$b.jsonl; done
  $ gpufathom calibrate --fit-only --points e.jsonl --counters ${R}e.kernels.ncu.csv.gz --unseen ${R}e.unseen --leave-one-out -o model.json
  106 points, 60 left out; mean absolute error of the fit 2.8 %
  idle: asleep 93 W, context 134 W, sleeping warps 134 W; SM clock 1476 to 1980 MHz
  voltage: 1.00 of its share lost a share of clock below 1980 MHz, down to 0.81
  
    feature                      pJ        95 % interval  of one
    dram.read                  2787         2762 .. 2815  access of 32 bytes
    dram.write                 1875         1868 .. 1883  access of 32 bytes
    inst                      107.1       105.1 .. 107.7  warp instruction
    l1.load                   162.5       161.6 .. 163.2  access of 32 bytes
    l1.wavefront            no data                       is at its bound of 0
    l2.load                   863.5       842.6 .. 874.9  access of 32 bytes
    l2.request                802.3       789.4 .. 822.9  request
    l2.store                   1467         1457 .. 1476  access of 32 bytes
    l2.store_request           1178         1162 .. 1193  request
    pipe.alu                    7.5        7.47 .. 7.544  thread operation
    pipe.fma                  11.04        10.9 .. 11.41  thread operation
    pipe.fp16                 17.74         17.7 .. 17.8  thread operation
    pipe.fp64                 34.32       34.29 .. 34.38  thread operation
    pipe.xu                   3.767       3.661 .. 3.875  thread operation
    shared.load               116.8       115.7 .. 117.7  access of 32 bytes
    shared.store                143       141.3 .. 144.7  access of 32 bytes
    tensor.bf16.mma          0.9212     0.8862 .. 0.9319  floating-point operation
    tensor.bf16.wgmma        0.7544     0.7495 .. 0.7628  floating-point operation
    tensor.fp16.mma          0.9442     0.9179 .. 0.9565  floating-point operation
    tensor.fp16.wgmma        0.8197      0.8169 .. 0.822  floating-point operation
    tensor.fp8                0.359     0.3559 .. 0.3634  floating-point operation
    tensor.tf32.mma           1.711       1.646 .. 1.742  floating-point operation
    tensor.tf32.wgmma         1.352       1.341 .. 1.369  floating-point operation
    tma.load                  42.96       36.95 .. 53.22  access of 32 bytes
  
  L1       215 KiB    17.0 ns a dependent load
  L2     38968 KiB   165.1 ns a dependent load
  DRAM               347.8 ns a dependent load
  DRAM reads 64 bytes for a scattered access of 32
  power reading: changes every 100 ms, passes half of a step after 74 ms (35 to 113, 6 steps)
  energy counter over integrated power: 0.9990, standard deviation of a point 0.0184
  dram_load_wide: 3969 pJ above idle an access of 32 bytes, 1410 pJ by the memory's own power
  dram_load_zeros: 2561 pJ above idle an access of 32 bytes, 1269 pJ by the memory's own power
  dram_store_wide: 3696 pJ above idle an access of 32 bytes, 1304 pJ by the memory's own power
  dram_store_zeros: 2252 pJ above idle an access of 32 bytes, 1005 pJ by the memory's own power
  a division of one thread, added to a chase: l1 272 pJ (1024 threads, beside 141 W), l2 265 pJ (1024 threads, beside 141 W), dram 288 pJ (1024 threads, beside 162 W); spread 8.3 % of the mean
  
  operands           of one                 random      zeros   pJ of one, active power included
  dram_load_wide     dram.read                3994       2602
  dram_store_wide    dram.write               3731       2268
  fma_fp32           pipe.fma                14.26      4.129
  l2_load_wide       l2.load                  1348      714.1
  mma_bf16           tensor.bf16.mma        0.8819     0.2353
  wgmma_bf16         tensor.bf16.wgmma       0.629     0.1609
  
  microbenchmark            error   predicted by a fit without it, energy above static power
  convert                 +118.8 %
  dram_load_scattered      -11.8 %
  dram_load_wide            +1.9 %
  dram_tma_load             +6.4 %
  fma_fp32                 +10.4 %
  fma_fp32_quarter         +26.6 %
  int_add                   -4.0 %
  int_logic                -34.9 %
  int_logic_quarter        -23.2 %
  int_mad                  -12.0 %
  int_shift                -36.6 %
  l1_load_scattered       +464.4 %
  l1_load_wide             -18.3 %
  l2_load_far               -2.9 %
  l2_load_scattered        +52.1 %
  l2_load_wide              -1.1 %
  l2_store_scattered       -32.9 %
  l2_store_wide            +48.1 %
  l2_tma_load               +7.9 %
  l2_tma_multicast         -10.8 %
  shared_load_wide          -9.6 %
  wgmma_bf16                +0.3 %
  wgmma_bf16_l2             +2.8 %
  wgmma_bf16_narrow         +2.3 %
  wgmma_tf32                -0.2 %
  wgmma_tf32_narrow         +0.2 %
  26 microbenchmarks: median absolute error 10.6 %
  
  kernel never seen              W   MHz measured mJ    model mJ    error
  matmul_fp32_512              475  1980      4.2352      4.2553    +0.5 %
  matmul_tf32_512              321  1980      1.3146      1.3923    +5.9 %
  matmul_bf16_512              285  1980     0.48283     0.50835    +5.3 %
  matmul_fp16_512              289  1980     0.52319     0.52775    +0.9 %
  matmul_fp32_1024             626  1980      27.269      25.882    -5.1 %
  matmul_tf32_1024             624  1980       6.241      6.5945    +5.7 %
  matmul_bf16_1024             680  1980      2.9221      2.9387    +0.6 %
  matmul_fp16_1024             687  1931      3.0364      2.9381    -3.2 %
  matmul_fp32_2048             663  1980      179.98      173.71    -3.5 %
  matmul_tf32_2048             691  1606       31.82       29.44    -7.5 %
  matmul_bf16_2048             692  1680      14.706      13.636    -7.3 %
  matmul_fp16_2048             692  1622      15.116      13.575   -10.2 %
  matmul_fp32_4096             696  1980      1510.4        1451    -3.9 %
  matmul_tf32_4096             694  1511      235.64      225.67    -4.2 %
  matmul_bf16_4096             692  1466      117.81      113.61    -3.6 %
  matmul_fp16_4096             693  1400      122.69      119.15    -2.9 %
  matmul_fp32_8192             695  1965       12130       11594    -4.4 %
  matmul_tf32_8192             692  1478      1810.9      1810.3    -0.0 %
  matmul_bf16_8192             691  1436      936.58       940.6    +0.4 %
  matmul_fp16_8192             693  1383      979.81      991.81    +1.2 %
  triton_matmul_tf32_4096      481  1980      584.67         638    +9.1 %
  triton_matmul_bf16_4096      695  1406      144.84      146.08    +0.9 %
  triton_matmul_fp16_4096      696  1360      150.22      151.97    +1.2 %
  copy_fp32_1GiB               668  1980      270.07      268.19    -0.7 %
  copy_fp32_8MiB               384  1980     0.83047     0.86379    +4.0 %
  add_bf16_512MiB              649  1980      189.36      218.86   +15.6 %
  reduction_fp32_1GiB          700  1930      141.34      143.44    +1.5 %
  softmax_bf16                 519  1980      192.08      181.51    -5.5 %
  layer_norm_bf16              703  1839      123.45      120.62    -2.3 %
  gelu_fp32                    703  1574       289.8      281.44    -2.9 %
  conv_bf16                    691  1496      407.45      395.88    -2.8 %
  conv_fp32                    697  1663      184.82      170.43    -7.8 %
  embedding_bf16               583  1980      72.058      74.304    +3.1 %
  attention_bf16               690  1571      554.58      480.63   -13.3 %
  transpose_fp32               652  1980      480.69      393.48   -18.1 %
  bmm_bf16                     690  1554      30.016      29.494    -1.7 %
  conv1x1_bf16                 698  1723      36.833      38.019    +3.2 %
  batch_norm_bf16              412  1980      171.95      143.66   -16.5 %
  max_pool_bf16                535  1980      166.48      160.07    -3.9 %
  rms_norm_fp32                700  1954      202.09      203.43    +0.7 %
  cumsum_fp32                  588  1980      260.17      266.44    +2.4 %
  cross_entropy_fp32           698  1919      479.15      472.03    -1.5 %
  adam_update_fp32             690  1980      627.35      623.25    -0.7 %
  sigmoid_mul_bf16_16MiB       499  1980      3.5283      3.7373    +5.9 %
  layer_norm_fp32_1MiB         252  1980     0.37708     0.41324    +9.6 %
  linear_relu_fp16_256         696  1484       10.92      10.917    -0.0 %
  matmul_fp8_4096              693  1411      69.334      65.308    -5.8 %
  attention_causal_fp16        694  1857      35.097      32.839    -6.4 %
  depthwise_conv_bf16          509  1980      180.19      155.69   -13.6 %
  group_norm_fp32              651  1980      133.47      126.34    -5.3 %
  gather_fp32_random           552  1980      196.07      159.91   -18.4 %
  sum_columns_fp32             684  1980      71.879      73.177    +1.8 %
  bmm_fp32_small               698  1742      47.863      45.661    -4.6 %
  erfinv_fp32                  700  1756      72.307      70.989    -1.8 %
  dropout_bf16                 698  1939      249.15       247.3    -0.7 %
  55 kernels, dynamic energy: mean absolute error 4.9 %
  $ jq -r '.safety[].bench' model.json

What is wrong with the files of unseen kernels, or with the other model, is said.

  $ gpufathom calibrate --fit-only --points e.jsonl --unseen nowhere
  gpufathom: nowhere.jsonl: cannot be read: No such file or directory
  [1]
  $ echo '{"name":"copy"}' >half.jsonl; gpufathom calibrate --fit-only --points e.jsonl --unseen half
  gpufathom: half.jsonl: byte 0: a measurement without seconds, joules or rate
  [1]
  $ head -5 ${R}e.unseen_names.txt >few_names.txt; cp ${R}e.unseen.jsonl few.jsonl; cp ${R}e.unseen.ncu.csv.gz few.ncu.csv.gz
  $ gpufathom calibrate --fit-only --points e.jsonl --unseen few
  gpufathom: few.ncu.csv.gz: the counter report has 110 ranges, not two of each of 5 items
  [1]
  $ gpufathom calibrate --fit-only --points e.jsonl --against half.jsonl >out.txt
  gpufathom: half.jsonl: is not an energy model of gpufathom (write one with `gpufathom calibrate --points FILE -o FILE`, or use the shipped one)
  [1]
  $ gpufathom calibrate --fit-only --points e.jsonl --counters ${R}e.unseen.ncu.csv.gz 2>&1 | sed 's/.*e.unseen/e.unseen/'
  e.unseen.ncu.csv.gz: the counter report has no microbenchmark (profile `gpufathom calibrate --launch-once` with the kernel filter `regex:^bench_`)

Arithmetic alone, without a counter profiler, gives nearly the same model.

  $ gpufathom calibrate --fit-only --points e.jsonl --unseen ${R}e.unseen --against model.json | grep -E 'mean absolute|coefficients that'
  106 points, 60 left out; mean absolute error of the fit 2.8 %
  55 kernels, dynamic energy: mean absolute error 4.9 %
  24 coefficients that both separate: 22 within 5 %; 22 within 5 % after removing the factor 1.004 that they share

Another board, with the kernels that it was measured with: the difference of the sensors' gains is common to all coefficients.

  $ gpufathom calibrate --fit-only --points d.jsonl --counters ${R}d.kernels.ncu.csv.gz --unseen ${R}d.unseen -o d.json | tail -1
  46 kernels, dynamic energy: mean absolute error 5.6 %
  $ gpufathom calibrate --fit-only --points e.jsonl --counters ${R}e.kernels.ncu.csv.gz --skip fma_fp32_quarter,int_logic_quarter,l2_tma_multicast --against d.json | sed -n '/^coefficient/,$p'
  coefficient                this      other   this is by itself   GPU-2173e694-ca61-6b5c-39bf-78d69a8befd7 of 2026-11-21
  static_w                  132.6      127.3    +4.2 %    +0.0 %
  dram.read                  2798       2674    +4.6 %    +0.5 %
  dram.write                 1879       1818    +3.3 %    -0.8 %
  l1.load                   156.2      150.8    +3.6 %    -0.5 %
  l2.load                     860      816.1    +5.4 %    +1.2 %
  l2.request                809.7      731.1   +10.7 %    +6.3 %
  l2.store                   1448       1377    +5.2 %    +1.0 %
  l2.store_request           1193       1086    +9.9 %    +5.5 %
  pipe.fp16                  13.3      12.17    +9.3 %    +4.9 %
  pipe.fp64                  29.9      28.91    +3.4 %    -0.7 %
  shared.load               108.9      106.1    +2.6 %    -1.5 %
  shared.store              109.2      102.5    +6.6 %    +2.3 %
  tensor.bf16.mma          0.8839     0.8629    +2.4 %    -1.6 %
  tensor.bf16.wgmma        0.7574      0.728    +4.0 %    -0.1 %
  tensor.fp16.mma           0.907     0.8709    +4.1 %    +0.0 %
  tensor.fp16.wgmma        0.8226     0.7875    +4.5 %    +0.3 %
  tensor.fp8               0.3604     0.3501    +2.9 %    -1.2 %
  tensor.tf32.mma           1.636      1.578    +3.7 %    -0.5 %
  tensor.tf32.wgmma         1.358      1.316    +3.2 %    -0.9 %
  19 coefficients that both separate: 13 within 5 %; 17 within 5 % after removing the factor 1.041 that they share

The levels stand in order, the regressions are straight.

  $ jq -r '.curves[] | select(.threads == 1024 and .blocks >= 132) | select(.bench | test("^(shared|l1|l2|dram)_load$")) | "\(.bench) \(.picojoules | round) \(.r2 > 0.999)"' model.json | sort -k2n
  shared_load 110 true
  l1_load 163 true
  l2_load 886 true
  dram_load 3312 true

Counters by chip, as the catalogue of chips has them; features that a chip cannot tell are said, and what they are part of.

  $ gpufathom calibrate --list-counters >counters.txt; gpufathom calibrate --list-counters --chip gh100 | diff counters.txt - && wc -l <counters.txt
  30
  $ for chip in GV100 TU102 GA100 AD102 GB100 GB202; do echo "$chip $(gpufathom calibrate --list-counters --chip $chip 2>$chip.txt | wc -l)"; sed 's/^/  /' $chip.txt; done
  GV100 19
    pipe.fp16: its operations are not told from those of fp32; it is part of pipe.fma
    tensor.bf16.wgmma: the chip has no such unit
    tensor.bf16.mma: the chip has no such unit
    tensor.fp16.wgmma: one counter counts all paths of a type; it is part of tensor.fp16.mma
    tensor.tf32.wgmma: the chip has no such unit
    tensor.tf32.mma: the chip has no such unit
    tensor.fp8: the chip has no such unit
    tensor.int8.wgmma: the chip has no such unit
    tensor.int8.mma: the chip has no such unit
    tensor.fp64: the chip has no such unit
    tma.load: the chip has no bulk copies; it is part of l1.load
  TU102 20
    pipe.fp16: its operations are not told from those of fp32; it is part of pipe.fma
    tensor.bf16.wgmma: the chip has no such unit
    tensor.bf16.mma: the chip has no such unit
    tensor.fp16.wgmma: one counter counts all paths of a type; it is part of tensor.fp16.mma
    tensor.tf32.wgmma: the chip has no such unit
    tensor.tf32.mma: the chip has no such unit
    tensor.fp8: the chip has no such unit
    tensor.int8.wgmma: one counter counts all paths of a type; it is part of tensor.int8.mma
    tensor.fp64: the chip has no such unit
    tma.load: the chip has no bulk copies; it is part of l1.load
  GA100 23
    pipe.fp16: its operations are not told from those of fp32; it is part of pipe.fma
    tensor.bf16.wgmma: one counter counts all paths of a type; it is part of tensor.bf16.mma
    tensor.fp16.wgmma: one counter counts all paths of a type; it is part of tensor.fp16.mma
    tensor.tf32.wgmma: one counter counts all paths of a type; it is part of tensor.tf32.mma
    tensor.fp8: the chip has no such unit
    tensor.int8.wgmma: one counter counts all paths of a type; it is part of tensor.int8.mma
    tma.load: the chip has no bulk copies; it is part of l1.load
  AD102 23
    pipe.fp16: its operations are not told from those of fp32; it is part of pipe.fma
    tensor.bf16.wgmma: one counter counts all paths of a type; it is part of tensor.bf16.mma
    tensor.fp16.wgmma: one counter counts all paths of a type; it is part of tensor.fp16.mma
    tensor.tf32.wgmma: one counter counts all paths of a type; it is part of tensor.tf32.mma
    tensor.int8.wgmma: one counter counts all paths of a type; it is part of tensor.int8.mma
    tensor.fp64: the chip has no such unit
    tma.load: the chip has no bulk copies; it is part of l1.load
  GB100 26
    pipe.fp16: its operations are not told from those of fp32; it is part of pipe.fma
    tensor.bf16.wgmma: one counter counts all paths of a type; it is part of tensor.bf16.mma
    tensor.fp16.wgmma: one counter counts all paths of a type; it is part of tensor.fp16.mma
    tensor.tf32.wgmma: one counter counts all paths of a type; it is part of tensor.tf32.mma
    tensor.int8.wgmma: one counter counts all paths of a type; it is part of tensor.int8.mma
  GB202 24
    pipe.fp16: its operations are not told from those of fp32; it is part of pipe.fma
    tensor.bf16.wgmma: one counter counts all paths of a type; it is part of tensor.bf16.mma
    tensor.fp16.wgmma: one counter counts all paths of a type; it is part of tensor.fp16.mma
    tensor.tf32.wgmma: one counter counts all paths of a type; it is part of tensor.tf32.mma
    tensor.int8.wgmma: one counter counts all paths of a type; it is part of tensor.int8.mma
    tensor.fp64: the chip has no such unit
    dram.read: reads and writes have one counter; it is part of dram.write
  $ gpufathom calibrate --list-counters --chip GA100 2>/dev/null | grep tensor
  sm__ops_path_tensor_src_bf16_dst_fp32.sum
  sm__ops_path_tensor_src_fp16_dst_fp16.sum
  sm__ops_path_tensor_src_fp16_dst_fp32.sum
  sm__ops_path_tensor_src_fp64.sum
  sm__ops_path_tensor_src_int8.sum
  sm__ops_path_tensor_src_tf32_dst_fp32.sum
  $ gpufathom calibrate --list-counters --chip K40
  gpufathom: no chip is called K40 (such as GA100, AD102 or GH100)
  [1]

The boards as a population, each left out in turn with its kernels' families: the shipped model is this one.

  $ P=$ROOT/docs/results/energy/h200-2026-11-
  $ gpufathom calibrate --boards ${P}21e,${P}21d,${P}20c,${P}21f,${P}29k,${P}29l --strangers ${P}29i.quick,${P}29j.quick -o boards.json
  6 boards of NVIDIA H200: 922 rows; mean absolute error of the fit 3.4 % of the power
  
    feature                      pJ        95 % interval  of one
    dram.awake            3.667e+04  3.526e+04 .. 3.814e+04  nanosecond
    dram.read                  2331         2242 .. 2424  access of 32 bytes
    dram.write                 1530         1471 .. 1591  access of 32 bytes
    inst                      103.7       99.76 .. 107.9  warp instruction
    l1.load                   158.6       152.5 .. 164.9  access of 32 bytes
    l1.wavefront            no data                       is at its bound of 0
    l2.atomic                  2025         1947 .. 2106  access of 32 bytes
    l2.load                   780.5       750.5 .. 811.7  access of 32 bytes
    l2.request                888.3       854.1 .. 923.8  request
    l2.store                   1388         1335 .. 1444  access of 32 bytes
    l2.store_request           1117         1074 .. 1162  request
    pipe.alu                  7.033       6.763 .. 7.314  thread operation
    pipe.fma                  10.66       10.25 .. 11.09  thread operation
    pipe.fp16                 17.34       16.67 .. 18.03  thread operation
    pipe.fp64                 33.43       32.14 .. 34.76  thread operation
    pipe.xu                   3.948       3.796 .. 4.106  thread operation
    shared.load                 110       105.7 .. 114.4  access of 32 bytes
    shared.store                144       138.5 .. 149.8  access of 32 bytes
    tensor.bf16.mma          0.8698     0.8363 .. 0.9045  floating-point operation
    tensor.bf16.wgmma        0.7139     0.6864 .. 0.7424  floating-point operation
    tensor.fp16.mma          0.8867     0.8526 .. 0.9222  floating-point operation
    tensor.fp16.wgmma        0.7732     0.7435 .. 0.8041  floating-point operation
    tensor.fp64               7.415        7.13 .. 7.711  floating-point operation
    tensor.fp8               0.3387     0.3257 .. 0.3523  floating-point operation
    tensor.int8.mma          0.3043     0.2926 .. 0.3165  integer operation
    tensor.int8.wgmma        0.2714      0.261 .. 0.2823  integer operation
    tensor.tf32.mma           1.604       1.542 .. 1.668  floating-point operation
    tensor.tf32.wgmma          1.28       1.231 .. 1.332  floating-point operation
    tma.load                  49.64       47.73 .. 51.62  access of 32 bytes
  
  board                                        runs kernels   idle W   gain   DRAM
  GPU-94b784f9-aa2e-a092-51ae-acfa252d86e8      102     55    134.2  1.031  1.011
  GPU-2173e694-ca61-6b5c-39bf-78d69a8befd7       96     46    128.7  0.992  0.998
  GPU-efa69dbe-2693-2e11-6bed-16d713632c21      119      0    132.2  0.979  1.048
  GPU-f4f7fb78-f82f-db0a-80d3-df522eb96dbc       98      0    136.6  1.029  0.852
  GPU-04d6f633-9b84-5162-ed1f-7016718663a3      136     67    124.1  0.981  1.066
  GPU-3b2431ea-e445-16de-b61f-21500df09cc3      136     67    125.2  0.990  1.042
  
  left out: GPU-94b784f9-aa2e-a092-51ae-acfa252d86e8; 21 quick runs say gain 1.033, DRAM 1.012
    20 other runs of microbenchmarks, above static power: 3.4 %, then 2.0 %
    55 kernels, neither they nor their families seen:
    as the others            4.6 %  largest  16.1 %, 1 over 15 %; above static power 5.5 %; intervals 11.9 % either side, 95 % inside
    after the quick runs     3.9 %  largest  14.9 %, 0 over 15 %; above static power 5.2 %; intervals 10.1 % either side, 93 % inside
  
  left out: GPU-2173e694-ca61-6b5c-39bf-78d69a8befd7; 21 quick runs say gain 0.991, DRAM 0.997
    19 other runs of microbenchmarks, above static power: 2.8 %, then 2.2 %
    46 kernels, neither they nor their families seen:
    as the others            3.7 %  largest  15.0 %, 0 over 15 %; above static power 4.8 %; intervals 12.6 % either side, 98 % inside
    after the quick runs     3.4 %  largest  13.9 %, 0 over 15 %; above static power 4.6 %; intervals 10.5 % either side, 98 % inside
  
  left out: GPU-efa69dbe-2693-2e11-6bed-16d713632c21; 15 quick runs say gain 0.980, DRAM 1.055
    16 other runs of microbenchmarks, above static power: 5.4 %, then 4.2 %
  
  left out: GPU-f4f7fb78-f82f-db0a-80d3-df522eb96dbc; 21 quick runs say gain 1.018, DRAM 0.823
    18 other runs of microbenchmarks, above static power: 3.9 %, then 2.3 %
  
  left out: GPU-04d6f633-9b84-5162-ed1f-7016718663a3; 23 quick runs say gain 0.973, DRAM 1.087
    18 other runs of microbenchmarks, above static power: 2.8 %, then 1.6 %
    67 kernels, neither they nor their families seen:
    as the others            4.3 %  largest  18.2 %, 2 over 15 %; above static power 5.6 %; intervals 12.1 % either side, 93 % inside
    after the quick runs     4.2 %  largest  15.2 %, 1 over 15 %; above static power 5.4 %; intervals 9.7 % either side, 91 % inside
  
  left out: GPU-3b2431ea-e445-16de-b61f-21500df09cc3; 23 quick runs say gain 0.965, DRAM 1.091
    19 other runs of microbenchmarks, above static power: 11.0 %, then 14.8 %
    67 kernels, neither they nor their families seen:
    as the others            4.4 %  largest  17.9 %, 2 over 15 %; above static power 5.4 %; intervals 12.4 % either side, 96 % inside
    after the quick runs     3.9 %  largest  14.0 %, 0 over 15 %; above static power 5.0 %; intervals 10.1 % either side, 93 % inside
  
  stranger: GPU-7b00cec7-be48-c44a-e718-0e21354efbe7; 20 quick runs say gain 1.042, DRAM 0.985
    2 other runs of microbenchmarks, above static power: 12.3 %, then 7.5 %
    67 kernels, neither they nor their families seen:
    as the others            4.4 %  largest  15.8 %, 1 over 15 %; above static power 5.6 %; intervals 11.9 % either side, 96 % inside
    after the quick runs     4.3 %  largest  13.5 %, 0 over 15 %; above static power 5.7 %; intervals 10.2 % either side, 91 % inside
  
  stranger: GPU-10309734-803d-6d8f-db5a-099baef37f93; 21 quick runs say gain 0.979, DRAM 1.053
    2 other runs of microbenchmarks, above static power: 4.8 %, then 4.6 %
    67 kernels, neither they nor their families seen:
    as the others            3.9 %  largest  16.2 %, 2 over 15 %; above static power 5.0 %; intervals 12.4 % either side, 96 % inside
    after the quick runs     3.8 %  largest  15.0 %, 0 over 15 %; above static power 4.9 %; intervals 10.1 % either side, 94 % inside
  
  all 369 kernels:
    as the others            4.2 %  largest  18.2 %, 8 over 15 %; above static power 5.3 %; intervals 12.2 % either side, 95 % inside
    after the quick runs     4.0 %  largest  15.2 %, 1 over 15 %; above static power 5.2 %; intervals 10.1 % either side, 93 % inside
  form of unseen kernels: 6.7 %
  $ for f in boards.json $ROOT/share/energy/NVIDIA-H200.energy.json; do jq -c '.model | [.static_w, .voltage.slope, .spread.form, .coefficients[].picojoules, .population.quick[].loop_nj] | map(. * 1000 | round)' $f; done | uniq | wc -l
  1

Kernels of tensor instructions on strangers, by terms that microbenchmarks alone gave: no matrix product is in that fit.

  $ jq -r '.strangers[] | .uuid as $b | .kernels[] | select(.name | test("int8|fp64")) | "\($b[4:12]) \(.name) \(.before * 1000 | round / 10) % \(.after * 1000 | round / 10) %"' boards.json
  04d6f633 matmul_fp64_2048 -4.7 % -7.1 %
  04d6f633 matmul_int8_4096 -6.2 % -8.5 %
  3b2431ea matmul_fp64_2048 -4.1 % -6.5 %
  3b2431ea matmul_int8_4096 -3.5 % -5.9 %
  7b00cec7 matmul_fp64_2048 -8.5 % -4.8 %
  7b00cec7 matmul_int8_4096 -5.5 % -1.6 %
  10309734 matmul_fp64_2048 -5.9 % -7.4 %
  10309734 matmul_int8_4096 -5.7 % -7.2 %

A board that the population lacks, from its own quick runs.

  $ gpufathom calibrate --boards ${P}21e,${P}20c,${P}21f -o others.json >others.txt
  $ gpufathom calibrate --quick --fit-only --points ${P}21d.points.jsonl.gz --population others.json --unseen ${P}21d.unseen -o quick.json | sed -n '1p;/^kernel/,$p'
  GPU-2173e694-ca61-6b5c-39bf-78d69a8befd7 of NVIDIA H200, from 22 quick runs: idle 129.5 W, dynamic energy -2.5 % and DRAM +3.7 % beside the mean of its kind
  kernel                           W    before     after   all energy
  matmul_fp32_512                453    +3.8 %    +0.9 %
  matmul_tf32_512                306    +6.2 %    +4.0 %
  matmul_bf16_512                273    +5.0 %    +2.9 %
  matmul_fp16_512                276    +2.5 %    +0.2 %
  matmul_fp32_1024               600    -0.3 %    -3.2 %
  matmul_tf32_1024               591    +7.3 %    +4.9 %
  matmul_bf16_1024               654    +1.6 %    -0.3 %
  matmul_fp16_1024               685    -1.5 %    -3.8 %
  matmul_fp32_2048               636    +3.5 %    +0.5 %
  matmul_tf32_2048               702    +0.9 %    -0.8 %
  matmul_bf16_2048               688    +0.9 %    -0.8 %
  matmul_fp16_2048               689    -3.1 %    -5.3 %
  matmul_fp32_4096               671    +2.9 %    -0.0 %
  matmul_tf32_4096               691    -1.2 %    -2.8 %
  matmul_bf16_4096               692    -1.8 %    -3.0 %
  matmul_fp16_4096               693    -1.0 %    -2.8 %
  matmul_fp32_8192               672    +4.5 %    +1.6 %
  matmul_tf32_8192               691    +0.8 %    -0.8 %
  matmul_bf16_8192               691    +0.8 %    -0.5 %
  matmul_fp16_8192               693    +2.0 %    +0.1 %
  triton_matmul_tf32_4096        468   +13.5 %   +11.4 %
  triton_matmul_bf16_4096        698    +1.1 %    -0.4 %
  triton_matmul_fp16_4096        694    +2.5 %    +0.5 %
  copy_fp32_1GiB                 640    -0.6 %    -1.6 %
  copy_fp32_8MiB                 366    +6.1 %    +3.3 %
  add_bf16_512MiB                621   +11.8 %   +10.8 %
  reduction_fp32_1GiB            685    -0.8 %    -1.2 %
  softmax_bf16                   497    +2.0 %    -0.1 %
  layer_norm_bf16                702    +1.6 %    -0.3 %
  gelu_fp32                      703    -2.4 %    -3.5 %
  conv_bf16                      694    -1.2 %    -2.6 %
  conv_fp32                      696    -0.4 %    -1.9 %
  embedding_bf16                 555    +4.3 %    +3.1 %
  attention_bf16                 692    -2.7 %    -4.2 %
  transpose_fp32                 614    -7.1 %    -8.8 %
  bmm_bf16                       694    +0.8 %    -0.4 %
  conv1x1_bf16                   697    +3.8 %    +3.2 %
  batch_norm_bf16                395    -4.3 %    -5.9 %
  max_pool_bf16                  513    +2.9 %    +0.9 %
  rms_norm_fp32                  677    +1.6 %    +0.6 %
  cumsum_fp32                    568    +5.4 %    +3.6 %
  cross_entropy_fp32             688    -0.2 %    -1.4 %
  adam_update_fp32               662    -1.0 %    -1.9 %
  sigmoid_mul_bf16_16MiB         472    +7.4 %    +4.7 %
  layer_norm_fp32_1MiB           242    +7.6 %    +4.9 %
  linear_relu_fp16_256           691    -6.5 %    -7.8 %
  46 kernels:
    as the others            3.3 %  largest  13.5 %, 0 over 15 %; above static power 4.0 %; intervals 13.9 % either side, 98 % inside
    after the quick runs     2.8 %  largest  11.4 %, 0 over 15 %; above static power 3.8 %; intervals 12.0 % either side, 100 % inside
  $ jq -c '.model | [.uuid, .points, (.draws | length), (.population.quick | length)]' quick.json
  ["GPU-2173e694-ca61-6b5c-39bf-78d69a8befd7",22,200,0]

A board of another kind has no population, nor one model of one board; a file without idle references or known runs says nothing.

  $ gpufathom calibrate --quick --fit-only --points e.jsonl --population model.json
  gpufathom: model.json: no boards of NVIDIA H200 are known to start from (calibrate without --quick, or pass --population FILE)
  [1]
  $ sed 's/NVIDIA H200/NVIDIA H100/' e.jsonl >h100.jsonl; gpufathom calibrate --quick --fit-only --points h100.jsonl
  gpufathom: no boards of NVIDIA H100 are known to start from (calibrate without --quick, or pass --population FILE)
  [1]
  $ gpufathom calibrate --quick --fit-only --points h100.jsonl --population others.json
  gpufathom: others.json: is of NVIDIA H200, and the board is of NVIDIA H100
  [1]
  $ grep -v '"context"' e.jsonl >busy.jsonl; gpufathom calibrate --quick --fit-only --points busy.jsonl --population others.json
  gpufathom: busy.jsonl: no idle reference among the points
  [1]
  $ head -400 e.jsonl | grep -v wide | grep -v gmma | grep -v mma | grep -v int_ | grep -v fma | grep -v tma | grep -v scattered >few.jsonl; gpufathom calibrate --quick --fit-only --points few.jsonl --population others.json
  gpufathom: few.jsonl: 0 runs that the population knows, three are needed (is the GPU shared, or held under its clock?)
  [1]
  $ gpufathom calibrate --boards ${P}21e
  gpufathom: a population needs two boards or more
  [1]
  $ gpufathom calibrate --boards nowhere,${P}21e
  gpufathom: nowhere.points.jsonl.gz: no such file
  [1]
  $ gpufathom calibrate --population others.json --points e.jsonl
  gpufathom: --population requires --quick (see gpufathom calibrate --help)
  [2]

The curves of the boards measured before.

  $ for b in a b c; do zcat $ROOT/docs/results/energy/h200-2026-11-20$b.points.jsonl.gz >$b.jsonl; gpufathom calibrate --fit-only --points $b.jsonl -o $b.json >fit.$b.txt
  >   jq -r '[.curves[] | select(.threads == 1024 and .blocks >= 132) | select(.bench | test("^(shared|l1|l2|dram)_load$")) | "\(.bench) \(.picojoules * 10 | round / 10)"] | join(" ")' $b.json; done
  dram_load 3290 l1_load 166 l2_load 871.4 shared_load 111.5
  dram_load 2745.5 l1_load 162.5 l2_load 882.4 shared_load 107.8
  dram_load 3243.1 l1_load 161.3 l2_load 869.3 shared_load 108.8
