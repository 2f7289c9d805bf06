ResNet-50 at batch 64: one step is 64 (3 * 4 089 184 256 - 118 013 952) multiply-adds, worked out in docs/work.md; so are the images of a step.

  $ resnet="$EXAMPLES/resnet50_amp_eager_b64.json.gz"
  $ gpufathom work "$resnet" --window steps --format json | jq -c '[.flops / (.window.steps | length), .throughput.items, .throughput.items_source, .throughput.flops_per_item]'
  [1555140968448,64,"shapes",24299077632]

The parts of every account sum to the window, and the owners of a part to the part; with counters the time of kernels is divided.

  $ sums() { jq -c '.accounts[] | [.source, .peak_type, (.span_ns - ([.parts[].ns] | add)), ([.parts[] | .ns - ([.owners[].ns] | add)] | unique), .coverage, (.mfu * 1000 | round)]'; }
  $ gpufathom work "$resnet" --format json | sums
  ["model","bf16",0,[0],1,32]
  $ gpufathom work "$resnet" --counters "$EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz" --window step:10 --format json | sums
  ["measured","bf16",0,[0],1,35]
  $ gpufathom work "$EXAMPLES/resnet50_fp32_eager_b64.json.gz" --format json | sums
  ["model","bf16",0,[0],1,20]
  $ gpufathom work "$EXAMPLES/bert_amp_eager_b32.json.gz" --window steps --format json | sums
  ["model","bf16",0,[0],1,46]

A checkpointed program of an H200: what it computes a second time is no work that the model asks for, and a part of its own.

  $ gpufathom work "$ROOT/tests/advice/causes/recomputation.json.gz" --format json | jq -c '.accounts[0] | [(.mfu * 1000 | round), (.hfu * 1000 | round), (.span_ns - ([.parts[].ns] | add)), (.parts[] | select(.id == "work" or .id == "recompute") | [.id, .ns])]'
  [337,425,0,["work",23336416],["recompute",6111919]]

Attention out of single operations, and products of odd sizes, under their own names:

  $ causes() { gpufathom work "$TESTDIR/../../advice/captures/$1.json.gz" --format json | jq -c '.accounts[0].causes[] | [.cause, (.share * 1000 | round), .text]'; }
  $ causes eager_attention
  ["unfused_attention",599,"unfused attention; most in aten::masked_fill 8x16x2048x2048 * 2048x2048"]
  ["padded_tiles",0,"tiles that reach over the edge of the result; most in aten::mm 16384x1024 * 1024x8192"]
  $ causes eager_attention.mended
  ["padded_tiles",1,"tiles that reach over the edge of the result; most in aten::mm 16384x1024 * 1024x8192"]
  $ causes odd_sizes
  ["odd_sizes",811,"products whose sizes are not multiples of 8; most in aten::addmm 4095 * 16384x4095 * 4095x4095"]
  $ causes odd_sizes.mended
  ["padded_tiles",3,"tiles that reach over the edge of the result; most in aten::mm 16384x4096 * 4096x4096"]

What the model cannot know is no data.

  $ gpufathom work "$EXAMPLES/lenet_graphs_b1.json.gz" --format json | jq -c '[.flops, .accounts, .why_missing]'
  [null,[],"no operator has recorded shapes (torch.profiler: record_shapes=True)"]
  $ gpufathom work "$EXAMPLES/power_mixed.csv.gz" --format json | jq -c '[.flops, .accounts]'
  [null,[]]
