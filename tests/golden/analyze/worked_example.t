The numbers of docs/worked-example.md.

  $ gpufathom analyze "$EXAMPLES"/lenet_inf_b1.json.gz --window 1593792: --format json > step.json
  $ jq -c '.window | [.kind, .duration_ns, .step_source]' step.json
  ["range",406721,"marks:ProfilerStep"]
  $ jq -c '.devices[0] | [.kernels, .gpu_events, .span_ns, .busy_ns, .kernel_busy_ns, .kernel_time_sum_ns, .idle_ns]' step.json
  [15,15,406721,30659,30659,30659,376062]
  $ jq -c '.devices[0].idle[] | [.cause, .ns]' step.json
  ["launch_bound",259757]
  ["host_other",86263]
  ["kernel_gap",30042]

The gaps before kernel 2 and kernel 3, with the operators of the first.

  $ gpufathom analyze "$EXAMPLES"/lenet_inf_b1.json.gz --window 1597120:1617792 --format json |
  >   jq -c '.devices[0].idle[] | [.cause, .ns], (select(.cause == "launch_bound") | .operators[] | [.name, .ns])'
  ["launch_bound",18617]
  ["aten::add_",13577]
  ["aten::_convolution",2288]
  ["aten::reshape",1525]
  ["aten::view",1227]
  ["kernel_gap",2055]
  $ gpufathom analyze "$EXAMPLES"/lenet_inf_b1.json.gz --window 1619265:1644832 --format json | jq -c '.devices[0].idle[] | [.cause, .ns]'
  ["launch_bound",13106]
  ["host_other",10488]
  ["kernel_gap",1973]

The page says the same.

  $ for n in 406721 376062 30042 259757 86263; do grep -q "$(echo $n | sed 's/...$/[ ,]&/')\|$n" "$ROOT"/docs/worked-example.md || echo "$n is missing"; done
