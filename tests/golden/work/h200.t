Small training programs on an H200 (tests/gpu/work.py), one step of two of them under Nsight Compute with cold caches.

  $ captures="$TESTDIR/../../work/captures/h200"
  $ counted() { gpufathom work "$captures/$1.json.gz" --counters "$captures/$1.ncu.csv.gz" --window steps --format json; }

Without odd sizes and padding the tensor operations that were counted are those of the model, to the operation:

  $ counted written_out_attention > attention.json
  $ jq -c '[.operators[] | select(.product_flops > 0)] | [length, (map(.product_flops) | add), (map(.measured_flops) | add), (map(select(.product_flops != .measured_flops)) | length)]' attention.json
  [18,1043677052928,1043677052928,0]

With sizes that are no multiple of 8, a sixth of what was carried out is padding; every loss of these products is under its own name.

  $ counted odd_sizes > odd.json
  $ jq -c '[.operators[] | select(.product_flops > 0)] | [(map(.product_flops) | add), (map(.measured_flops) | add)]' odd.json
  [207643222860,247586881536]
  $ jq -c '.accounts[] | [.source, (.parts[] | [.id, (.share * 10000 | round)]), (.causes[] | [.cause, .text])] | .[]' odd.json
  "measured"
  ["work",201]
  ["padding",39]
  ["tensor_below_peak",236]
  ["other_instructions",482]
  ["stalled",1387]
  ["sm_inactive",524]
  ["copy",10]
  ["idle",7121]
  ["odd_sizes","products whose sizes are not multiples of 8; most in aten::addmm 4087 * 515x4087 * 4087x4087"]
  $ gpufathom work "$captures/padded.json.gz" --window steps --format json | jq -c '.accounts[].causes[] | [.cause, .ns > 0, .text]'
  ["padded_tiles",true,"tiles that reach over the edge of the result; most in aten::mm 576x4160 * 4160x4160"]

Attention out of single operations: its loss is under its own name too.

  $ jq -c '.accounts[] | [.source, (.parts[] | [.id, (.share * 10000 | round)]), (.causes[] | [.cause, .text])] | .[]' attention.json
  "measured"
  ["work",423]
  ["tensor_below_peak",34]
  ["other_instructions",688]
  ["stalled",593]
  ["sm_inactive",580]
  ["copy",74]
  ["idle",7608]
  ["unfused_attention","unfused attention; most in aten::copy_ 32x4x256x128 * 32x4x256x128"]

No operator moved fewer bytes than the model says are needed, but for what can wait in the L2 cache (60 MiB) when a kernel ends:

  $ jq -s '[.[].operators[] | select(.measured_bytes != null and .bytes > .measured_bytes + 62914560 * .kernels)] | length' attention.json odd.json
  0

What warps waited for divides the stalled bar without rest:

  $ jq -c '.stalls | [.coverage, .stalled_ns - ([.reasons[].ns] | add), (.reasons[:3][] | [.id, (.share * 1000 | round)])]' attention.json odd.json
  [1,0,["long_scoreboard",576],["wait",109],["no_instruction",63]]
  [1,0,["long_scoreboard",467],["wait",162],["lg_throttle",85]]

Memory: the peak is torch.cuda.max_memory_allocated of the same run, and its holders sum to it.

  $ jq -c '.memory[] | [.source, .peak_allocated, .peak_allocated - ([.holders[].bytes] | add), (.activations | map(.bytes) | add) - (.holders[] | select(.kind == "activations") | .bytes), [.holders[] | [.kind, .bytes]]]' attention.json
  ["allocator_events",537434112,0,0,[["activations",235275264],["temporary",184549888],["before",71906816],["optimiser",27318272],["parameters",13659136],["gradients",4724736]]]
