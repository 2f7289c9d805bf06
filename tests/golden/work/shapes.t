The table by shape of `work`: kernel time of its rows is that of the window, to the nanosecond, in
every example; what runs under no recorded shapes is a row of its own.

  $ for capture in lenet_graphs_b1 lenet_inf_b1 lenet_train_b64 bert_amp_eager_b32 resnet50_amp_compile_b64; do
  >   T="$EXAMPLES/$capture.json.gz"
  >   gpufathom work "$T" --window all --format json > work.json
  >   gpufathom analyze "$T" --window all --format json > analysis.json
  >   jq -c --slurpfile a analysis.json --arg of "$capture" '[$of, ([.operators[].ns] | add) == ([$a[0].devices[].kernel_busy_ns] | add), ([.operators[] | (.by_kernel | map(.ns) | add // 0) == .ns] | all), ([.operators[] | select(.name | startswith("(no"))] | length)]' work.json
  > done
  ["lenet_graphs_b1",true,true,1]
  ["lenet_inf_b1",true,true,0]
  ["lenet_train_b64",true,true,0]
  ["bert_amp_eager_b32",true,true,1]
  ["resnet50_amp_compile_b64",true,true,1]

Rows by hand: LeNet's first fully connected layer is 2 * 64 * 400 * 120 operations a call.

  $ gpufathom work "$EXAMPLES/lenet_train_b64.json.gz" --format json | jq -c '.operators[] | select(.shapes == "120 * 64x400 * 400x120") | [.name, .types, .strides, .path, .calls, .product_flops / .calls, .flops_source, (.ns_min <= .ns_median and .ns_median <= .ns_max), ((.product_flops + .other_flops) / .calls / .ns_median * 1e9 / .flops_per_s_median | (. > 0.99 and . < 1.01))]'
  ["aten::addmm","fp32 * fp32 * fp32","1 * 400,1 * 1,400","aten::linear",3,6144000,"model",true,true]

Work that no rule or shape says is no data, and not 0; a copy is known to have no operations.

  $ gpufathom work "$EXAMPLES/bert_amp_eager_b32.json.gz" --format json | jq -c '([.operators[] | select(.family == "none") | [.product_flops, .other_flops, .bytes]] | unique), ([.operators[] | select(.family == "data_movement") | .product_flops] | unique)'
  [[null,null,null]]
  [0]

Cut to two rows, the rest is one, and the sum stays.

  $ gpufathom work "$EXAMPLES/lenet_train_b64.json.gz" --rows 2 --format json | jq -c '(.operators | length), .operators[2].name, ([.operators[].share] | add | . > 0.999999)'
  3
  "(33 others)"
  true

In SQL, with kernels as JSON.

  $ gpufathom query "$EXAMPLES/lenet_train_b64.json.gz" "select (select sum(ns) from operators) = (select sum(json_extract(k.value, '\$.ns')) from operators, json_each(by_kernel) k) as equal, max(calls) as calls from operators where name = 'aten::addmm'" --format csv
  equal,calls
  1,3

Where a share would exceed the roofline there is none, and why: sums and ReLU that L2 serves, FFT
and Winograd convolutions, and what lies between a benchmark's best and the data sheet.

  $ gpufathom query "$EXAMPLES/resnet50_fp32_eager_b64.json.gz" "select no_share, group_concat(distinct name) as operators, max(of_ceiling) <= 1 as possible from operators group by no_share order by no_share" --format csv
  no_share,operators,possible
  "","aten::convolution_backward,aten::cudnn_batch_norm_backward,aten::convolution,aten::cudnn_batch_norm,aten::max_pool2d_with_indices_backward,aten::threshold_backward,aten::add_,aten::relu_,(no shapes recorded),aten::max_pool2d_with_indices,aten::addmm,aten::mean,aten::div,aten::mm,aten::sum,aten::_log_softmax_backward_data,aten::nll_loss_forward,aten::nll_loss_backward,aten::_log_softmax,aten::fill_",1
  above,"aten::add_,aten::threshold_backward",
  cache,aten::relu_,
  fewer_operations,"aten::convolution_backward,aten::convolution",

As text.

  $ gpufathom work "$EXAMPLES/resnet50_amp_eager_b64.json.gz" --rows 2 | sed -n '/by shape/,/^$/p'
  Operators by shape           median call; of roof: c compute, m memory, L2 cache
    operator                    phase         time  share  TFLOP/s  TB/s   of roof
    native_batch_norm           forward   2.708 ms  6.0 %     1.59  0.91  20.0 % m
        64x256x56x56 * 256 * 256 * 256 * 256; bf16 * fp32 * fp32 * fp32 * fp32; a
        call 223.9 us to 226.7 us, 1.59 to 1.61 TFLOP/s, 0.907 to 0.918 TB/s;
        strides 802816,1,14336,256 * 1 * 1 * 1 * 1; under aten::batch_norm >
        aten::_batch_norm_impl_index; kernels
        batch_norm_collect_statistics_channels_last_kernel,
        batch_norm_transform_input_channels_last_kernel,
        unrolled_elementwise_kernel_for_multi_outputs and 1 more
    native_batch_norm_backward  backward  2.188 ms  4.8 %     3.37  1.68  37.2 % m
        64x256x56x56 * 64x256x56x56 * 256 * 256 * 256 * 256 * 256; bf16 * bf16 *
        fp32 * fp32 * fp32 * fp32 * fp32; a call 178.8 us to 184.1 us, 3.35 to
        3.45 TFLOP/s, 1.67 to 1.72 TB/s; strides 802816,1,14336,256 *
        802816,1,14336,256 * 1 * 1 * 1 * 1 * 1; under
        autograd::engine::evaluate_function: NativeBatchNormBackward0 >
        NativeBatchNormBackward0; kernels
        batch_norm_backward_elemt_channels_last_kernel,
        batch_norm_backward_reduce_channels_last_kernel,
        vectorized_elementwise_kernel
  

Kernels that follow each other again and again: rows share no kernel, and gain no more than they take.

  $ for capture in lenet_train_b64 bert_amp_eager_b32 resnet50_amp_compile_b64; do
  >   gpufathom work "$EXAMPLES/$capture.json.gz" --format json | jq -c --arg of "$capture" '[$of, (.sequences | length > 0), ([.sequences[].kernels] | add) <= ([.operators[].kernels] | add), ([.sequences[].ns] | add) <= ([.operators[].ns] | add), ([.sequences[] | .gain_ns <= .ns + .gap_ns and .times > 1] | all)]'
  > done
  ["lenet_train_b64",true,true,true,true]
  ["bert_amp_eager_b32",true,true,true,true]
  ["resnet50_amp_compile_b64",true,true,true,true]
  $ gpufathom work "$EXAMPLES/bert_amp_eager_b32.json.gz" | sed -n '/^Repeated/,/^$/p'
  Repeated sequences                              what one kernel could do instead
    kernels in a row            phase     times      time      gaps  gain, at most
    copy_ > add_..out_backward  backward     68  4.307 ms  10.24 ms       14.55 ms
    copy_ x 3                   forward     153  1.177 ms  8.288 ms       9.465 ms
    native_dropo..norm > copy_  forward      30  1.242 ms  7.259 ms       8.500 ms
    copy_ > add_ > copy_        backward     72  1.658 ms  4.217 ms       5.875 ms
    native_dropo..e_layer_norm  forward      40  1.329 ms  4.333 ms       5.662 ms
  
  $ gpufathom query "$EXAMPLES/bert_amp_eager_b32.json.gz" "select json_extract(operators, '\$[0]') as first, phase, times from sequences where times > 60 order by gain_ns desc limit 2" --format csv
  first,phase,times
  aten::copy_,backward,68
  aten::copy_,forward,153
