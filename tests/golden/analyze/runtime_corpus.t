  $ needs-corpus || exit 80

Runtime phases of programs that launch graphs, that are compiled, that run eager: the way of execution is told, the phases add up to the
span, every queue is empty or not at every instant.

  $ for f in public/tracelens_vllm_decode_graph h200/resnet50_amp_compile_b64 public/tracelens_b200_eager public/tracelens_h100_qwen_0.5b public/hta_v100_ns_resolution public/hta_mi250_rocm; do
  >   gpufathom analyze "$GPUFATHOM_CORPUS/$f.json.gz" --window all --format json | jq -c '.runtime | [.modes, .duration_ns == ([.phases[].ns] | add), ([.queues[] | .empty_ns == ([.when_empty[].ns] | add)] | all)]'
  > done
  [["cuda_graphs","eager"],true,true]
  [["compile","eager"],true,true]
  [["compile","eager"],true,true]
  [["eager"],true,true]
  [["eager"],true,true]
  [["eager"],true,true]

A graph launch is one item of the queue, whatever number of kernels it starts.

  $ gpufathom analyze "$GPUFATHOM_CORPUS/public/tracelens_vllm_decode_graph.json.gz" --window all --format json | jq -c '.devices[0].kernels, (.runtime.queues[] | [.id, .items, .max_depth])'
  425
  ["device:2",14,14]

Nsight Compute knows no AMD device: nothing says otherwise.

  $ gpufathom analyze "$GPUFATHOM_CORPUS/public/tracelens_vllm_decode_graph.json.gz" | grep -c ncu
  0
  [1]
