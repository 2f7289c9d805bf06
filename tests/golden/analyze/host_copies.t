Copies from host to host go through a stream, and the device does nothing for them: they are no overlap and no busy time.

  $ cat >trace.json <<'EOF'
  > {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [
  > {"ph": "X", "cat": "kernel", "name": "step", "pid": 0, "tid": 7, "ts": 100, "dur": 50, "args": {"device": 0, "stream": 7, "correlation": 1}},
  > {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoH (Host -> Host)", "pid": 0, "tid": 7, "ts": 120, "dur": 60, "args": {"device": 0, "stream": 7, "correlation": 2, "bytes": 8}},
  > {"ph": "X", "cat": "kernel", "name": "step", "pid": 0, "tid": 7, "ts": 200, "dur": 50, "args": {"device": 0, "stream": 7, "correlation": 3}}]}
  > EOF
  $ gpufathom analyze trace.json --format json | jq -c '.quality, (.devices[] | {span_ns, busy_ns, copy_only_ns, gpu_events})'
  [{"code":"not_joined","count":3,"detail":"the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen"}]
  {"span_ns":150000,"busy_ns":100000,"copy_only_ns":0,"gpu_events":2}
