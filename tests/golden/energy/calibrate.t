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

The H200's committed points, with their counters: the levels stand in order, the regressions are straight.

  $ R=$ROOT/docs/results/energy/h200-2026-11-20c
  $ zcat $R.points.jsonl.gz >points.jsonl
  $ gpufathom calibrate --fit-only --points points.jsonl --counters $R.kernels.ncu.csv.gz -o model.json | head -2
  123 points, 92 left out; mean absolute error of the fit 3.7 %
  idle: asleep 97 W, context 132 W, sleeping warps 132 W; SM clock 1711 to 1980 MHz
  $ jq -r '.curves[] | select(.threads == 1024 and .blocks >= 132) | select(.bench | test("^(shared|l1|l2|dram)_load$")) | "\(.bench) \(.picojoules | round) \(.r2 > 0.999)"' model.json | sort -k2n
  shared_load 109 true
  l1_load 161 true
  l2_load 870 true
  dram_load 3244 true
  $ jq -r '.safety[].bench' model.json
