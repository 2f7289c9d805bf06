A fit needs points; what is wrong with them is said.

  $ gpufathom calibrate
  gpufathom: calibrate needs --points FILE
  [2]
  $ : >empty.jsonl; gpufathom calibrate --fit-only --points empty.jsonl
  gpufathom: empty.jsonl: holds no calibration points
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

The H200's committed points, with their counters: the fit, the board, microbenchmarks predicted without themselves, and kernels that
the fit has not seen.

  $ R=$ROOT/docs/results/energy/h200-2026-11-21
  $ for b in d e; do zcat ${R}$b.points.jsonl.gz >$b.jsonl; done
  $ gpufathom calibrate --fit-only --points e.jsonl --counters ${R}e.kernels.ncu.csv.gz --unseen ${R}e.unseen --leave-one-out -o model.json
  108 points, 58 left out; mean absolute error of the fit 3.5 %
  idle: asleep 93 W, context 134 W, sleeping warps 134 W; SM clock 1476 to 1980 MHz
  voltage: 1.00 of its share lost a share of clock below 1980 MHz, down to 0.81
  
    feature                      pJ        95 % interval  of one
    dram.read                  2795         2769 .. 2826  access of 32 bytes
    dram.write                 1886         1882 .. 1889  access of 32 bytes
    inst                      118.9       116.4 .. 121.4  warp instruction
    l1.load                   162.4       161.2 .. 163.1  access of 32 bytes
    l1.wavefront            no data                       stands on its bound at 0
    l2.load                   869.3       845.1 .. 882.4  access of 32 bytes
    l2.request                807.4       792.2 .. 830.1  request
    l2.store                   1483         1476 .. 1488  access of 32 bytes
    l2.store_request           1162         1142 .. 1180  request
    pipe.alu                  7.438       7.368 .. 7.499  thread operation
    pipe.fma                  8.674       8.072 .. 9.079  thread operation
    pipe.fp16                 17.75       17.65 .. 17.84  thread operation
    pipe.fp64                 34.61       34.47 .. 34.72  thread operation
    pipe.xu                   2.955        2.66 .. 3.177  thread operation
    shared.load               120.6       119.5 .. 121.5  access of 32 bytes
    shared.store              140.9       138.7 .. 142.9  access of 32 bytes
    tensor.bf16.mma          0.9348     0.8943 .. 0.9469  floating-point operation
    tensor.bf16.wgmma        0.7677       0.761 .. 0.775  floating-point operation
    tensor.fp16.mma          0.9591     0.9351 .. 0.9711  floating-point operation
    tensor.fp16.wgmma        0.8347     0.8317 .. 0.8383  floating-point operation
    tensor.fp8               0.3655     0.3624 .. 0.3706  floating-point operation
    tensor.tf32.mma           1.734       1.653 .. 1.761  floating-point operation
    tensor.tf32.wgmma         1.375       1.363 .. 1.393  floating-point operation
    tma.load                  42.45       35.49 .. 53.89  access of 32 bytes
  
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
  add_fp32                 +49.7 %
  convert                 +126.0 %
  dram_load_scattered      -11.7 %
  dram_load_wide            +1.8 %
  dram_tma_load             +6.6 %
  fma_fp32                 -16.4 %
  fma_fp32_quarter         +15.3 %
  int_add                  -13.3 %
  int_logic                -34.0 %
  int_logic_quarter        -13.0 %
  int_mad                  -25.6 %
  int_shift                -35.8 %
  l1_load_scattered       +488.5 %
  l1_load_wide             -21.2 %
  l2_load_far               -3.3 %
  l2_load_scattered        +51.6 %
  l2_load_wide              -1.5 %
  l2_store_scattered       -32.6 %
  l2_store_wide            +47.6 %
  l2_tma_load               +8.4 %
  l2_tma_multicast         -11.0 %
  shared_load_wide         -10.7 %
  wgmma_bf16                +0.2 %
  wgmma_bf16_l2             +2.8 %
  wgmma_bf16_narrow         +2.5 %
  wgmma_tf32                -0.3 %
  wgmma_tf32_narrow         +0.2 %
  27 microbenchmarks: median absolute error 13.0 %
  
  kernel never seen              W   MHz measured mJ    model mJ    error
  matmul_fp32_512              475  1980      4.2298      3.9775    -6.0 %
  matmul_tf32_512              321  1980      1.3115       1.399    +6.7 %
  matmul_bf16_512              285  1980     0.48144      0.5134    +6.6 %
  matmul_fp16_512              289  1980     0.52172     0.53305    +2.2 %
  matmul_fp32_1024             626  1980      27.244      23.537   -13.6 %
  matmul_tf32_1024             624  1980      6.2355      6.5812    +5.5 %
  matmul_bf16_1024             680  1980      2.9198       2.937    +0.6 %
  matmul_fp16_1024             687  1931       3.034      2.9348    -3.3 %
  matmul_fp32_2048             663  1980      179.83      154.31   -14.2 %
  matmul_tf32_2048             691  1606      31.796      29.332    -7.7 %
  matmul_bf16_2048             692  1680      14.695       13.59    -7.5 %
  matmul_fp16_2048             692  1622      15.104      13.524   -10.5 %
  matmul_fp32_4096             696  1980      1509.3      1296.6   -14.1 %
  matmul_tf32_4096             694  1511      235.45      224.95    -4.5 %
  matmul_bf16_4096             692  1466      117.72      113.29    -3.8 %
  matmul_fp16_4096             693  1400       122.6       118.9    -3.0 %
  matmul_fp32_8192             695  1965       12120       10374   -14.4 %
  matmul_tf32_8192             692  1478      1809.4      1805.1    -0.2 %
  matmul_bf16_8192             691  1436      935.84      939.28    +0.4 %
  matmul_fp16_8192             693  1383      979.04      991.08    +1.2 %
  triton_matmul_tf32_4096      481  1980      583.94      637.45    +9.2 %
  triton_matmul_bf16_4096      695  1406      144.73      145.15    +0.3 %
  triton_matmul_fp16_4096      696  1360       150.1      150.99    +0.6 %
  copy_fp32_1GiB               668  1980      269.85      266.17    -1.4 %
  copy_fp32_8MiB               384  1980     0.82902     0.85378    +3.0 %
  add_bf16_512MiB              649  1980       189.2      216.72   +14.5 %
  reduction_fp32_1GiB          700  1930      141.23      142.22    +0.7 %
  softmax_bf16                 519  1980      191.86      172.85    -9.9 %
  layer_norm_bf16              703  1839      123.35       116.3    -5.7 %
  gelu_fp32                    703  1574      289.58       275.7    -4.8 %
  conv_bf16                    691  1496      407.13      394.55    -3.1 %
  conv_fp32                    697  1663      184.67      169.11    -8.4 %
  embedding_bf16               583  1980      71.988      73.613    +2.3 %
  attention_bf16               690  1571      554.15       471.3   -14.9 %
  transpose_fp32               652  1980      480.28      388.68   -19.1 %
  bmm_bf16                     690  1554      29.992      29.401    -2.0 %
  conv1x1_bf16                 698  1723      36.804      37.907    +3.0 %
  batch_norm_bf16              412  1980      171.68      138.62   -19.3 %
  max_pool_bf16                535  1980       166.3      156.53    -5.9 %
  rms_norm_fp32                700  1954      201.93       201.5    -0.2 %
  cumsum_fp32                  588  1980      259.92      265.15    +2.0 %
  cross_entropy_fp32           698  1919      478.78      462.51    -3.4 %
  adam_update_fp32             690  1980      626.85      617.53    -1.5 %
  sigmoid_mul_bf16_16MiB       499  1980      3.5241      3.5919    +1.9 %
  layer_norm_fp32_1MiB         252  1980     0.37568     0.39941    +6.3 %
  linear_relu_fp16_256         696  1484      10.911      10.911    -0.0 %
  matmul_fp8_4096              693  1411      69.279      64.374    -7.1 %
  attention_causal_fp16        694  1857       35.07      32.106    -8.5 %
  depthwise_conv_bf16          509  1980      179.98      147.91   -17.8 %
  group_norm_fp32              651  1980      133.36      123.15    -7.7 %
  gather_fp32_random           552  1980      195.87      158.59   -19.0 %
  sum_columns_fp32             684  1980      71.822      72.387    +0.8 %
  bmm_fp32_small               698  1742      47.826      43.593    -8.9 %
  erfinv_fp32                  700  1756      72.252      69.442    -3.9 %
  dropout_bf16                 698  1939      248.95      239.26    -3.9 %
  55 kernels, dynamic energy: mean absolute error 6.3 %
  $ jq -r '.safety[].bench' model.json

Arithmetic alone, without a counter profiler, gives nearly the same model.

  $ gpufathom calibrate --fit-only --points e.jsonl --unseen ${R}e.unseen --against model.json | grep -E 'mean absolute|coefficients that'
  108 points, 58 left out; mean absolute error of the fit 3.4 %
  55 kernels, dynamic energy: mean absolute error 6.2 %
  24 coefficients that both separate: 23 within 5 %; 23 within 5 % beside the factor 1.005 that they have in common

Another board, with the kernels that it was measured with: the difference of the sensors' gains is common to all coefficients.

  $ gpufathom calibrate --fit-only --points d.jsonl --counters ${R}d.kernels.ncu.csv.gz --unseen ${R}d.unseen -o d.json | tail -1
  46 kernels, dynamic energy: mean absolute error 6.6 %
  $ gpufathom calibrate --fit-only --points e.jsonl --counters ${R}e.kernels.ncu.csv.gz --skip fma_fp32_quarter,int_logic_quarter,l2_tma_multicast --against d.json | sed -n '/^coefficient/,$p'
  coefficient                this      other   this is by itself   GPU-2173e694-ca61-6b5c-39bf-78d69a8befd7 of 2026-11-21
  static_w                  133.2      127.3    +4.7 %    +1.8 %
  dram.read                  2807       2690    +4.3 %    +1.4 %
  dram.write                 1889       1826    +3.4 %    +0.6 %
  l1.load                   157.2      153.7    +2.2 %    -0.6 %
  l2.load                     866      830.3    +4.3 %    +1.4 %
  l2.request                  813      730.7   +11.3 %    +8.2 %
  l2.store                   1468       1409    +4.2 %    +1.3 %
  l2.store_request           1173       1076    +9.0 %    +6.0 %
  pipe.fp16                 14.29      13.25    +7.8 %    +4.8 %
  pipe.fp64                 31.15      30.51    +2.1 %    -0.8 %
  shared.load               114.4      112.8    +1.4 %    -1.4 %
  shared.store              114.2      109.6    +4.2 %    +1.3 %
  tensor.bf16.mma          0.9055     0.8994    +0.7 %    -2.1 %
  tensor.bf16.wgmma          0.77     0.7516    +2.4 %    -0.4 %
  tensor.fp16.mma          0.9298     0.9065    +2.6 %    -0.3 %
  tensor.fp16.wgmma        0.8369     0.8136    +2.9 %    +0.0 %
  tensor.fp8               0.3666     0.3615    +1.4 %    -1.4 %
  tensor.tf32.mma           1.676      1.643    +2.0 %    -0.8 %
  tensor.tf32.wgmma          1.38      1.358    +1.6 %    -1.2 %
  19 coefficients that both separate: 16 within 5 %; 17 within 5 % beside the factor 1.029 that they have in common

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
