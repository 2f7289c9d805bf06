Kernels of CUDA graphs get their operators from another trace, in the captures that have graphs.

  $ cd "$EXAMPLES"
  $ gpufathom compare lenet_inf_b1.json.gz lenet_graphs_b1.json.gz --window all --format json 2> /dev/null | jq -c '[.shapes[] | [.name, .calls]] | .[:5]'
  [["(no shapes recorded)",[0,0]],["aten::convolution",[1,0]],["aten::convolution",[1,0]],["aten::avg_pool2d",[1,0]],["aten::addmm",[1,0]]]
  $ gpufathom compare lenet_inf_b1.json.gz lenet_graphs_b1.json.gz --graphs lenet_inf_b1.json.gz --window all --format json 2> /dev/null | jq -c '[.shapes[] | [.name, .calls]] | .[:5]'
  [["aten::nll_loss_forward",[1,0]],["aten::_log_softmax",[1,0]],["aten::convolution",[1,1]],["aten::addmm",[1,1]],["aten::avg_pool2d",[1,1]]]
  $ gpufathom compare lenet_inf_b1.json.gz lenet_train_b64.json.gz --graphs lenet_inf_b1.json.gz
  gpufathom: the captures: no kernel of a graph without an operator, for which --graphs would tell one (--graphs goes with a trace that has the kernels of CUDA graphs)
  [1]
  $ gpufathom compare lenet_inf_b1.json.gz lenet_graphs_b1.json.gz --graphs bert_amp_eager_b32.json.gz
  gpufathom: lenet_graphs_b1.json.gz: nothing that its graphs ran (the first: 13 launches) is what these files launched (3252), or several differ (give a trace of the same program and sizes while it captures the graph, or without graphs)
  [1]
