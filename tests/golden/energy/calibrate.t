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

The H200's committed points, with their counters: the fit, the board, and kernels that the fit has not seen.

  $ R=$ROOT/docs/results/energy/h200-2026-11-21d
  $ zcat $R.points.jsonl.gz >points.jsonl
  $ gpufathom calibrate --fit-only --points points.jsonl --counters $R.kernels.ncu.csv.gz --unseen $R.unseen --leave-one-out -o model.json
  102 points, 60 left out; mean absolute error of the fit 3.7 %
  idle: asleep 98 W, context 129 W, sleeping warps 127 W; SM clock 1520 to 1980 MHz
  voltage: 1.15 of its share lost a share of clock below 1980 MHz, down to 0.81
  
    feature                      pJ        95 % interval  of one
    dram.read                  2690         2650 .. 2729  access of 32 bytes
    dram.write                 1826         1809 .. 1842  access of 32 bytes
    inst                    no data                       the points hardly separate it from other features
    l1.load                   153.7       150.3 .. 156.8  access of 32 bytes
    l1.wavefront            no data                       stands on its bound at 0
    l2.load                   830.3       808.6 .. 849.9  access of 32 bytes
    l2.request                730.7       699.5 .. 761.8  request
    l2.store                   1409         1375 .. 1441  access of 32 bytes
    l2.store_request           1076        999.2 .. 1151  request
    pipe.alu                no data                       the points hardly separate it from other features
    pipe.fma                no data                       the points hardly separate it from other features
    pipe.fp16                 13.25       12.93 .. 13.65  thread operation
    pipe.fp64                 30.51       29.96 .. 31.11  thread operation
    pipe.xu                 no data                       stands on its bound at 0
    shared.load               112.8       111.2 .. 114.2  access of 32 bytes
    shared.store              109.6       107.3 .. 112.4  access of 32 bytes
    tensor.bf16.mma          0.8994     0.8418 .. 0.9218  floating-point operation
    tensor.bf16.wgmma        0.7516     0.7424 .. 0.7633  floating-point operation
    tensor.fp16.mma          0.9065      0.849 .. 0.9304  floating-point operation
    tensor.fp16.wgmma        0.8136     0.8092 .. 0.8182  floating-point operation
    tensor.fp8               0.3615     0.3596 .. 0.3638  floating-point operation
    tensor.tf32.mma           1.643       1.549 .. 1.685  floating-point operation
    tensor.tf32.wgmma         1.358       1.344 .. 1.375  floating-point operation
    tma.load                no data                       stands on its bound at 0
  
  L1       215 KiB    17.1 ns a dependent load
  L2     38968 KiB   165.4 ns a dependent load
  DRAM               348.4 ns a dependent load
  DRAM reads 64 bytes for a scattered access of 32
  power reading: changes every 100 ms, passes half of a step after 78 ms (30 to 125, 6 steps)
  energy counter over integrated power: 0.9966, standard deviation of a point 0.0262
  dram_load_wide: 3863 pJ above idle an access of 32 bytes, 1437 pJ by the memory's own power
  dram_load_zeros: 2422 pJ above idle an access of 32 bytes, 1244 pJ by the memory's own power
  dram_store_wide: 3540 pJ above idle an access of 32 bytes, 1174 pJ by the memory's own power
  dram_store_zeros: 2147 pJ above idle an access of 32 bytes, 1019 pJ by the memory's own power
  a division of one thread, added to a chase: l1 256 pJ (beside 135 W) l2 252 pJ (beside 134 W) dram 277 pJ (beside 155 W); spread 9.3 % of the mean
  
  operands           of one                 random      zeros   pJ of one, active power included
  dram_load_wide     dram.read                3904       2452
  dram_store_wide    dram.write               3590       2210
  fma_fp32           pipe.fma                13.72      3.975
  l2_load_wide       l2.load                  1273      671.2
  mma_bf16           tensor.bf16.mma        0.8636     0.2287
  wgmma_bf16         tensor.bf16.wgmma      0.6204     0.1531
  
  microbenchmark            error   predicted by a fit without it, energy above static power
  add_fp32                 +52.5 %
  convert                 +127.6 %
  dram_load_scattered      -12.8 %
  dram_load_wide            +2.7 %
  dram_tma_load             +5.9 %
  fma_fp32                 -16.2 %
  int_add                  -13.4 %
  int_logic                -35.1 %
  int_mad                  -25.2 %
  int_shift                -36.4 %
  l1_load_scattered       +458.1 %
  l1_load_wide             -17.5 %
  l2_load_far               -3.3 %
  l2_load_scattered        +58.4 %
  l2_load_wide              -0.0 %
  l2_store_scattered       -32.0 %
  l2_store_wide            +46.2 %
  l2_tma_load               +1.0 %
  shared_load_wide         -10.6 %
  wgmma_bf16                +0.6 %
  wgmma_bf16_l2             +3.6 %
  wgmma_bf16_narrow         +1.3 %
  wgmma_tf32                -1.4 %
  wgmma_tf32_narrow         +1.3 %
  24 microbenchmarks: median absolute error 13.1 %
  
  kernel never seen              W   MHz measured mJ    model mJ    error
  matmul_fp32_512              453  1980      4.0519      3.9239    -3.2 %
  matmul_tf32_512              306  1980      1.2463      1.3925   +11.7 %
  matmul_bf16_512              273  1980     0.46106     0.51242   +11.1 %
  matmul_fp16_512              276  1980     0.50077     0.53119    +6.1 %
  matmul_fp32_1024             600  1980      26.136      23.057   -11.8 %
  matmul_tf32_1024             591  1980      5.8971      6.4119    +8.7 %
  matmul_bf16_1024             654  1980      2.8082      2.8452    +1.3 %
  matmul_fp16_1024             685  1966      3.0202      2.9294    -3.0 %
  matmul_fp32_2048             636  1980       172.6       149.2   -13.6 %
  matmul_tf32_2048             702  1652      32.059      28.625   -10.7 %
  matmul_bf16_2048             688  1726      14.327      13.309    -7.1 %
  matmul_fp16_2048             689  1661      14.887      12.842   -13.7 %
  matmul_fp32_4096             671  1980        1454      1256.6   -13.6 %
  matmul_tf32_4096             691  1539      231.68       223.8    -3.4 %
  matmul_bf16_4096             692  1492      116.67      111.71    -4.3 %
  matmul_fp16_4096             693  1434      121.44      117.32    -3.4 %
  matmul_fp32_8192             672  1980       11680       10201   -12.7 %
  matmul_tf32_8192             691  1502      1792.9      1778.2    -0.8 %
  matmul_bf16_8192             691  1466      932.97      927.94    -0.5 %
  matmul_fp16_8192             693  1418      968.57      975.82    +0.7 %
  triton_matmul_tf32_4096      468  1980      567.72      617.45    +8.8 %
  triton_matmul_bf16_4096      698  1431      143.61      143.07    -0.4 %
  triton_matmul_fp16_4096      694  1400      147.43      149.22    +1.2 %
  copy_fp32_1GiB               640  1980      258.79      256.37    -0.9 %
  copy_fp32_8MiB               366  1980     0.78394     0.81932    +4.5 %
  add_bf16_512MiB              621  1980      181.31      209.12   +15.3 %
  reduction_fp32_1GiB          685  1980      138.95      139.73    +0.6 %
  softmax_bf16                 497  1980      184.28      175.48    -4.8 %
  layer_norm_bf16              702  1884      122.16      119.34    -2.3 %
  gelu_fp32                    703  1640      290.56      269.09    -7.4 %
  conv_bf16                    694  1520      404.58       388.8    -3.9 %
  conv_fp32                    696  1713       182.3       165.3    -9.3 %
  embedding_bf16               555  1980      68.551      71.717    +4.6 %
  attention_bf16               692  1612      547.35      471.36   -13.9 %
  transpose_fp32               614  1980      451.46      375.07   -16.9 %
  bmm_bf16                     694  1620      30.066      28.739    -4.4 %
  conv1x1_bf16                 697  1833      36.927      38.091    +3.2 %
  batch_norm_bf16              395  1980      165.49      138.46   -16.3 %
  max_pool_bf16                513  1980      160.09      162.49    +1.5 %
  rms_norm_fp32                677  1980      195.56      198.44    +1.5 %
  cumsum_fp32                  568  1980      251.96      272.43    +8.1 %
  cross_entropy_fp32           688  1980      475.06      462.78    -2.6 %
  adam_update_fp32             662  1980      602.21      596.41    -1.0 %
  sigmoid_mul_bf16_16MiB       472  1980      3.4317      3.3453    -2.5 %
  layer_norm_fp32_1MiB         242  1980     0.35989     0.42103   +17.0 %
  linear_relu_fp16_256         691  1428      11.699      10.639    -9.1 %
  46 kernels, dynamic energy: mean absolute error 6.6 %
  $ jq -r '.safety[].bench' model.json

The levels stand in order, the regressions are straight.

  $ jq -r '.curves[] | select(.threads == 1024 and .blocks >= 132) | select(.bench | test("^(shared|l1|l2|dram)_load$")) | "\(.bench) \(.picojoules | round) \(.r2 > 0.999)"' model.json | sort -k2n
  shared_load 107 true
  l1_load 159 true
  l2_load 831 true
  dram_load 3218 true

The shipped model is this one.

  $ for f in model.json $ROOT/share/energy/NVIDIA-H200.energy.json; do jq -c '.model | [.uuid, .static_w, .voltage.slope, .coefficients[].picojoules] | map(if type == "number" then (. * 1000 | round) else . end)' $f; done | uniq | wc -l
  1

The curves of the boards measured before.

  $ for b in a b c; do zcat $ROOT/docs/results/energy/h200-2026-11-20$b.points.jsonl.gz >$b.jsonl; gpufathom calibrate --fit-only --points $b.jsonl -o $b.json >fit.$b.txt
  >   jq -r '[.curves[] | select(.threads == 1024 and .blocks >= 132) | select(.bench | test("^(shared|l1|l2|dram)_load$")) | "\(.bench) \(.picojoules * 10 | round / 10)"] | join(" ")' $b.json; done
  dram_load 3290.6 l1_load 166 l2_load 871.6 shared_load 111.6
  dram_load 2746.2 l1_load 162.6 l2_load 882.7 shared_load 107.9
  dram_load 3244.3 l1_load 161.5 l2_load 869.9 shared_load 109
