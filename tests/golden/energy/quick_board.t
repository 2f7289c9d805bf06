An H200 that no model has seen (docs/lab/energy.md): its 24 quick runs, then 67 kernels of libraries, before and after.

  $ G=$ROOT/docs/results/energy/h200-2026-11-29g.quick
  $ gpufathom calibrate --quick --fit-only --points $G.points.jsonl --unseen $G.unseen --population $ROOT/share/energy/NVIDIA-H200.energy.json >said
  $ head -1 said; grep -E 'matmul_(fp64|int8)' said; tail -3 said
  GPU-9ed51c37-ffb5-a3e1-6ad1-0bd7a7f64e38 of NVIDIA H200, from 24 quick runs: idle 122.9 W, dynamic energy +2.2 % and DRAM +3.9 % beside the mean of its kind
  matmul_fp64_2048               681   -44.4 %   -44.0 %
  matmul_int8_4096               695   -36.5 %   -35.9 %
  67 kernels:
    as the others            6.0 %  largest  44.4 %, 2 over 15 %; above static power 8.6 %; intervals 12.0 % either side, 91 % inside
    after the quick runs     5.3 %  largest  44.0 %, 3 over 15 %; above static power 6.9 %; intervals 10.3 % either side, 88 % inside

Without the two products whose tensor instructions are no term of the model.

  $ awk '/^[a-z].* W? *[0-9]+ +[-+]/ && !/matmul_(fp64|int8)/ {for (i = 3; i < NF; i += 2) {e = $i < 0 ? -$i : $i; s[i] += e}; n++} END {printf "%d kernels, %.1f %% before, %.1f %% after\n", n, s[3] / n, s[5] / n}' said
  65 kernels, 4.9 % before, 4.3 % after
