Many runs over their settings: axes from the captures and from the names of their files.

  $ for way in amp_eager amp_compile fp32_eager; do cp "$EXAMPLES"/resnet50_${way}_b64.json.gz .; done
  $ gpufathom compare --axes batch,precision,mode resnet50_*.json.gz --format json > sweep.json
  $ jq -c '.schema, .axes, (.runs[] | [.model, .gpu, .framework, .mode, .precision, .batch, .step_ns, (.throughput | floor)])' sweep.json
  "gpufathom.sweep/2"
  ["batch","precision","mode"]
  ["resnet50","NVIDIA H200","pytorch","compile","amp",64,42540194,1504]
  ["resnet50","NVIDIA H200","pytorch","eager","amp",64,49830392,1284]
  ["resnet50","NVIDIA H200","pytorch","eager","fp32",64,78428400,816]

The highest throughput is 1, and a run's throughput is its batch over its step.

  $ jq -c '[.runs[].normalised] | max, ([.[] | . > 0 and . <= 1] | all)' sweep.json
  1
  true
  $ jq -c '[.runs[] | (.throughput * .step_ns * 1e-9 / .batch * 1e6 | round)] | unique' sweep.json
  [1000000]

Counters make the levels, their spread over all kernels, and the curve of the tensor cores, which ends at all of the time.

  $ gpufathom compare --axes batch resnet50_amp_eager_b64.json.gz resnet50_amp_eager_b64.json.gz --counters "$EXAMPLES"/resnet50_amp_eager_b64.ncu.csv.gz "$EXAMPLES"/resnet50_amp_eager_b64.ncu.csv.gz --format json > counted.json
  $ jq -c '.runs | length, .[0].repeats, .[0].spread' counted.json
  1
  2
  0
  $ jq -c '.runs[0].spreads as $spreads | .series[0] | [.kernels, ($spreads | map(.id) | sort), .curve_level, (.tensor_curve | last | .time_share * 1e6 | round)]' counted.json
  [2679,["dram.active","issue.active","l1.hit_rate","matrix.issue","sm.active","tensor.active","tensor.issue"],"tensor.issue",1000000]
  $ jq -c '.series[0].tensor_curve | [.[:-1], .[1:]] | transpose | map(.[0].time_share <= .[1].time_share and .[0].utilization < .[1].utilization) | all' counted.json
  true

A table names captures and their axes, or holds the numbers. The study of LeNet in small: three batches, two precisions, three repeats.

  $ cp "$EXAMPLES"/lenet_train_b64.json.gz "$EXAMPLES"/lenet_train_b64.base.ncu.csv.gz .
  $ cat > lenet.json <<'END'
  > {"gpu": "NVIDIA H200", "rows": [
  >  {"model": "lenet", "framework": "pytorch", "mode": "eager", "precision": "fp32", "batch": 64, "capture": "lenet_train_b64.json.gz", "counters": "lenet_train_b64.base.ncu.csv.gz", "memory_bytes": 20000000},
  >  {"model": "lenet", "framework": "pytorch", "mode": "eager", "precision": "fp32", "batch": 1024, "memory_bytes": 90000000, "flops_per_item": 2500000,
  >   "runs": [{"step_s": 0.0040, "levels": {"gpu.busy": {"mean": 0.31}, "issue.active": 0.08}}, {"step_s": 0.0041, "levels": {"gpu.busy": 0.29}}, {"step_s": 0.0042}]},
  >  {"model": "lenet", "framework": "pytorch", "mode": "eager", "precision": "fp32", "batch": 8192, "memory_bytes": 700000000, "step_s": 0.032, "levels": {"gpu.busy": 0.97, "issue.active": 0.55, "sm.active": 0.9}},
  >  {"model": "lenet", "framework": "pytorch", "mode": "eager", "precision": "amp", "batch": 8192, "memory_bytes": 400000000, "step_s": 0.036, "levels": {"gpu.busy": 0.96}},
  >  {"model": "lenet", "framework": "pytorch", "mode": "eager", "precision": "amp", "batch": 65536, "out_of_memory": true}]}
  > END
  $ LC_ALL=C gpufathom compare --table lenet.json
  4 runs in 2 series over precision, batch.
  
  Throughput and levels over the batch, % of the time
    a  lenet fp32
        batch  items/s  of best    GPU    SM  issue   TC  MFU  TFLOP/s    memory
           64   18 457  #          6.8   1.1    0.6  0.0    -        -   20.0 MB
      1 024 *  249 756  ########  30.0     -    8.0    -  1.0      0.6   90.0 MB
        8 192  256 000  ########  97.0  90.0   55.0    -    -        -  700.0 MB
    b  lenet amp
      batch      step  items/s  of best    GPU  SM  issue  TC    memory
      8 192  36.00 ms  227 556  #######   96.0   -      -   -  400.0 MB
    * saturation: the smallest batch with 95 % of the highest throughput
  
  Throughput against memory; a capital marks the saturation
    lenet: throughput, of the best
    100 % |                             A                                      a
          |                                                         b
          |
          |
          |
          |
          |
          |
          |
          |
          |a
        0 |
          +---------------------------------------------------------------------
           20.0 MB memory                                               700.0 MB
  
  Tensor cores over the kernels
    tensor.issue
    1 % |
        |
        |
        |
        |
        |                                                                    aa
        |
        |                                                                  aaa
        |                                                               aaaa
        |                                                               a
        |                                                       aaaaaaaa
      0 |aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        +----------------------------------------------------------------------
         0 share of kernel time, kernels in the order of their level      100 %
  
  Levels over all kernels, % of their time
       level                    p5  median   p95  mean  from least to most
    a  SM active               0.2     4.7  53.7  16.9  9201020.000.010....0
    a  issue slot utilization  0.0     1.8  36.4   8.2  9001.010..0..0.....0
    a  tensor pipe active      0.0     0.0   0.6   0.1  92.1...00..0...0...0
    a  tensor instr. issued    0.0     0.0   0.3   0.0  92.1...00..0...0...0
    a  matrix instr. issued    0.0     0.0   0.0   0.0
    a  DRAM throughput         0.0     0.1   0.9   0.3  91100..0...........0
    a  L1 hit rate             0.0    13.9  85.6  29.5  9415.1120.011.02.1.5
  $ gpufathom compare --table lenet.json --format json | jq -c '.series[] | [.name, .saturation_batch, .runs]'
  ["lenet fp32",1024,[0,1,2]]
  ["lenet amp",null,[3]]
  $ gpufathom compare --table lenet.json --format json | jq -c '.runs[1] | [.repeats, (.spread * 1e4 | round), .levels, (.flops | round)]'
  [3,488,[{"id":"gpu.busy","value":0.3,"least":0.29,"most":0.31},{"id":"issue.active","value":0.08,"least":null,"most":null}],624390243902]

CSV says the same.

  $ printf 'model,batch,precision,step_s,gpu.busy\nlenet,64,fp32,0.004,0.3\nlenet,64,amp,0.002,0.4\n' > lenet.csv
  $ gpufathom compare --table lenet.csv --format json | jq -c '.axes, (.runs[] | [.model, .precision, .batch, .throughput, .levels[0].value])'
  ["precision"]
  ["lenet","fp32",64,16000,0.3]
  ["lenet","amp",64,32000,0.4]

JSON with a number as text, as a data frame writes it, says the same; what is no number is refused.

  $ echo '[{"model": "lenet", "batch": "64", "precision": "fp32", "step_s": "0.004", "gpu.busy": 0.3}, {"model": "lenet", "batch": 64.0, "precision": "amp", "step_s": 0.002, "gpu.busy": "0.4", "joules": null}]' > frame.json
  $ for way in csv json; do gpufathom compare --table $([ $way = csv ] && echo lenet.csv || echo frame.json) --format json | jq -c '.axes, (.runs[] | [.model, .precision, .batch, .throughput, .joules, .levels])' > of_$way; done; cmp of_csv of_json && wc -l < of_json
  3
  $ echo '{"gpu": "H200", "rows": [{"batch": 64, "step_s": 1}, {"batch": "many", "step_s": 1}]}' > bad.json; gpufathom compare --table bad.json
  gpufathom: bad.json: row 2: "many" under batch is not a valid number (numbers are plain: 64, 0.0123)
  [1]
  $ printf 'batch,step_s\n64,-1\n' > bad.csv; gpufathom compare --table bad.csv
  gpufathom: bad.csv: line 2: "-1" under step_s is not a valid number (numbers are plain: 64, 0.0123)
  [1]

The page is one file that asks for nothing else (tests/web/run opens it).

  $ gpufathom compare --table lenet.json -o page.html && grep -c "default-src 'none'" page.html && grep -Ec '(src|href)=.http' page.html
  1
  0
  [1]

What is missing or wrong is said.

  $ cp resnet50_amp_eager_b64.json.gz plain.json.gz
  $ gpufathom compare --axes batch plain.json.gz resnet50_fp32_eager_b64.json.gz --format json | jq -c '.runs[] | [.precision, .batch]'
  ["bf16",64]
  ["fp32",64]
  $ gpufathom compare --axes mode plain.json.gz resnet50_amp_eager_b64.json.gz
  gpufathom: plain.json.gz: its mode is not known: put it into the file's name (resnet50_amp_eager_b64.gpf) or into a table (--table)
  [1]
  $ gpufathom compare --axes size plain.json.gz resnet50_amp_eager_b64.json.gz
  gpufathom: --axes: 'size' is not one of batch, model, gpu, framework, mode, precision
  [2]
  $ printf 'batch,step_s\n64,fast\n' > bad.csv; gpufathom compare --table bad.csv
  gpufathom: bad.csv: line 2: "fast" under step_s is not a valid number (numbers are plain: 64, 0.0123)
  [1]
  $ printf '\357\273\277batch,step_s,model\n64,10,net\n128,18,net\n' > marked.csv; gpufathom compare --table marked.csv --json | jq -c '[.runs[] | [.batch, .model]]'
  [[64,"net"],[128,"net"]]
  $ printf 'batch,step_ms\n64,10\n' > bad.csv; gpufathom compare --table bad.csv
  gpufathom: bad.csv: line 1: "step_ms" is no column of a table, nor a metric: did you mean step_s? (see docs/sweep.md for its layout)
  [1]
  $ printf 'batch,step_s\n-64,10\n' > bad.csv; gpufathom compare --table bad.csv
  gpufathom: bad.csv: line 2: "-64" under batch is not a valid number (numbers are plain: 64, 0.0123)
  [1]
  $ printf 'batch,step_s\n64,nan\n' > bad.csv; gpufathom compare --table bad.csv
  gpufathom: bad.csv: line 2: "nan" under step_s is not a valid number (numbers are plain: 64, 0.0123)
  [1]
  $ printf 'batch,step_s\n64,1,5\n' > bad.csv; gpufathom compare --table bad.csv
  gpufathom: bad.csv: line 2: "5" is under no column (decimals have a point, and texts with commas quotes)
  [1]
  $ printf 'batch,step_s,step_s\n64,1,5\n' > bad.csv; gpufathom compare --table bad.csv
  gpufathom: bad.csv: line 1: "step_s" is the name of several columns (see docs/sweep.md for its layout)
  [1]
  $ gpufathom compare --table "$EXAMPLES"/lenet_train_b64.json.gz 2>&1 | wc -c | awk '{print ($1 < 400) ? "short" : $1}'
  short
  $ printf '{"rows": []}' > none.json; gpufathom compare --table none.json
  gpufathom: none.json: has no rows (see docs/sweep.md for its layout)
  [1]
  $ gpufathom compare --table nowhere.json
  gpufathom: nowhere.json: cannot be read: No such file or directory
  [1]

Every run with kernels has each level over them; of a series the kernels are those whose tensor instructions are counted.

  $ cat >counted.json <<'END'
  > {"schema": "gpufathom.sweep-table/1", "gpu": "NVIDIA H200", "rows": [
  >  {"model": "m", "batch": 8, "runs": [{"step_s": 0.01}], "kernels": [
  >   {"name": "a", "count": 1, "ns": 100, "levels": {"tensor.active": 0.5, "tensor.issue": 0.1}},
  >   {"name": "b", "count": 3, "ns": 300, "levels": {"tensor.active": 0.0, "tensor.issue": 0.0}}]},
  >  {"model": "m", "batch": 16, "runs": [{"step_s": 0.01}], "kernels": [
  >   {"name": "a", "count": 1, "ns": 100, "levels": {"tensor.active": 0.7}},
  >   {"name": "b", "count": 1, "ns": 100, "levels": {"tensor.active": 0.1}}]}]}
  > END
  $ gpufathom compare --table counted.json --format json | jq -c '[.series[0].kernels_run, .series[0].instances_without_tensor], (.runs[] | [.batch, (.spreads[] | [.id, .value])])'
  [0,0.75]
  [8,["tensor.active",0.125],["tensor.issue",0.025]]
  [16,["tensor.active",0.4]]
  $ gpufathom compare --table counted.json | sed -n '/^Levels/,$p'
  Levels over all kernels, % of their time
          level                   p5  median   p95  mean  from least to most
    a     tensor pipe active     0.0     0.0  50.0  12.5  \xe2\x96\x88                  \xe2\x96\x83 (esc)
    a     tensor instr. issued   0.0     0.0  10.0   2.5  \xe2\x96\x88                  \xe2\x96\x83 (esc)
    a 16  tensor pipe active    10.0    10.0  70.0  40.0  \xe2\x96\x88                  \xe2\x96\x88 (esc)

Joules of an item, the cheapest run, and which cannot be told from it: of captures by their sensor, of a table by its repeats.

  $ cp "$EXAMPLES"/resnet50_fp32_b512_energy.gpf.gz .
  $ gpufathom compare --axes batch resnet50_fp32_b512_energy.gpf.gz resnet50_fp32_eager_b64.json.gz --format json 2>/dev/null | jq -c '.cheapest, (.runs[] | [.batch, (.joules, .joules_per_item, .joules_low, .joules_high | if . then . * 1000 | round else . end)])'
  []
  [512,363308,710,677,742]
  [64,null,null,null,null]
  $ cat > joules.json <<'END'
  > {"model": "net", "rows": [
  >  {"precision": "amp", "batch": 64, "runs": [{"step_s": 0.05, "joules": 16.0}, {"step_s": 0.05, "joules": 16.2}, {"step_s": 0.05, "joules": 15.9}]},
  >  {"precision": "amp", "batch": 128, "runs": [{"step_s": 0.09, "joules": 32.2}, {"step_s": 0.09, "joules": 32.1}, {"step_s": 0.09, "joules": 32.6}]},
  >  {"precision": "fp32", "batch": 64, "runs": [{"step_s": 0.1, "joules": 40.0}, {"step_s": 0.1, "joules": 40.3}, {"step_s": 0.1, "joules": 40.1}]}]}
  > END
  $ LC_ALL=C gpufathom compare --table joules.json | sed -n '1,/^  *energy/p' | head -16
  3 runs in 2 series over precision, batch.
  
  Throughput and levels over the batch, % of the time
    a  net amp
      batch      step  items/s  of best   GPU  SM  issue  TC  J/item
         64  50.00 ms    1 280  #######     -   -      -   -   0.251
        128  90.00 ms    1 422  ########    -   -      -   -   0.252
    b  net fp32
      batch      step  items/s  of best   GPU  SM  issue  TC  J/item
         64  100.0 ms      640  ####        -   -      -   -   0.627
  
  Least energy for an item
    net amp batch 64: 0.251 J (0.245 to 0.256); cannot be told from net amp batch
    128 (0.252 J): record longer, or repeat.
  $ gpufathom compare --table joules.json --format json | jq -c '.cheapest[] | [.run, .next, (.next_low, .next_high | . * 1000 | round), .alike]'
  [0,1,976,1039,[1]]
  $ printf 'model,precision,batch,step_s,joules\nnet,amp,64,0.05,16\nnet,fp32,64,0.1,40\n' > joules.csv; LC_ALL=C gpufathom compare --table joules.csv | sed -n '/Least/,$p'
  Least energy for an item
    net amp batch 64: 0.25 J; the next, net fp32 batch 64, takes 150.0 % more. How
    sure that is, repeats or captures tell.
