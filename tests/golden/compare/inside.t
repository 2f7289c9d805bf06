Where inside the program the difference lies: one operator, kernel and its rates first; shapes sum to
the kernel time of a step, the tree to its time, node by node.

  $ cd "$EXAMPLES"
  $ gpufathom compare resnet50_amp_eager_b64.json.gz resnet50_fp32_eager_b64.json.gz --comment "$CRAMTMP/comment.md" --format json > "$CRAMTMP/c.json"
  $ jq -c '[0, 1] | map(. as $r | $c[0] | [([.shapes[].ns[$r]] | add) == .runs[$r].kernel_ns, .tree[0].ns[$r] == .runs[$r].time_ns, (. as $all | [.tree[] | select(.parent != null)] | group_by(.parent) | map((map(.ns[$r]) | add) == $all.tree[.[0].parent].ns[$r]) | all)])' -n --slurpfile c "$CRAMTMP/c.json"
  [[true,true,true],[true,true,true]]
  $ jq -c '.culprits[] | [.run, .kind, .name, .phase, .shapes, .kernel_before, .before_ns, .after_ns]' "$CRAMTMP/c.json"
  [1,"replaced","aten::convolution_backward","backward","","nvjet_sm90_tst_64x64_64x13_1x2_h_bz_splitK_NTT",3094358,43422127]
  [1,"replaced","aten::conv2d","forward","","nvjet_sm90_tst_256x128_64x4_1x2_h_ssched_bz_coopA_TNT",1645841,15118165]
  [1,"replaced","aten::cudnn_batch_norm_backward","backward","","vectorized_elementwise_kernel",3064735,7393244]
  $ head -12 "$CRAMTMP/comment.md"
  ### gpufathom: `resnet50_fp32_eager_b64.json.gz` against `resnet50_amp_eager_b64.json.gz`: slower
  
  B is 1.57x slower than A (step 78.43 ms vs. 49.83 ms; 95 %: 1.18-2.11x); its kernels take 404.2 % more (95 %: +401.3 to +407.2 %). Sources of the difference: kernels +60.52 ms, copies -30.39 us, host -32.03 ms, waiting +111.0 us, other idle +25.43 us. A single capture does not show what differs from run to run: record several of each version in turns (A B A B). A profiler slowed the host: by kernel time alone it is 0.20x as fast, and without the profiler likely 0.33x to 0.66x.
  
  **+40.33 ms in `Convolution (backward)`**
  
  - operator: `aten::convolution_backward`
  - kernel: `dgrad_engine`
  - in place of: `nvjet_sm90_tst_64x64_64x13_1x2_h_bz_splitK_NTT`
  - time: 43.42 ms, before 3.094 ms; 95 %: +40.16 ms to +40.50 ms
  
  **+13.47 ms in `Convolution (forward)`**

As text.

  $ gpufathom compare resnet50_fp32_eager_b64.json.gz resnet50_amp_eager_b64.json.gz --rows 3 | sed -n '/^Operators by shape/,/^Layers/p'
  Operators by shape                            TFLOP/s of the median call in both
    operator              inputs                            A         B      B - A
    convolution_backward  64x1024x14x1..024x256x1x1  4.265 ms  168.2 us  -4.097 ms
    convolution_backward  64x256x56x56.. 256x64x1x1  3.905 ms  302.1 us  -3.603 ms
    convolution_backward  64x256x14x14..56x1024x1x1  3.694 ms  182.2 us  -3.512 ms
  
  Call tree                                       B - A, from 4 % of the time of A
                                                            A         B      B - A
    window                                           78.43 ms  49.83 ms  -28.60 ms
     backward                                        55.20 ms  30.15 ms  -25.05 ms
      autograd::engine::eva..: ConvolutionBackward0  45.07 ms  10.49 ms  -34.58 ms
       ConvolutionBackward0                          44.06 ms  9.351 ms  -34.71 ms
        aten::convolution_backward                   44.04 ms  9.300 ms  -34.74 ms
         dgrad_engine                                12.24 ms         -  -12.24 ms
         wgrad_alg0_engine                           10.97 ms         -  -10.97 ms
         sm80_xmma_wgrad_im..ecute_kernel__5x_cudnn  8.119 ms         -  -8.119 ms
         idle, launch-bound                                 -  5.988 ms  +5.988 ms
         sm80_xmma_dgrad_im..ecute_kernel__5x_cudnn  3.775 ms         -  -3.775 ms
      autograd::engine::eva..tiveBatchNormBackward0         -  9.003 ms  +9.003 ms
       NativeBatchNormBackward0                             -  8.668 ms  +8.668 ms
        aten::native_batch_norm_backward                    -  8.666 ms  +8.666 ms
         aten::empty                                        -  3.539 ms  +3.539 ms
          idle, launch-bound                                -  3.539 ms  +3.539 ms
      autograd::engine::eva..udnnBatchNormBackward0  7.581 ms         -  -7.581 ms
       CudnnBatchNormBackward0                       7.567 ms         -  -7.567 ms
        aten::cudnn_batch_norm_backward              7.559 ms         -  -7.559 ms
         bn_bw_1C11_kernel_new                       6.308 ms         -  -6.308 ms
     forward                                         22.87 ms  18.58 ms  -4.293 ms
      aten::conv2d                                   15.56 ms  5.960 ms  -9.605 ms
       aten::convolution                             15.56 ms         -  -15.56 ms
        aten::_convolution                           15.55 ms         -  -15.55 ms
         aten::cudnn_convolution                     15.54 ms         -  -15.54 ms
          sm80_xmma_fprop_i..ecute_kernel__5x_cudnn  8.246 ms         -  -8.246 ms
       aten::conv2d                                         -  4.612 ms  +4.612 ms
        aten::convolution                                   -  4.609 ms  +4.609 ms
         aten::_convolution                                 -  4.602 ms  +4.602 ms
          aten::cudnn_convolution                           -  4.597 ms  +4.597 ms
      aten::batch_norm                               3.704 ms  7.428 ms  +3.724 ms
       aten::_batch_norm_impl_index                  3.701 ms  7.425 ms  +3.724 ms
        aten::native_batch_norm                             -  7.416 ms  +7.416 ms
        aten::cudnn_batch_norm                       3.696 ms         -  -3.696 ms
  
  Layers

A run beside itself has no culprit, and nothing new or gone.

  $ gpufathom compare lenet_train_b64.json.gz lenet_train_b64.json.gz --comment /dev/stdout -o /dev/null | grep -v '^|'
  ### gpufathom: `lenet_train_b64.json.gz` against `lenet_train_b64.json.gz`: undecided
  
  Undecided: B's step is 0.0 % longer than A's (95 %: -9.1 to +10.0 %); about 12 captures of each, recorded alternately, would decide; its kernels show no difference (+0.0 %, 95 %: -0.6 to +0.6 %). A single capture does not show what differs from run to run: record several of each version in turns (A B A B). A profiler slowed the host: by kernel time alone it is 1.00x as fast, and without the profiler likely 0.64x to 1.55x.
  
  
