Two runs side by side: eager against compiled, and FP32 against mixed precision.

  $ cp "$EXAMPLES"/resnet50_amp_eager_b64.json.gz eager.json.gz
  $ cp "$EXAMPLES"/resnet50_amp_compile_b64.json.gz compile.json.gz
  $ cp "$EXAMPLES"/resnet50_fp32_eager_b64.json.gz fp32.json.gz
  $ gpufathom compare eager.json.gz compile.json.gz --rows 4 | grep -E '^  [AB]  |^A step|^No diff|gpu.busy|^    idle|^  idle|copies|total|^[A-Z]'
    A  eager.json.gz    NVIDIA H200      3  49.83 ms  778.6 us  1.00x
    B  compile.json.gz  NVIDIA H200      3  42.54 ms  664.7 us  1.17x
  Undecided: B's step is 14.6 % shorter than A's (95 %: -36.5 to +14.7 %); about 4
  Utilization by level
  Result
  Time breakdown of a step
    idle: other host work       5.629 ms  3.309 ms  -2.320 ms
    idle: launch-bound          27.73 ms  26.69 ms  -1.041 ms
    idle: kernel launch gap     1.325 ms  1.345 ms  +19.91 us
    idle: host synchronization  24.31 us  22.43 us  -1.871 us
    copies and sets             51.06 us  50.87 us    -195 ns
    total                       49.83 ms  42.54 ms  -7.290 ms
  Framework runtime phases
  Queue depth
  Kernels by role
  Operators by shape                            TFLOP/s of the median call in both
  Call tree                                       B - A, from 4 % of the time of A
      idle, other host work                          2.722 ms  318.8 us  -2.403 ms
  Layers
  Kernels
  $ gpufathom compare fp32.json.gz eager.json.gz compile.json.gz --format json > three.json
  $ jq -c '.schema, .per, (.runs[] | [.path, .steps, .time_ns, .speedup])' three.json
  "gpufathom.comparison/1"
  "step"
  ["fp32.json.gz",3,78428400,1]
  ["eager.json.gz",3,49830392,1.5739069441797688]
  ["compile.json.gz",3,42540194,1.843630520349766]

The parts of every run add up to its step, and the changes to the difference of the steps, to the nanosecond. Layers and kernels each
add up to the kernel time.

  $ jq -c '[range(.runs | length)] as $r | . as $c | $r | map(. as $i | [([$c.time[].ns[$i]] | add) == $c.runs[$i].time_ns,
  >   ([$c.time[].change_ns[$i]] | add) == $c.runs[$i].time_ns - $c.runs[0].time_ns,
  >   ([$c.layers[].ns[$i]] | add) == ([$c.time[] | select(.kind == "layer_type").ns[$i]] | add),
  >   ([$c.kernels[].ns[$i]] | add) == ([$c.layers[].ns[$i]] | add)])' three.json
  [[true,true,true,true],[true,true,true,true],[true,true,true,true]]
  $ jq -c '.time[] | select(.kind == "idle") | [.name, .ns]' three.json
  ["launch_bound",[318943,27726463,26685284]]
  ["host_other",[1006562,5628954,3309071]]
  ["dependency",[107681,0,0]]
  ["kernel_gap",[1350155,1324728,1344637]]
  ["sync",[27632,24306,22435]]

A run against itself differs in nothing.

  $ gpufathom compare eager.json.gz eager.json.gz --format json | jq -c '[.runs[].speedup], ([.time[], .layers[], .kernels[] | .change_ns[]] | unique)'
  [1,1]
  [0]

The page is one file that asks for nothing else.

  $ gpufathom compare eager.json.gz compile.json.gz -o page.html && grep -c 'id="data">H4sI' page.html && grep -Ec '(src|href)="?http|@import|url\(http' page.html
  1
  0
  [1]

A run that is not whole is compared all the same, and said to be.

  $ gunzip -c eager.json.gz | head -c 6000000 > cut.json
  $ gpufathom compare eager.json.gz cut.json >/dev/null
  gpufathom: cut.json: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 6000000)
  gpufathom: cut.json: incomplete result: 9 232 x calls_missing: of the 21 856 numbers of the runtime's calls, 9 232 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  [1]
  $ gpufathom export cut.json --csv tables
  gpufathom: cut.json: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 6000000)
  gpufathom: cut.json: incomplete result: 9 232 x calls_missing: of the 21 856 numbers of the runtime's calls, 9 232 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  [1]
  $ ls tables | head -2
  activities.csv
  analyzed_steps.csv

  $ gpufathom compare eager.json.gz
  gpufathom: at least 2 of FILE are needed, 1 is given (see gpufathom compare --help)
  [2]
  $ gpufathom compare eager.json.gz nothing.json
  gpufathom: nothing.json: no such file
  [1]
  $ gpufathom compare eager.json.gz compile.json.gz --counters one.csv
  gpufathom: --counters requires one report per capture, in the same order, or none
  [2]
