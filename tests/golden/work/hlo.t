Compiled programs of JAX, all in one profile of the CPU (tests/work/hlo_programs.py). The operations of each are those of XLA's own cost analysis, which counts the body of a loop
once.

  $ captures="$TESTDIR/../../work/captures"
  $ gpufathom query "$captures/hlo_cpu.xplane.pb.gz" --format csv "select module, sum(product_flops + other_flops - transcendentals), sum(transcendentals) from program_ops where module <> 'jit_stage' group by 1 order by 1" | tail -n +2 | sed 's/\.0//g' > found
  $ jq -r 'to_entries | sort_by(.key)[] | "\(.key),\(.value.flops),\(.value.transcendentals)"' "$captures/hlo_cpu.counted.json" | sed 's/\.0//g' | cmp - found && cat found
  jit_attention,564992,8192
  jit_attention_training,1409280,8192
  jit_batched_product,430080,0
  jit_convolution,777600,0
  jit_convolution_training,723888,0
  jit_depthwise_convolution,76832,0
  jit_lenet_training,9332392,40
  jit_odd_product,270699,1683
  jit_product,4194304,0
  jit_residual_training,3293280,96
  jit_scanned_layers,2105345,8192
  jit_strided_convolution,240000,0

What ran is joined to it: the body of the loop five times.

  $ gpufathom query "$captures/hlo_cpu.xplane.pb.gz" "select p.name, p.kind, p.products, count(*) as runs from host_ops h join program_ops p on p.row = h.program_op where p.module = 'jit_scanned_layers' and p.kind = 'product' group by 1, 2, 3"
  name          kind     products          runs
  ynn_fusion.1  product  [[1,64,128,128]]     5
  (1 row)
  $ gpufathom work "$captures/hlo_cpu.xplane.pb.gz" --format json | jq -c '[.flops, .window.kind], (.operators[:3][] | [.name, .family, .shapes, .type, .phase, .calls, .product_flops, .bytes])'
  [30714190,"all"]
  ["ynn_fusion","product","64x128 * 128x128","fp32","",5,10485760,655360]
  ["ynn_fusion","product","64x256 * 256x128","fp32","",1,4194304,229376]
  ["convolution","convolution","4x14x14x6 * 5x5x6x16","fp32","forward",1,1920000,54016]

On an H200: four steps of a training program whose kernels all lie in a CUDA graph. The products of a step are 3 * 2 * 4096 * (2 * 1024 * 4096 + 4096 * 4096) operations, less the gradient of the
program's input, 2 * 4096 * 1024 * 4096.

  $ tar -xzf "$EXAMPLES"/jax_mlp.tgz
  $ gpufathom query plugins --format csv "select count(*) as kernels, sum(program_op is not null) as placed from activities where kind = 'kernel'"
  kernels,placed
  92,92
  $ gpufathom work plugins --format json > work.json
  $ jq -c '.flops / 4, 6 * 4096 * (2 * 1024 * 4096 + 4096 * 4096) - 2 * 4096 * 1024 * 4096, .coverage, .accounts[0].mfu, .accounts[0].hfu' work.json
  584115552256
  584115552256
  1
  0.43574470487874684
  0.43574470487874684
  $ jq -c '.operators[] | [.name, .family, .shapes, .type, .phase, .calls, .kernels, .product_flops, .bytes]' work.json
  ["__cublas$lt$matmul","product","4096x4096 * 4096x4096","bf16","backward",8,8,1099511627776,805306368]
  ["__cublas$lt$matmul","product","4096x4096 * 4096x4096","bf16","forward",4,4,549755813888,402685952]
  ["gemm_fusion_dot","product","4096x4096 * 4096x1024","bf16","backward",4,4,137438953472,234881024]
  ["gemm_fusion_dot_general","product","4096x4096 * 4096x1024","bf16","forward",4,4,137438953472,201334784]
  ["loop_select_fusion","elementwise","4096x4096 * 4096x4096","bf16","backward",8,8,0,805306368]
  ["gemm_fusion_dot","product","4096x1024 * 4096x4096","bf16","backward",4,4,137438953472,234881024]
  ["__cublas$lt$matmul","product","4096x1024 * 1024x4096","bf16","forward",4,4,137438953472,201359360]
  ["fusion","elementwise","4096x4096","bf16","forward",8,8,0,536870912]
  ["__cublas$lt$matmul","product","4096x1024 * 4096x1024","bf16","backward",4,4,137438953472,201326592]
  ["input_reduce_fusion","reduction","4096x4096","bf16","backward",8,8,0,268500992]
  ["wrapped_subtract","elementwise","4096x4096 * 4096x4096","bf16","forward",4,4,0,402653184]
  ["input_reduce_fusion","reduction","4096x1024","bf16","backward",4,4,0,33562624]
  ["loop_select_fusion","elementwise","4096x1024","bf16","backward",4,4,0,67108864]
  ["loop_subtract_fusion","elementwise","4096 * 4096","bf16","forward",8,8,0,196608]
  ["input_reduce_fusion","reduction","4096x1024","fp32","forward",4,4,0,33587200]
  ["loop_multiply_fusion","elementwise","","fp32","forward",4,4,0,32]
  ["input_reduce_fusion","reduction","2048","fp32","forward",4,4,0,32784]
  ["loop_subtract_fusion","elementwise","1024 * 1024","bf16","forward",4,4,0,24576]
  $ gpufathom analyze plugins --format json | jq -c '.work | [.flops_per_s, .flops_source, .mfu, .peak_type]'
  [431138781883426.94,"model",0.4357447080259918,"bf16"]

A kernel cannot have taken less time than its least bytes allow: nothing is above its ceiling.

  $ jq -c '[.roofline[] | select(.of_ceiling > 1)]' work.json
  []

Another program.

  $ gpufathom query $TESTDIR/../../advice/captures/jax_train.xplane.pb.gz --format csv "select count(*) as kernels, sum(program_op is not null) as placed from activities where kind = 'kernel'"
  kernels,placed
  120,120
  $ gpufathom work $TESTDIR/../../advice/captures/jax_train.xplane.pb.gz --format json | jq -c '.flops, .coverage, (.accounts[0] | .mfu)'
  60473139527680
  1
  0.723292131758178

Operations that cannot be read are counted, and the rest is known.

  $ gunzip -c $TESTDIR/../../advice/captures/jax_train.xplane.pb.gz > whole.xplane.pb
  $ python3 -c "
  > data = open('whole.xplane.pb', 'rb').read()
  > open('damaged.xplane.pb', 'wb').write(data.replace(b'\x12\x07maximum', b'\x17\x07maximum'))"
  $ gpufathom work damaged.xplane.pb --format json 2> damage | jq -c '.flops, .coverage'
  60473139527680
  0.932447867481364
  $ grep -o 'bad_program.*' damage
  bad_program: program "jit__normal" has an operation that cannot be read

Of a run on the CPU the steps are those that analyze takes, numbered by the profile.

  $ tar -xzf $EXAMPLES/tf_lenet_eager.tgz && gpufathom lenet5_sync_b1 | head -1
  vm.xplane.pb                                                   5 steps, 35.59 ms
  $ for window in auto steps all; do gpufathom work lenet5_sync_b1 --window $window | head -1; done
  vm.xplane.pb                                                   5 steps, 35.59 ms
  vm.xplane.pb                                                   5 steps, 35.59 ms
  vm.xplane.pb                                             whole capture, 35.59 ms
