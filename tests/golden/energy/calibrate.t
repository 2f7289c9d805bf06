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
  108 points, 58 left out; mean absolute error of the fit 3.4 %
  idle: asleep 93 W, context 134 W, sleeping warps 134 W; SM clock 1476 to 1980 MHz
  voltage: 1.00 of its share lost a share of clock below 1980 MHz, down to 0.81
  
    feature                      pJ        95 % interval  of one
    dram.read                  2779         2754 .. 2807  access of 32 bytes
    dram.write                 1872         1865 .. 1880  access of 32 bytes
    inst                      118.3       116.1 .. 120.6  warp instruction
    l1.load                   160.3       159.3 .. 160.7  access of 32 bytes
    l1.wavefront            no data                       is at its bound of 0
    l2.load                   860.5       834.2 .. 873.2  access of 32 bytes
    l2.request                798.1       783.9 .. 823.1  request
    l2.store                   1461         1452 .. 1470  access of 32 bytes
    l2.store_request           1167         1150 .. 1181  request
    pipe.alu                  7.248       7.179 .. 7.301  thread operation
    pipe.fma                  8.452        7.84 .. 8.851  thread operation
    pipe.fp16                 17.31        17.2 .. 17.39  thread operation
    pipe.fp64                 33.86       33.74 .. 33.93  thread operation
    pipe.xu                   3.031       2.811 .. 3.163  thread operation
    shared.load               118.5       117.6 .. 119.4  access of 32 bytes
    shared.store              138.6       136.3 .. 140.5  access of 32 bytes
    tensor.bf16.mma          0.9143     0.8746 .. 0.9251  floating-point operation
    tensor.bf16.wgmma        0.7504     0.7443 .. 0.7569  floating-point operation
    tensor.fp16.mma          0.9373     0.9105 .. 0.9504  floating-point operation
    tensor.fp16.wgmma        0.8159       0.813 .. 0.818  floating-point operation
    tensor.fp8               0.3572     0.3542 .. 0.3623  floating-point operation
    tensor.tf32.mma           1.698       1.611 .. 1.723  floating-point operation
    tensor.tf32.wgmma         1.344       1.332 .. 1.362  floating-point operation
    tma.load                  41.86       35.28 .. 53.82  access of 32 bytes
  
  L1       215 KiB    17.0 ns a dependent load
  L2     38968 KiB   165.1 ns a dependent load
  DRAM               347.8 ns a dependent load
  DRAM reads 64 bytes for a scattered access of 32
  power reading: changes every 100 ms, passes half of a step after 74 ms (35 to 113, 6 steps)
  energy counter over integrated power: 0.9982, standard deviation of a point 0.0184
  dram_load_wide: 3966 pJ above idle an access of 32 bytes, 1410 pJ by the memory's own power
  dram_load_zeros: 2559 pJ above idle an access of 32 bytes, 1269 pJ by the memory's own power
  dram_store_wide: 3693 pJ above idle an access of 32 bytes, 1304 pJ by the memory's own power
  dram_store_zeros: 2250 pJ above idle an access of 32 bytes, 1005 pJ by the memory's own power
  a division of one thread, added to a chase: l1 272 pJ (1024 threads, beside 141 W), l2 265 pJ (1024 threads, beside 141 W), dram 288 pJ (1024 threads, beside 162 W); spread 8.3 % of the mean
  
  operands           of one                 random      zeros   pJ of one, active power included
  dram_load_wide     dram.read                3995       2602
  dram_store_wide    dram.write               3732       2268
  fma_fp32           pipe.fma                14.26      4.132
  l2_load_wide       l2.load                  1348      714.5
  mma_bf16           tensor.bf16.mma         0.882     0.2355
  wgmma_bf16         tensor.bf16.wgmma      0.6291      0.161
  
  microbenchmark            error   predicted by a fit without it, energy above static power
  add_fp32                 +48.9 %
  convert                 +123.7 %
  dram_load_scattered      -11.6 %
  dram_load_wide            +1.8 %
  dram_tma_load             +6.4 %
  fma_fp32                 -16.3 %
  fma_fp32_quarter         +15.1 %
  int_add                  -12.8 %
  int_logic                -33.5 %
  int_logic_quarter        -12.9 %
  int_mad                  -25.1 %
  int_shift                -35.3 %
  l1_load_scattered       +480.1 %
  l1_load_wide             -19.9 %
  l2_load_far               -2.9 %
  l2_load_scattered        +51.5 %
  l2_load_wide              -1.0 %
  l2_store_scattered       -32.8 %
  l2_store_wide            +47.9 %
  l2_tma_load               +8.0 %
  l2_tma_multicast         -10.7 %
  shared_load_wide         -11.1 %
  wgmma_bf16                +0.2 %
  wgmma_bf16_l2             +2.8 %
  wgmma_bf16_narrow         +2.5 %
  wgmma_tf32                -0.4 %
  wgmma_tf32_narrow         +0.3 %
  27 microbenchmarks: median absolute error 12.8 %
  
  kernel never seen              W   MHz measured mJ    model mJ    error
  matmul_fp32_512              475  1980       4.223      3.9626    -6.2 %
  matmul_tf32_512              321  1980      1.3077      1.3916    +6.4 %
  matmul_bf16_512              285  1980      0.4797     0.50991    +6.3 %
  matmul_fp16_512              289  1980     0.51989     0.52938    +1.8 %
  matmul_fp32_1024             626  1980      27.214      23.576   -13.4 %
  matmul_tf32_1024             624  1980      6.2285      6.5717    +5.5 %
  matmul_bf16_1024             680  1980      2.9169      2.9358    +0.6 %
  matmul_fp16_1024             687  1931       3.031      2.9358    -3.1 %
  matmul_fp32_2048             663  1980      179.65       154.9   -13.8 %
  matmul_tf32_2048             691  1606      31.764      29.344    -7.6 %
  matmul_bf16_2048             692  1680       14.68      13.604    -7.3 %
  matmul_fp16_2048             692  1622       15.09      13.549   -10.2 %
  matmul_fp32_4096             696  1980      1507.8      1301.8   -13.7 %
  matmul_tf32_4096             694  1511      235.22      224.94    -4.4 %
  matmul_bf16_4096             692  1466       117.6      113.33    -3.6 %
  matmul_fp16_4096             693  1400      122.48      118.89    -2.9 %
  matmul_fp32_8192             695  1965       12108       10419   -14.0 %
  matmul_tf32_8192             692  1478      1807.7      1804.4    -0.2 %
  matmul_bf16_8192             691  1436      934.92      938.99    +0.4 %
  matmul_fp16_8192             693  1383      978.08      990.35    +1.3 %
  triton_matmul_tf32_4096      481  1980      583.02      636.31    +9.1 %
  triton_matmul_bf16_4096      695  1406      144.59      145.03    +0.3 %
  triton_matmul_fp16_4096      696  1360      149.96      150.94    +0.7 %
  copy_fp32_1GiB               668  1980      269.57      266.61    -1.1 %
  copy_fp32_8MiB               384  1980      0.8272     0.85422    +3.3 %
  add_bf16_512MiB              649  1980         189      216.48   +14.5 %
  reduction_fp32_1GiB          700  1930       141.1      142.34    +0.9 %
  softmax_bf16                 519  1980      191.59      173.53    -9.4 %
  layer_norm_bf16              703  1839      123.23      116.61    -5.4 %
  gelu_fp32                    703  1574       289.3      276.07    -4.6 %
  conv_bf16                    691  1496      406.73      394.74    -2.9 %
  conv_fp32                    697  1663      184.49      169.43    -8.2 %
  embedding_bf16               583  1980        71.9      73.696    +2.5 %
  attention_bf16               690  1571       553.6      472.71   -14.6 %
  transpose_fp32               652  1980      479.77      390.57   -18.6 %
  bmm_bf16                     690  1554      29.963      29.416    -1.8 %
  conv1x1_bf16                 698  1723      36.769       37.91    +3.1 %
  batch_norm_bf16              412  1980      171.34       139.3   -18.7 %
  max_pool_bf16                535  1980      166.07      156.79    -5.6 %
  rms_norm_fp32                700  1954      201.74       201.6    -0.1 %
  cumsum_fp32                  588  1980      259.61      265.53    +2.3 %
  cross_entropy_fp32           698  1919      478.31      463.35    -3.1 %
  adam_update_fp32             690  1980      626.23      618.34    -1.3 %
  sigmoid_mul_bf16_16MiB       499  1980      3.5188      3.5978    +2.2 %
  layer_norm_fp32_1MiB         252  1980     0.37395     0.39914    +6.7 %
  linear_relu_fp16_256         696  1484      10.901      10.897    -0.0 %
  matmul_fp8_4096              693  1411      69.212      64.422    -6.9 %
  attention_causal_fp16        694  1857      35.035      32.185    -8.1 %
  depthwise_conv_bf16          509  1980      179.71      148.96   -17.1 %
  group_norm_fp32              651  1980      133.22      123.48    -7.3 %
  gather_fp32_random           552  1980      195.61      159.04   -18.7 %
  sum_columns_fp32             684  1980      71.751      72.439    +1.0 %
  bmm_fp32_small               698  1742       47.78      43.725    -8.5 %
  erfinv_fp32                  700  1756      72.182      69.573    -3.6 %
  dropout_bf16                 698  1939      248.71      239.82    -3.6 %
  55 kernels, dynamic energy: mean absolute error 6.2 %
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
  108 points, 58 left out; mean absolute error of the fit 3.3 %
  55 kernels, dynamic energy: mean absolute error 6.1 %
  24 coefficients that both separate: 23 within 5 %; 23 within 5 % after removing the factor 1.004 that they share

Another board, with the kernels that it was measured with: the difference of the sensors' gains is common to all coefficients.

  $ gpufathom calibrate --fit-only --points d.jsonl --counters ${R}d.kernels.ncu.csv.gz --unseen ${R}d.unseen -o d.json | tail -1
  46 kernels, dynamic energy: mean absolute error 6.4 %
  $ gpufathom calibrate --fit-only --points e.jsonl --counters ${R}e.kernels.ncu.csv.gz --skip fma_fp32_quarter,int_logic_quarter,l2_tma_multicast --against d.json | sed -n '/^coefficient/,$p'
  coefficient                this      other   this is by itself   GPU-2173e694-ca61-6b5c-39bf-78d69a8befd7 of 2026-11-21
  static_w                  133.8      128.5    +4.1 %    +0.0 %
  dram.read                  2790       2669    +4.5 %    +0.5 %
  dram.write                 1875       1817    +3.2 %    -0.8 %
  l1.load                   154.9      149.7    +3.5 %    -0.5 %
  l2.load                   857.6      814.5    +5.3 %    +1.2 %
  l2.request                803.4      725.8   +10.7 %    +6.4 %
  l2.store                   1446       1376    +5.1 %    +1.0 %
  l2.store_request           1178       1072    +9.8 %    +5.5 %
  pipe.fp16                 13.79      12.65    +9.0 %    +4.8 %
  pipe.fp64                 30.34      29.36    +3.3 %    -0.7 %
  shared.load               112.2      109.4    +2.6 %    -1.4 %
  shared.store              111.5      104.7    +6.4 %    +2.3 %
  tensor.bf16.mma          0.8845     0.8641    +2.4 %    -1.6 %
  tensor.bf16.wgmma        0.7527     0.7242    +3.9 %    -0.1 %
  tensor.fp16.mma          0.9075     0.8721    +4.1 %    +0.0 %
  tensor.fp16.wgmma        0.8181     0.7839    +4.4 %    +0.3 %
  tensor.fp8               0.3583     0.3484    +2.9 %    -1.2 %
  tensor.tf32.mma           1.638      1.581    +3.6 %    -0.5 %
  tensor.tf32.wgmma         1.349      1.308    +3.1 %    -0.9 %
  19 coefficients that both separate: 13 within 5 %; 17 within 5 % after removing the factor 1.041 that they share

The levels stand in order, the regressions are straight.

  $ jq -r '.curves[] | select(.threads == 1024 and .blocks >= 132) | select(.bench | test("^(shared|l1|l2|dram)_load$")) | "\(.bench) \(.picojoules | round) \(.r2 > 0.999)"' model.json | sort -k2n
  shared_load 110 true
  l1_load 163 true
  l2_load 887 true
  dram_load 3313 true

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
  $ gpufathom calibrate --boards ${P}21e,${P}21d,${P}20c,${P}21f -o boards.json
  4 boards of NVIDIA H200: 522 rows; mean absolute error of the fit 3.7 % of the power
  
    feature                      pJ        95 % interval  of one
    dram.awake            4.006e+04  3.852e+04 .. 4.166e+04  nanosecond
    dram.read                  2250         2163 .. 2340  access of 32 bytes
    dram.write                 1498         1441 .. 1558  access of 32 bytes
    inst                      114.5       110.1 .. 119.1  warp instruction
    l1.load                   160.7       154.5 .. 167.1  access of 32 bytes
    l1.wavefront            no data                       is at its bound of 0
    l2.load                   805.2       774.3 .. 837.4  access of 32 bytes
    l2.request                843.8       811.4 .. 877.5  request
    l2.store                   1404         1350 .. 1460  access of 32 bytes
    l2.store_request           1136         1093 .. 1182  request
    pipe.alu                  6.742       6.483 .. 7.012  thread operation
    pipe.fma                  8.871        8.53 .. 9.226  thread operation
    pipe.fp16                 17.02        16.37 .. 17.7  thread operation
    pipe.fp64                 33.65          32.36 .. 35  thread operation
    pipe.xu                   3.444       3.312 .. 3.582  thread operation
    shared.load               116.7       112.2 .. 121.4  access of 32 bytes
    shared.store              141.9       136.5 .. 147.6  access of 32 bytes
    tensor.bf16.mma          0.8654        0.8322 .. 0.9  floating-point operation
    tensor.bf16.wgmma        0.7169     0.6893 .. 0.7455  floating-point operation
    tensor.fp16.mma          0.8866      0.8525 .. 0.922  floating-point operation
    tensor.fp16.wgmma        0.7776     0.7477 .. 0.8087  floating-point operation
    tensor.fp8               0.3407     0.3276 .. 0.3543  floating-point operation
    tensor.tf32.mma           1.587       1.526 .. 1.651  floating-point operation
    tensor.tf32.wgmma          1.29       1.241 .. 1.342  floating-point operation
    tma.load                   32.2       30.96 .. 33.49  access of 32 bytes
  
  board                                        runs kernels   idle W   gain   DRAM
  GPU-94b784f9-aa2e-a092-51ae-acfa252d86e8      104     55    134.2  1.024  1.043
  GPU-2173e694-ca61-6b5c-39bf-78d69a8befd7       98     46    129.1  0.984  1.026
  GPU-efa69dbe-2693-2e11-6bed-16d713632c21      119      0    131.9  0.977  1.064
  GPU-f4f7fb78-f82f-db0a-80d3-df522eb96dbc      100      0    137.4  1.016  0.878
  
  left out: GPU-94b784f9-aa2e-a092-51ae-acfa252d86e8; 22 quick runs say gain 1.030, DRAM 1.034
    16 other runs of microbenchmarks, above static power: 3.0 %, then 1.9 %
    55 kernels, neither they nor their families seen:
    as the others            5.4 %  largest  16.5 %, 1 over 15 %; above static power 6.8 %; intervals 11.1 % either side, 87 % inside
    after the quick runs     4.6 %  largest  17.0 %, 1 over 15 %; above static power 6.0 %; intervals 9.4 % either side, 93 % inside
  
  left out: GPU-2173e694-ca61-6b5c-39bf-78d69a8befd7; 22 quick runs say gain 0.975, DRAM 1.037
    17 other runs of microbenchmarks, above static power: 3.6 %, then 1.9 %
    46 kernels, neither they nor their families seen:
    as the others            4.1 %  largest  17.8 %, 1 over 15 %; above static power 5.2 %; intervals 13.3 % either side, 98 % inside
    after the quick runs     3.8 %  largest  15.6 %, 1 over 15 %; above static power 5.1 %; intervals 11.3 % either side, 98 % inside
  
  left out: GPU-efa69dbe-2693-2e11-6bed-16d713632c21; 15 quick runs say gain 0.964, DRAM 1.102
    16 other runs of microbenchmarks, above static power: 4.9 %, then 3.7 %
  
  left out: GPU-f4f7fb78-f82f-db0a-80d3-df522eb96dbc; 22 quick runs say gain 1.017, DRAM 0.815
    14 other runs of microbenchmarks, above static power: 3.2 %, then 2.0 %
  
  all 101 kernels:
    as the others            4.8 %  largest  17.8 %, 2 over 15 %; above static power 6.1 %; intervals 12.1 % either side, 92 % inside
    after the quick runs     4.3 %  largest  17.0 %, 2 over 15 %; above static power 5.6 %; intervals 10.3 % either side, 95 % inside
  form of unseen kernels: 7.0 %
  $ for f in boards.json $ROOT/share/energy/NVIDIA-H200.energy.json; do jq -c '.model | [.static_w, .voltage.slope, .spread.form, .coefficients[].picojoules, .population.quick[].loop_nj] | map(. * 1000 | round)' $f; done | uniq | wc -l
  1

A board that the population lacks, from its own quick runs.

  $ gpufathom calibrate --boards ${P}21e,${P}20c,${P}21f -o others.json >others.txt
  $ gpufathom calibrate --quick --fit-only --points ${P}21d.points.jsonl.gz --population others.json --unseen ${P}21d.unseen -o quick.json | sed -n '1p;/^kernel/,$p'
  GPU-2173e694-ca61-6b5c-39bf-78d69a8befd7 of NVIDIA H200, from 22 quick runs: idle 130.0 W, dynamic energy -2.5 % and DRAM +3.7 % beside the mean of its kind
  kernel                           W    before     after   all energy
  matmul_fp32_512                453    +0.8 %    -1.9 %
  matmul_tf32_512                306    +6.6 %    +4.6 %
  matmul_bf16_512                273    +5.3 %    +3.3 %
  matmul_fp16_512                276    +2.8 %    +0.6 %
  matmul_fp32_1024               600    -4.6 %    -7.1 %
  matmul_tf32_1024               591    +7.2 %    +4.9 %
  matmul_bf16_1024               654    +1.6 %    -0.2 %
  matmul_fp16_1024               685    -1.5 %    -3.7 %
  matmul_fp32_2048               636    -1.4 %    -3.9 %
  matmul_tf32_2048               702    +1.6 %    +0.0 %
  matmul_bf16_2048               688    +0.8 %    -0.9 %
  matmul_fp16_2048               689    -3.2 %    -5.4 %
  matmul_fp32_4096               671    -1.6 %    -4.1 %
  matmul_tf32_4096               691    -0.5 %    -2.0 %
  matmul_bf16_4096               692    -1.0 %    -2.2 %
  matmul_fp16_4096               693    -0.3 %    -2.0 %
  matmul_fp32_8192               672    +0.2 %    -2.2 %
  matmul_tf32_8192               691    +1.5 %    -0.0 %
  matmul_bf16_8192               691    +1.7 %    +0.4 %
  matmul_fp16_8192               693    +2.8 %    +1.0 %
  triton_matmul_tf32_4096        468   +15.4 %   +13.5 %
  triton_matmul_bf16_4096        698    +1.7 %    +0.2 %
  triton_matmul_fp16_4096        694    +3.1 %    +1.2 %
  copy_fp32_1GiB                 640    -0.8 %    -1.6 %
  copy_fp32_8MiB                 366    +5.9 %    +3.1 %
  add_bf16_512MiB                621   +11.2 %   +10.4 %
  reduction_fp32_1GiB            685    -1.1 %    -1.5 %
  softmax_bf16                   497    +1.2 %    -0.7 %
  layer_norm_bf16                702    +0.3 %    -1.4 %
  gelu_fp32                      703    -3.4 %    -4.3 %
  conv_bf16                      694    -0.3 %    -1.7 %
  conv_fp32                      696    -0.0 %    -1.5 %
  embedding_bf16                 555    +4.4 %    +3.3 %
  attention_bf16                 692    -2.5 %    -4.0 %
  transpose_fp32                 614    -6.2 %    -7.8 %
  bmm_bf16                       694    +1.1 %    -0.1 %
  conv1x1_bf16                   697    +3.8 %    +3.2 %
  batch_norm_bf16                395    -3.9 %    -5.3 %
  max_pool_bf16                  513    +3.2 %    +1.3 %
  rms_norm_fp32                  677    +1.4 %    +0.5 %
  cumsum_fp32                    568    +6.4 %    +4.7 %
  cross_entropy_fp32             688    -0.9 %    -2.0 %
  adam_update_fp32               662    -1.3 %    -2.0 %
  sigmoid_mul_bf16_16MiB         472    +6.9 %    +4.4 %
  layer_norm_fp32_1MiB           242    +6.7 %    +4.2 %
  linear_relu_fp16_256           691    -5.9 %    -7.2 %
  46 kernels:
    as the others            3.2 %  largest  15.4 %, 1 over 15 %; above static power 4.1 %; intervals 13.4 % either side, 98 % inside
    after the quick runs     3.1 %  largest  13.5 %, 0 over 15 %; above static power 4.1 %; intervals 11.5 % either side, 98 % inside
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
  gpufathom: few.jsonl: 2 runs that the population knows, three are needed (is the GPU shared, or held under its clock?)
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
  dram_load 3290.6 l1_load 166 l2_load 871.6 shared_load 111.6
  dram_load 2746.2 l1_load 162.6 l2_load 882.7 shared_load 107.9
  dram_load 3244.3 l1_load 161.5 l2_load 869.9 shared_load 109
