A step starts with its mark and lasts until the next one starts. Steps that differ by a fifth are not stable.

  $ gpufathom analyze "$EXAMPLES"/resnet50_amp_eager_b64.json.gz --format json > eager.json
  $ jq -c '.window | [.kind, .duration_ns, .step_source], (.all_steps[] | [.index, .duration_ns, .stable])' eager.json
  ["steps",149491177,"marks:ProfilerStep"]
  [9,48657328,false]
  [10,44669220,false]
  [11,56164629,false]

The steps cover the whole capture here: their durations add up to it.

  $ jq '([.window.all_steps[].duration_ns] | add) == .window.duration_ns' eager.json
  true
  $ gpufathom analyze "$EXAMPLES"/resnet50_amp_eager_b64.json.gz --window step:10 --format json |
  >   jq -c '[.window.kind, .window.duration_ns, .devices[0].kernels, .devices[0].busy_ns, .devices[0].idle_ns]'
  ["step",44669220,893,15140648,29528572]

Busy and idle time of the steps add up to those of the whole.

  $ for n in 9 10 11; do gpufathom analyze "$EXAMPLES"/resnet50_amp_eager_b64.json.gz --window step:$n --format json; done |
  >   jq -s -c --slurpfile all eager.json '[(map(.devices[0].busy_ns) | add), (map(.devices[0].kernels) | add)] == [$all[0].devices[0].busy_ns, $all[0].devices[0].kernels]'
  true

Without marks, the kernels tell: steps of the same kernels, from the period of their sequence.

  $ steps() {
  >   for n in $(gpufathom analyze "$1" --format json | jq '.window.all_steps[].index'); do
  >     gpufathom analyze "$1" --window step:$n --format json | jq -c '.devices[0] | [.kernels, .busy_ns]'
  >   done
  > }
  $ for f in resnet50_amp_eager_b64 resnet50_amp_compile_b64 resnet50_fp32_eager_b64 lenet_train_b64 lenet_inf_b1; do
  >   zcat "$EXAMPLES"/$f.json.gz | jq -c 'del(.traceEvents[] | select(.name | tostring | startswith("ProfilerStep")))' > unmarked.json
  >   gpufathom analyze unmarked.json --format json | jq -r '.window | "\(.step_source) \(.step_confidence)"'
  >   test "$(steps unmarked.json)" = "$(steps "$EXAMPLES"/$f.json.gz)" || echo "$f differs"
  > done
  period:893 kernels 1
  period:781 kernels 1
  period:616 kernels 1
  period:50 kernels 1
  period:15 kernels 1

What cannot be answered is said.

  $ cp "$EXAMPLES"/lenet_inf_b1.json.gz .
  $ gpufathom analyze lenet_inf_b1.json.gz --window step:12
  gpufathom: lenet_inf_b1.json.gz: --window step:12: there is no such step (steps: 9 10 11 (marks:ProfilerStep))
  [1]
  $ gpufathom analyze lenet_inf_b1.json.gz --window 1ms:0.5ms
  gpufathom: --window: '1ms:0.5ms' is empty: START must come before END (see gpufathom analyze --help)
  [2]
  $ gpufathom analyze lenet_inf_b1.json.gz --window 3s:4s
  gpufathom: lenet_inf_b1.json.gz: --window 3s:4s: no device activity in it (the device was traced for 2000513 ns after its first activity)
  [1]
  $ gpufathom analyze lenet_inf_b1.json.gz --window 3s:
  gpufathom: lenet_inf_b1.json.gz: --window 3s:: no device activity in it (the device was traced for 2000513 ns after its first activity)
  [1]
  $ gpufathom analyze lenet_inf_b1.json.gz --window sometimes
  gpufathom: --window: 'sometimes' is not auto, all, steps, stable, step:N or START:END, such as 1.5ms:20ms (see gpufathom analyze --help)
  [2]

A span ends where the capture does. Its own clock is meant by times that are on it, on either side.

  $ for window in 1ms:1s -1s:1ms :1ms 1795187789809000000: :1795187789809000000; do gpufathom analyze lenet_inf_b1.json.gz --window $window --json | jq -c '.window | [.kind, .duration_ns]'; done
  ["range",1143538]
  ["range",1688198]
  ["range",1000000]
  ["range",1671307]
  ["range",329206]

An end that is not named is open: a step that begins with its mark before the device works, or ends with it after that, is in.

  $ for window in all : 0: :1s; do gpufathom analyze lenet_inf_b1.json.gz --window $window --json | jq -c '.window | [.kind, .duration_ns, (.steps | length)]'; done
  ["all",2000513,3]
  ["range",2000513,3]
  ["range",2000513,2]
  ["range",2143538,3]

JAX returns from a step before the device has run it: five steps of 17 ms whose marks lie in the first 2 ms.

  $ gpufathom analyze "$ROOT/tests/advice/captures/jax_train.xplane.pb.gz" --format json | jq -c '.window | [.kind, .step_source, .duration_ns, [.steps[].duration_ns]]'
  ["steps","marks:train",84501381,[17494584,16154314,17003680,16979233,16869570]]
