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
  $ GPUFATHOM_FAKE=clocks=1 gpufathom calibrate --clock 1500 --points x.jsonl 2>&1 | sed 's/.*libcuda/libcuda/'
  libcuda.so.1: the NVIDIA driver lacks calls of CUDA 11 (update the driver)
  $ gpufathom calibrate --points y.jsonl 2>&1 | sed 's/.*libcuda/libcuda/'
  libcuda.so.1: the NVIDIA driver lacks calls of CUDA 11 (update the driver)
  $ gpufathom calibrate --only l2_load,l9_load --points z.jsonl
  gpufathom: no microbenchmark is called l9_load
  [1]
  $ cat clocks.log
  hold 1500
  give back 0

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
  a division of one thread, added to a chase: l1 272 pJ (beside 141 W) l2 265 pJ (beside 141 W) dram 288 pJ (beside 162 W); spread 8.3 % of the mean
  
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

The shipped model is this one.

  $ for f in model.json $ROOT/share/energy/NVIDIA-H200.energy.json; do jq -c '.model | [.uuid, .static_w, .voltage.slope, .coefficients[].picojoules] | map(if type == "number" then (. * 1000 | round) else . end)' $f; done | uniq | wc -l
  1

The curves of the boards measured before.

  $ for b in a b c; do zcat $ROOT/docs/results/energy/h200-2026-11-20$b.points.jsonl.gz >$b.jsonl; gpufathom calibrate --fit-only --points $b.jsonl -o $b.json >fit.$b.txt
  >   jq -r '[.curves[] | select(.threads == 1024 and .blocks >= 132) | select(.bench | test("^(shared|l1|l2|dram)_load$")) | "\(.bench) \(.picojoules * 10 | round / 10)"] | join(" ")' $b.json; done
  dram_load 3290.6 l1_load 166 l2_load 871.6 shared_load 111.6
  dram_load 2746.2 l1_load 162.6 l2_load 882.7 shared_load 107.9
  dram_load 3244.3 l1_load 161.5 l2_load 869.9 shared_load 109
