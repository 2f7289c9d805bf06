One rank of two with tensor parallelism: DTensor's `aten::mm` of the whole shape holds the one of the rank's shard. Two products of
2 * 64 * 128 * 128 operations each, not of twice as many.

  $ gpufathom work "$TESTDIR/../../work/captures/tensor_parallel_rank0.json" --format json > work.json
  $ jq -c '[.operators[] | select(.product_flops > 0) | [.name, .shapes, .calls, .product_flops]], .flops' work.json
  [["aten::mm","64x128 * 128x128",2,4194304]]
  4194304
