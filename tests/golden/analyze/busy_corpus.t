Span and busy time of every trace of the corpus, to the nanosecond: events of the file, GPU events, span, union of all kernels,
copies and sets, idle share in percent. The expected numbers were worked out independently, with rational arithmetic.

  $ needs-corpus || exit 80
  $ for f in "$GPUFATHOM_CORPUS"/h200/*.json.gz "$GPUFATHOM_CORPUS"/public/*.json.gz; do
  >   echo "$(basename "$f" .json.gz)" $(gpufathom analyze "$f" --window all --format json 2>/dev/null |
  >     jq -r '"\(.source.events) " + (.devices[] | "\(.gpu_events) \(.span_ns) \(.busy_ns) \(.idle_ns / .span_ns * 1e6 | round / 1e4)")')
  > done
  bert_amp_eager_b32 42308 3684 179264889 44104635 75.3969
  lenet_inf_b1 1124 45 2000513 91938 95.4043
  lenet_train_b64 1508 162 9925018 718173 92.764
  resnet50_amp_compile_b64 16247 2442 126109620 33536300 73.407
  resnet50_amp_eager_b64 25130 2781 148452995 45377825 69.4329
  resnet50_fp32_eager_b64 22499 2067 233868224 226852279 3
  hta_a100_nccl 40573 3774 660551005 157500014 76.1563
  hta_cpu_only
  hta_cuda_event_sync 92 5 263000 51000 80.6084
  hta_mi250_rocm 220 16 8911887 149042 98.3276
  hta_triton 71 1 1760 1760 0
  hta_v100_ns_resolution 68692 6095 480029179 472454441 1.578
  kineto_v100_resnet50_workers0 75718 9096 996477000 603558000 39.4308
  kineto_v100_resnet50_workers4 71424 9258 801550000 614413000 23.3469
  tracelens_b200_eager 24656 929 84487178 11596482 86.2743
  tracelens_h100_bert_small 2551 61 3907825 309437 92.0816
  tracelens_h100_qwen_0.5b 18221 1707 49652832 45647300 8.0671
  tracelens_vllm_decode_graph 1993 434 10743181 10717708 0.2371

Every label adds up: idle time by cause, and busy with idle.

  $ for f in "$GPUFATHOM_CORPUS"/h200/*.json.gz "$GPUFATHOM_CORPUS"/public/*.json.gz; do
  >   gpufathom analyze "$f" --window all --format json 2>/dev/null | jq -c '.devices[] | select((([.idle[].ns] | add // 0) != .idle_ns) or (.busy_ns + .idle_ns != .span_ns) or (.kernel_busy_ns + .copy_only_ns != .busy_ns))'
  > done

Without a GPU event there is no answer.

  $ cp "$GPUFATHOM_CORPUS"/public/hta_cpu_only.json.gz . && gpufathom analyze hta_cpu_only.json.gz
  gpufathom: hta_cpu_only.json.gz: no GPU activity: there is nothing to analyze (record with the GPU side on, for PyTorch torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]))
  [1]
