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
  Serving                                 22 steps, kinds by kernels (100.0 % fit)
    7 429 tokens a second. Time between tokens: 325.0 us (p50), 325.0 us (p90),
    517.0 us (p99). Time to first token: not known. Requests of a step that
    decodes: 3 (p50), 3 at most. A mixed step takes 192.0 us longer than a decode
    step (p50).
    steps    number   share       p50       p99  padding  mostly waits for
    decode       20  87.8 %  325.0 us  325.0 us    0.0 %  launch-bound 24.0 %
    mixed         1   7.0 %  517.0 us  517.0 us           launch-bound 19.7 %
    prefill       1   5.2 %  386.0 us  386.0 us           launch-bound 19.4 %
  
  $ gpufathom analyze plain.json --format json | jq -c '.serving | .source, .kind_confidence, .generated, .steps[0], .steps[11]'
  "sampler"
  1
  55
  {"index":0,"start_ns":1004000,"duration_ns":386000,"kind":"prefill","run_tokens":100,"tokens":null,"requests":2,"decodes":0,"generated":2,"graph":false}
  {"index":11,"start_ns":4640000,"duration_ns":517000,"kind":"mixed","run_tokens":62,"tokens":null,"requests":3,"decodes":2,"generated":3,"graph":false}

With marks they say what the marks do not: the tokens that requests got.

  $ gpufathom analyze marked.json --format json | jq -c '.serving | .source, .kind_confidence, .generated, .steps[0], .steps[11]'
  "marks:execute_context"
  null
  55
  {"index":0,"start_ns":1000000,"duration_ns":421000,"kind":"prefill","run_tokens":100,"tokens":100,"requests":2,"decodes":0,"generated":2,"graph":false}
  {"index":11,"start_ns":4671000,"duration_ns":517000,"kind":"mixed","run_tokens":62,"tokens":62,"requests":3,"decodes":2,"generated":3,"graph":false}
  $ gpufathom query plain.json 'SELECT kind, count(*), sum(run_tokens), sum(generated) FROM engine_steps GROUP BY kind' --csv
  kind,count(*),sum(run_tokens),sum(generated)
  decode,20,50,50
  mixed,1,62,3
  prefill,1,100,2

What is no engine has nothing to say of serving.

  $ gpufathom analyze $EXAMPLES/lenet_train_b64.json.gz --format json | jq -c .serving
  null
