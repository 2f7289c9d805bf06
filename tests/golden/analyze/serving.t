An engine of eight layers: prompts, then one token a step of each request, first beside a prompt.

  $ cat >engine.py <<'EOF'
  > import json, sys
  > marks, events, now, number = sys.argv[1:] == ["marks"], [], 1000.0, 0
  > def add(category, name, start, length, **args):
  >     events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 7, "ts": start, "dur": length, "args": args})
  > def launch(call, category, name, length, **args):
  >     global now, number
  >     number += 1
  >     add("cuda_runtime", call, now, 3, correlation=number)
  >     add(category, name, now + 4, length, device=0, stream=7, correlation=number, **args)
  >     now += 4 + length
  > def step(prefills, tokens, decodes):
  >     global now
  >     begin = now
  >     for i in range(8):
  >         launch("cudaLaunchKernel", "kernel", "rms_norm_kernel", 5, grid=[tokens + decodes, 1, 1])
  >         if prefills: launch("cudaLaunchKernel", "kernel", "flash_fwd_kernel", 20, grid=[prefills, 8, 1])
  >         if decodes: launch("cudaLaunchKernel", "kernel", "paged_attention", 8, grid=[decodes, 8, 1])
  >         launch("cudaLaunchKernel", "kernel", "gemm", 10, grid=[32, 1, 1])
  >     launch("cudaLaunchKernel", "kernel", "argmax_kernel", 4, grid=[prefills + decodes, 1, 1])
  >     launch("cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 2, bytes=8 * (prefills + decodes))
  >     now += 6
  >     if marks: add("user_annotation", f"execute_context_{prefills}({tokens})_generation_{decodes}({decodes})", begin, now - begin)
  >     now += 25
  > step(2, 100, 0)
  > for i in range(10): step(0, 0, 2)
  > step(1, 60, 2)
  > for i in range(10): step(0, 0, 3)
  > print(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": events}))
  > EOF
  $ python3 engine.py >plain.json
  $ python3 engine.py marks >marked.json

Without marks the kernels tell.

  $ gpufathom analyze plain.json | sed -n '/^Serving/,/^$/p'
  $ gpufathom analyze plain.json --format json | jq -c '.serving | .source, .kind_confidence, .generated, .steps[0], .steps[11]'

With marks they say what the marks do not: the tokens that requests got.

  $ gpufathom analyze marked.json --format json | jq -c '.serving | .source, .kind_confidence, .generated, .steps[0], .steps[11]'
  $ gpufathom query plain.json 'SELECT kind, count(*), sum(run_tokens), sum(generated) FROM engine_steps GROUP BY kind' --csv

What is no engine has nothing to say of serving.

  $ gpufathom analyze $EXAMPLES/lenet_train_b64.json.gz --format json | jq -c .serving
