Kernels of CUDA graphs by another trace of the program: of batch 1 without graphs. Each of the five
launches carries out every operation once; shapes, modules and the line of the program follow.

  $ gpufathom work "$EXAMPLES/lenet_graphs_b1.json.gz" --format json 2> /dev/null | jq -c '[.operators[].name]'
  ["(no shapes recorded)"]
  $ gpufathom work "$EXAMPLES/lenet_graphs_b1.json.gz" --graphs "$EXAMPLES/lenet_inf_b1.json.gz" --window all --format json > work.json
  $ jq -c '.operators[] | [.name, .shapes, .module, .calls, .kernels]' work.json
  ["aten::convolution","1x6x14x14 * 16x6x5x5 * 16","Sequential_0.Conv2d_1",5,10]
  ["aten::convolution","1x1x28x28 * 6x1x5x5 * 6","Sequential_0.Conv2d_0",5,10]
  ["aten::avg_pool2d","1x6x28x28","Sequential_0.AvgPool2d_0",5,5]
  ["aten::addmm","120 * 1x400 * 400x120","Sequential_0.Linear_0",5,5]
  ["aten::avg_pool2d","1x16x10x10","Sequential_0.AvgPool2d_1",5,5]
  ["aten::addmm","10 * 1x84 * 84x10","Sequential_0.Linear_2",5,5]
  ["aten::addmm","84 * 1x120 * 120x84","Sequential_0.Linear_1",5,5]
  ["aten::relu","1x6x28x28","Sequential_0.ReLU_0",5,5]
  ["aten::relu","1x16x10x10","Sequential_0.ReLU_1",5,5]
  ["aten::relu","1x84","Sequential_0.ReLU_3",5,5]
  ["aten::relu","1x120","Sequential_0.ReLU_2",5,5]
  $ jq -c '[([.operators[].kernels] | add), .coverage > 0.9, .flops]' work.json
  [65,true,4165200]

The operations are those of a step of the other trace, to the last; its softmax and loss
lie outside the graph.

  $ gpufathom query "$EXAMPLES/lenet_inf_b1.json.gz" "select name, shapes, calls, module from operators where name not like '%softmax%' and name not like '%loss%' order by name, shapes" --format csv | sed 's/,[0-9]*,/,N,/' > without.csv
  $ jq -r '.operators[] | [.name, .shapes, "N", .module] | @csv' work.json | tr -d '"' | sort > with.csv
  $ tail -n +2 without.csv | tr -d '"' | sort | diff - with.csv

A file that is none of the program is refused.

  $ cd "$EXAMPLES"
  $ gpufathom work lenet_graphs_b1.json.gz --graphs "$EXAMPLES/bert_amp_eager_b32.json.gz"
  gpufathom: lenet_graphs_b1.json.gz: nothing that its graphs ran (the first: 13 launches) is what these files launched (3252), or several differ (give a trace of the same program and sizes while it captures the graph, or without graphs)
  [1]
  $ gpufathom work lenet_inf_b1.json.gz --graphs "$EXAMPLES/lenet_inf_b1.json.gz"
  gpufathom: lenet_inf_b1.json.gz: no kernel of a graph without an operator, for which --graphs would tell one (--graphs goes with a trace that has the kernels of CUDA graphs)
  [1]

In SQL.

  $ gpufathom query lenet_graphs_b1.json.gz --graphs lenet_inf_b1.json.gz "select count(operator), count(distinct module), count(captured_op) from attributed_kernels" --format csv
  count(operator),count(distinct module),count(captured_op)
  65,11,65
