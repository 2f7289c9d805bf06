H200s that no model has seen (docs/calibration.md), by the shipped model and their quick runs: 67 kernels of libraries each. Those of the
first were counted without atomics, INT8 and FP64 tensor operations, so that three of its kernels stay low.

  $ E=$ROOT/docs/results/energy/h200-2026-11-29 S=$ROOT/share/energy/NVIDIA-H200.energy.json
  $ for b in g i j; do gpufathom calibrate --quick --fit-only --points $E$b.quick.points.jsonl --unseen $E$b.quick.unseen --population $S >said.$b; head -1 said.$b; grep -E 'matmul_(fp64|int8)|index_add' said.$b; tail -3 said.$b; done
  GPU-9ed51c37-ffb5-a3e1-6ad1-0bd7a7f64e38 of NVIDIA H200, from 21 quick runs: idle 123.0 W, dynamic energy +3.0 % and DRAM +2.2 % beside the mean of its kind
  index_add_fp32                 471   -11.0 %    -9.4 %
  matmul_fp64_2048               681   -45.3 %   -44.5 %
  matmul_int8_4096               695   -37.8 %   -36.8 %
  67 kernels:
    as the others            5.5 %  largest  45.3 %, 2 over 15 %; above static power 7.9 %; intervals 11.8 % either side, 93 % inside
    after the quick runs     4.6 %  largest  44.5 %, 3 over 15 %; above static power 6.0 %; intervals 10.0 % either side, 88 % inside
  GPU-7b00cec7-be48-c44a-e718-0e21354efbe7 of NVIDIA H200, from 20 quick runs: idle 131.0 W, dynamic energy +4.2 % and DRAM -1.5 % beside the mean of its kind
  index_add_fp32                 482    -4.6 %    -1.6 %
  matmul_fp64_2048               713    -6.9 %    -3.6 %
  matmul_int8_4096               696    -5.3 %    -2.0 %
  67 kernels:
    as the others            3.9 %  largest  15.5 %, 1 over 15 %; above static power 4.9 %; intervals 11.8 % either side, 99 % inside
    after the quick runs     3.1 %  largest  13.1 %, 0 over 15 %; above static power 4.1 %; intervals 10.0 % either side, 97 % inside
  GPU-10309734-803d-6d8f-db5a-099baef37f93 of NVIDIA H200, from 21 quick runs: idle 122.6 W, dynamic energy -2.1 % and DRAM +5.3 % beside the mean of its kind
  index_add_fp32                 458    -0.7 %    -1.6 %
  matmul_fp64_2048               679    -4.4 %    -6.4 %
  matmul_int8_4096               714    -5.7 %    -7.5 %
  67 kernels:
    as the others            3.1 %  largest  15.0 %, 1 over 15 %; above static power 4.2 %; intervals 12.3 % either side, 96 % inside
    after the quick runs     3.4 %  largest  14.7 %, 0 over 15 %; above static power 4.3 %; intervals 10.0 % either side, 94 % inside
