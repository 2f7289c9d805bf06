The call tree: both views hold every nanosecond of the window, node by node, in every example; kernels
and copies are those of the analysis.

  $ for capture in lenet_graphs_b1 lenet_train_b64 bert_amp_eager_b32 resnet50_amp_compile_b64; do
  >   gpufathom analyze "$EXAMPLES/$capture.json.gz" --format json > analysis.json
  >   gpufathom query "$EXAMPLES/$capture.json.gz" "select * from call_tree" --format json > tree.json
  >   jq -c --slurpfile a analysis.json --arg of "$capture" '.columns as $c | [.rows[] | . as $r | [$c, $r] | transpose | map({key: .[0], value: .[1]}) | from_entries] | [$of, [.[] | select(.parent == null) | [.view, .ns == ([$a[0].devices[].span_ns] | add), .kernel_ns == ([$a[0].devices[].kernel_busy_ns] | add), .copy_ns == ([$a[0].devices[].copy_only_ns] | add)]], (. as $all | (map(select(.parent != null)) | group_by(.parent) | map({key: (.[0].parent | tostring), value: (map(.ns) | add)}) | from_entries) as $below | [$all[] | select($below[.id | tostring]) | .ns == $below[.id | tostring]] | all)]' tree.json
  > done
  ["lenet_graphs_b1",[["modules",true,true,true],["calls",true,true,true]],true]
  ["lenet_train_b64",[["modules",true,true,true],["calls",true,true,true]],true]
  ["bert_amp_eager_b32",[["modules",true,true,true],["calls",true,true,true]],true]
  ["resnet50_amp_compile_b64",[["modules",true,true,true],["calls",true,true,true]],true]

By the idle causes of the analysis, too.

  $ gpufathom query "$EXAMPLES/lenet_train_b64.json.gz" "select name, sum(ns) as ns from call_tree where view = 'calls' and kind = 'idle' group by name order by name" --format csv | tail -n +2 > tree.csv
  $ gpufathom analyze "$EXAMPLES/lenet_train_b64.json.gz" --format json | jq -r '[.devices[0].idle[] | select(.ns > 0)] | sort_by(.cause)[] | [.cause, .ns] | @csv' | tr -d '"' | diff - tree.csv

Joules: what was measured in the window, in both views and at every node.

  $ ENERGY="$EXAMPLES/resnet50_fp32_b512_energy.gpf.gz"
  $ gpufathom analyze "$ENERGY" --format json 2> /dev/null | jq '[.energy.devices[].nj] | add'
  1453233630915
  $ gpufathom query "$ENERGY" "select view, nj, (select sum(nj) from call_tree c where c.view = t.view and c.id not in (select parent from call_tree where parent is not null)) = nj as leaves from call_tree t where parent is null" --format csv 2> /dev/null
  view,nj,leaves
  modules,1453233630915,1
  calls,1453233630915,1
  [1]

As text, down to a hundredth.

  $ gpufathom analyze "$EXAMPLES/lenet_train_b64.json.gz" --full | sed -n '/^Call tree/,$p' | head -14
  Call tree                           device time by module and operator, from 1 %
                                                           time    share      idle
    window                                             10.40 ms  100.0 %  9.685 ms
     backward                                          4.728 ms   45.5 %  4.274 ms
      autograd::engine::eval..unction: AddmmBackward0  1.426 ms   13.7 %  1.310 ms
       AddmmBackward0                                  1.014 ms    9.7 %  940.0 us
        aten::mm                                       1.014 ms    9.7 %  940.0 us
         idle, launch-bound                            896.9 us    8.6 %  896.9 us
       aten::sum                                       319.3 us    3.1 %  276.1 us
        idle, launch-bound                             261.3 us    2.5 %  261.3 us
      autograd::engine::eval..n: ConvolutionBackward0  934.0 us    9.0 %  653.1 us
       ConvolutionBackward0                            934.0 us    9.0 %  653.1 us
        aten::convolution_backward                     934.0 us    9.0 %  653.1 us
         idle, launch-bound                            448.5 us    4.3 %  448.5 us
