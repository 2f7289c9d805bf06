What the headline names as the limit.

  $ export COLUMNS=80 LC_ALL=C
  $ head_of() { gpufathom analyze "$1" | sed -n '2,/^$/p'; }

Without counters, kernels that fill the time are the limit, by layer type; the waterfall shows the same times:

  $ head_of $EXAMPLES/resnet50_fp32_eager_b64.json.gz
  GPU active 96.4 % of the time. Utilization inside kernels needs counters.
  Kernel-bound: Convolution 74.6 %, Normalization 14.0 %, Activation 3.7 % of the
  time.
  
  $ gpufathom analyze $EXAMPLES/resnet50_fp32_eager_b64.json.gz --full | sed -n '/^Time breakdown/,/^$/p'
  Time breakdown                                          parts add up to 235.3 ms
    GPU idle                  #                               8.433 ms       3.6 %
    memory copies only         #                              62.02 us      <0.1 %
    no counters                ###########################    226.8 ms      96.4 %
      Convolution              #####################          175.6 ms      74.6 %
      Normalization                                 ####      32.93 ms      14.0 %
      Activation                                        #     8.596 ms       3.7 %
      Elementwise                                        #    5.993 ms       2.5 %
      Pooling                                            #    2.580 ms       1.1 %
      Optimizer                                          #    829.7 us       0.4 %
      3 more                                             #    242.9 us       0.1 %
  
  $ gpufathom analyze $EXAMPLES/resnet50_fp32_eager_b64.json.gz --format json | python3 -c 'import json, sys; a = json.load(sys.stdin); print(*[f["text"] for f in a["findings"] if f["id"] == "kernel_bound"])'
  Kernel-bound: kernels run 96 % of the time. Convolution 75 %, Normalization 14 %, Activation 3.7 %, Elementwise 2.5 %. Kernels without a known cause take 27 % of the time; the largest place, 9.4 %, is aten::cudnn_batch_norm_backward (159 kernels, most of it bn_bw_1C11_kernel_new). Neither bytes nor arithmetic bound it (by its sizes 24 % of the memory's rate and 1.9 % of the peak): its access pattern, atomic operations or barriers do. Counters tell which (--counters).

A loss of 5 % and more is named beside them:

  $ head_of $ROOT/tests/advice/captures/eager_attention.json.gz
  GPU active 91.6 % of the time. Utilization inside kernels needs counters.
  Kernel-bound: MatMul 28.9 %, Elementwise 28.3 %, Softmax 21.6 % of the time.
  Largest loss: memory copies only, 8.300 ms (7.4 %).
  

A rank whose kernels mostly wait for another rank is not held up by what it computes:

  $ head_of $ROOT/tests/advice/captures/straggler.rank0.json.gz
  GPU active 99.3 % of the time. Utilization inside kernels needs counters.
  Largest loss: exposed communication, 33.39 ms (42.6 %).
  

Nor is a GPU that idles:

  $ head_of $EXAMPLES/bert_amp_eager_b32.json.gz
  GPU active at least 24.2 % of the time. Utilization inside kernels needs
  counters. Largest loss: idle time (launch-bound), 98.54 ms (54.5 %). The
  profiler may have caused up to 72.25 ms of it.
  
