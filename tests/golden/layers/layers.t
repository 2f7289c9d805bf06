Kernel time by layer type, module or operator, and phase. Every kernel is in one row of each table: the sums are the
kernel-busy time exactly.

  $ layers() { gpufathom analyze --format json "$EXAMPLES/$1.json.gz"; }
  $ sums='(.devices | map(.kernel_busy_ns) | add) as $busy | [.layer_types, .layers, .kernels] | map((map(.ns) | add) - $busy) | @text'
  $ types='.layer_types[] | "\(.type) \(.kernels) \(.ns)"'

  $ layers resnet50_amp_eager_b64 > resnet.json
  $ jq -r "$sums" resnet.json
  [0,0,0]
  $ jq -r "$types" resnet.json
  Normalization 1113 19586406
  Convolution 603 14220597
  Activation 294 4293999
  Elementwise 264 3097537
  Pooling 12 2131787
  Copy 339 975754
  Optimizer 27 824667
  MatMul 12 56737
  Loss 12 25569
  Softmax 3 11584
  $ jq -r '.layers[:8][] | "\(.type) | \(.name) | \(.phase) | \(.kernels)"' resnet.json
  Normalization | aten::batch_norm | forward | 636
  Convolution | aten::conv2d | backward | 438
  Normalization | aten::batch_norm | backward | 477
  Convolution | aten::conv2d | forward | 165
  Activation | aten::relu_ | backward | 147
  Activation | aten::relu_ | forward | 147
  Elementwise | aten::add_ | forward | 207
  Pooling | aten::max_pool2d | backward | 6

A compiled model: the fused kernels count by what they compute, not by what they sit next to.

  $ layers resnet50_amp_compile_b64 > compiled.json
  $ jq -r "$sums" compiled.json
  [0,0,0]
  $ jq -r "$types" compiled.json
  Normalization 1161 15014245
  Convolution 603 14277555
  Pooling 6 1379776
  Optimizer 27 849315
  Activation 12 835135
  Copy 336 726590
  Elementwise 171 214742
  MatMul 9 42112
  Loss 12 25696
  Softmax 3 11552
  Reduction 3 6977

BERT: the matrix products inside the attention would be Attention; here cuDNN does it in one kernel.

  $ layers bert_amp_eager_b32 > bert.json
  $ jq -r "$sums" bert.json
  [0,0,0]
  $ jq -r "$types" bert.json
  MatMul 888 21325798
  Copy 1278 7028292
  Normalization 234 3165474
  Optimizer 54 2776674
  Elementwise 228 2367526
  Attention 180 2106172
  Activation 78 1564607
  Loss 12 1110147
  Random 150 865862
  Softmax 3 709600
  Embedding 141 701477
  Reduction 3 20608
  Data movement 3 6240

With Python stacks the layers have the names of modules.

  $ layers lenet_inf_b1 > lenet.json
  $ jq -r "$sums" lenet.json
  [0,0,0]
  $ jq -r '.layers[] | "\(.type) | \(.name) | \(.phase) | \(.kernels)"' lenet.json | sort
  Activation | Sequential_0.ReLU_0 | forward | 3
  Activation | Sequential_0.ReLU_1 | forward | 3
  Activation | Sequential_0.ReLU_2 | forward | 3
  Activation | Sequential_0.ReLU_3 | forward | 3
  Convolution | Sequential_0.Conv2d_0 | forward | 6
  Convolution | Sequential_0.Conv2d_1 | forward | 6
  Loss | aten::cross_entropy_loss | forward | 6
  MatMul | Sequential_0.Linear_0 | forward | 3
  MatMul | Sequential_0.Linear_1 | forward | 3
  MatMul | Sequential_0.Linear_2 | forward | 3
  Pooling | Sequential_0.AvgPool2d_0 | forward | 3
  Pooling | Sequential_0.AvgPool2d_1 | forward | 3

The kernel table: one row a name, with what varies among its instances.

  $ jq -r '.kernels[:3][] | "\(.count) x \(.short_name), \(.layer_type), \(.operator), \(.grids) grids, \(.ns) ns"' resnet.json
  159 x batch_norm_collect_statistics_channels_last_kernel, Normalization, aten::native_batch_norm, 9 grids, 6756153 ns
  159 x batch_norm_backward_reduce_channels_last_kernel, Normalization, aten::native_batch_norm_backward, 9 grids, 4667184 ns
  159 x batch_norm_backward_elemt_channels_last_kernel, Normalization, aten::native_batch_norm_backward, 9 grids, 4407720 ns
