Small training programs on the CPU: the operations of each operator in a step, as torch's FlopCounterMode counted them when the profile was made
(tests/work/flop_counter.py). It knows no attention of the CPU; the grouped convolution's excess is taken out there.

  $ captures="$TESTDIR/../../work/captures"
  $ for model in written_out_attention fused_attention checkpointed convnet odd_sizes padded; do
  >   gpufathom work "$captures/$model.json.gz" --window steps --format json | jq -cS '[.operators[] | select(.family == "product" or .family == "convolution")] | group_by(.name) | map({key: .[0].name[6:], value: ((map(.product_flops) | add) / 2)}) | from_entries' | tee found
  >   jq -cS . "$captures/$model.counted.json" | cmp - found && echo "$model: equal"
  > done
  {"addmm":33554432,"bmm":6291456,"mm":67108864}
  written_out_attention: equal
  {"addmm":33554432,"mm":67108864}
  fused_attention: equal
  {"addmm":58720256,"mm":67108864}
  checkpointed: equal
  {"addmm":2560,"convolution":14188544,"convolution_backward":21299200,"mm":5120}
  convnet: equal
  {"addmm":54603660,"mm":91712280}
  odd_sizes: equal
  {"addmm":59304960,"mm":98841600}
  padded: equal

Attention recomputes its scores in the backward pass: five products, one of them a second time. A checkpointed program computes its blocks twice.

  $ for model in fused_attention checkpointed; do gpufathom work "$captures/$model.json.gz" --window steps --format json |
  >   jq -c '[.operators[] | select(.family == "attention") | [.name, .phase, .calls, .product_flops]]'; done
  [["aten::_scaled_dot_product_flash_attention_for_cpu_backward","backward",4,10485760],["aten::_scaled_dot_product_flash_attention_for_cpu","forward",4,4194304]]
  [["aten::_scaled_dot_product_flash_attention_for_cpu_backward","backward",4,10485760],["aten::_scaled_dot_product_flash_attention_for_cpu","forward",4,4194304],["aten::_scaled_dot_product_flash_attention_for_cpu","backward",4,4194304]]
