Kernels of CUDA graphs by another trace of the program: of batch 1 without graphs. Each of the five
launches carries out every operation once; shapes, modules and the line of the program follow.

  $ gpufathom work "$EXAMPLES/lenet_graphs_b1.json.gz" --format json 2> /dev/null | jq -c '[.operators[].name]'
  $ gpufathom work "$EXAMPLES/lenet_graphs_b1.json.gz" --graphs "$EXAMPLES/lenet_inf_b1.json.gz" --window all --format json > work.json
  $ jq -c '.operators[] | [.name, .shapes, .module, .calls, .kernels]' work.json
  $ jq -c '[([.operators[].kernels] | add), .coverage > 0.9, .flops]' work.json

The operations are those of a step of the other trace, to the last; its softmax lies outside the graph.

  $ gpufathom query "$EXAMPLES/lenet_inf_b1.json.gz" "select name, shapes, calls, module from operators where name not like '%softmax%' order by name, shapes" --format csv | sed 's/,[0-9]*,/,N,/' > without.csv
  $ jq -r '.operators[] | [.name, .shapes, "N", .module] | @csv' work.json | tr -d '"' | sort > with.csv
  $ tail -n +2 without.csv | tr -d '"' | sort | diff - with.csv

A file that is none of the program is refused.

  $ gpufathom work "$EXAMPLES/lenet_graphs_b1.json.gz" --graphs "$EXAMPLES/bert_amp_eager_b32.json.gz"
  $ gpufathom work "$EXAMPLES/lenet_inf_b1.json.gz" --graphs "$EXAMPLES/lenet_inf_b1.json.gz"
