Where inside the program the difference lies: one operator, kernel and its rates first; shapes sum to
the kernel time of a step, the tree to its time, node by node.

  $ cd "$EXAMPLES"
  $ gpufathom compare resnet50_amp_eager_b64.json.gz resnet50_fp32_eager_b64.json.gz --comment "$CRAMTMP/comment.md" --format json > "$CRAMTMP/c.json"
  $ jq -c '[0, 1] | map(. as $r | $c[0] | [([.shapes[].ns[$r]] | add) == .runs[$r].kernel_ns, .tree[0].ns[$r] == .runs[$r].time_ns, (. as $all | [.tree[] | select(.parent != null)] | group_by(.parent) | map((map(.ns[$r]) | add) == $all.tree[.[0].parent].ns[$r]) | all)])' -n --slurpfile c "$CRAMTMP/c.json"
  [[true,true,true],[true,true,true]]
  $ jq -c '.culprits[] | [.run, .kind, .name, .phase, .shapes, .kernel_before, .before_ns, .after_ns]' "$CRAMTMP/c.json"
  [1,"replaced","aten::convolution_backward","backward","64x1024x14x14 * 64x256x14x14 * 1024x256x1x1","nvjet_sm90_tst_64x64_64x13_1x2_h_bz_splitK_NTT",168150,4264696]
  $ head -12 "$CRAMTMP/comment.md"
  ### gpufathom: `resnet50_fp32_eager_b64.json.gz` against `resnet50_amp_eager_b64.json.gz`: slower
  
  A step of B takes 28.60 ms more than one of A (0.64x as fast, 95 %: 0.46-0.85x): Convolution +54.27 ms, idle: launch-bound -27.41 ms, idle: other host work -4.622 ms, the rest +6.354 ms. A profiler slowed the host: by kernel time alone it is 0.20x, and without the profiler likely between 0.33x and 0.66x.
  
  **+4.097 ms of kernel time in `aten::convolution_backward`**
  
  - kernel: `sm80_xmma_wgrad_implicit_gemm_indexed_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize32x32x8_stage3_warpsize1x2x1_g1_ffma_execute_kernel__5x_cudnn`
  - in place of: `nvjet_sm90_tst_64x64_64x13_1x2_h_bz_splitK_NTT`
  - shapes: `64x1024x14x14 * 64x256x14x14 * 1024x256x1x1`
  - time: 4.265 ms, before 168.2 us; 18.5 TFLOP/s, before 468.2 TFLOP/s
  
  New: `aten::cudnn_batch_norm_backward 64x64x56x56 * 64x64x56x56 * 64 * 64 * 64 * 64 * 64 * 0` 1.840 ms, `aten::cudnn_batch_norm_backward 64x256x56x56 * 64x256x56x56 * 256 * 256 * 256 * 256 * 256 * 0` 1.500 ms, `aten::cudnn_batch_norm_backward 64x64x112x112 * 64x64x112x112 * 64 * 64 * 64 * 64 * 64 * 0` 1.213 ms, `aten::cudnn_batch_norm 64x256x56x56 * 256 * 256 * 256 * 256` 821.3 us, `aten::cudnn_batch_norm_backward 64x512x28x28 * 64x512x28x28 * 512 * 512 * 512 * 512 * 512 * 0` 727.3 us and 4 more

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
  ### gpufathom: `lenet_train_b64.json.gz` against `lenet_train_b64.json.gz`: no difference beyond noise
  
  A step of B takes as long as one of A.
  
  
