The exact values of every trace of the corpus: integer nanoseconds, worked out with rational arithmetic by another program.

  $ needs-corpus || exit 80
  $ for f in h200/bert_amp_eager_b32 h200/lenet_inf_b1 h200/lenet_train_b64 h200/resnet50_amp_compile_b64 h200/resnet50_amp_eager_b64 h200/resnet50_fp32_eager_b64 public/hta_a100_nccl public/hta_cuda_event_sync public/hta_mi250_rocm public/hta_triton public/hta_v100_ns_resolution public/kineto_v100_resnet50_workers0 public/kineto_v100_resnet50_workers4 public/tracelens_b200_eager public/tracelens_h100_bert_small public/tracelens_h100_qwen_0.5b public/tracelens_vllm_decode_graph; do echo "$(basename $f): $(brief $GPUFATHOM_CORPUS/$f.json.gz)"; done
  bert_amp_eager_b32: events 42308, device events 3684, span 179264889, busy 44104635
  lenet_inf_b1: events 1124, device events 45, span 2000513, busy 91938
  lenet_train_b64: events 1508, device events 162, span 9925018, busy 718173
  resnet50_amp_compile_b64: events 16247, device events 2442, span 126109620, busy 33536300
  resnet50_amp_eager_b64: events 25130, device events 2781, span 148452995, busy 45377825
  resnet50_fp32_eager_b64: events 22499, device events 2067, span 233868224, busy 226852279
  hta_a100_nccl: events 40573, device events 3774, span 660551005, busy 157500014
  hta_cuda_event_sync: events 92, device events 5, span 263000, busy 51000
  hta_mi250_rocm: events 220, device events 16, span 8911887, busy 149042
  hta_triton: events 71, device events 1, span 1760, busy 1760
  hta_v100_ns_resolution: events 68692, device events 6095, span 480029179, busy 472454441
  kineto_v100_resnet50_workers0: events 75718, device events 9096, span 996477000, busy 603558000
  kineto_v100_resnet50_workers4: events 71424, device events 9258, span 801550000, busy 614413000
  tracelens_b200_eager: events 24656, device events 929, span 84487178, busy 11596482
  tracelens_h100_bert_small: events 2551, device events 61, span 3907825, busy 309437
  tracelens_h100_qwen_0.5b: events 18221, device events 1707, span 49652832, busy 45647300
  tracelens_vllm_decode_graph: events 1993, device events 434, span 10743181, busy 10717708

A trace of the host alone says what to record.

  $ gpufathom analyze $GPUFATHOM_CORPUS/public/hta_cpu_only.json.gz 2>&1 | sed 's/.*hta_cpu_only/hta_cpu_only/'
  hta_cpu_only.json.gz: no GPU activity: there is nothing to analyze (record with the GPU side on, for PyTorch torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]))
