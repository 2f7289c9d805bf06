The captures that ship, plain and in every compression: the same answer.

  $ for f in bert_amp_eager_b32 lenet_inf_b1 lenet_train_b64 resnet50_amp_compile_b64 resnet50_amp_eager_b64 resnet50_fp32_eager_b64; do echo "$f: $(brief $EXAMPLES/$f.json.gz)"; done
  bert_amp_eager_b32: events 42308, device events 3684, span 179264889, busy 44104635
  lenet_inf_b1: events 1124, device events 45, span 2000513, busy 91938
  lenet_train_b64: events 1508, device events 162, span 9925018, busy 718173
  resnet50_amp_compile_b64: events 16247, device events 2442, span 126109620, busy 33536300
  resnet50_amp_eager_b64: events 25130, device events 2781, span 148452995, busy 45377825
  resnet50_fp32_eager_b64: events 22499, device events 2067, span 233868224, busy 226852279
  $ gzip -dc $EXAMPLES/lenet_train_b64.json.gz > a.json
  $ zstd -q a.json -o a.json.zst
  $ gpufathom analyze --window all $EXAMPLES/lenet_train_b64.json.gz --format json | jq 'del(.source.path)' > gz
  $ for f in a.json a.json.zst; do gpufathom analyze --window all $f --format json | jq 'del(.source.path)' | cmp - gz; done

Several gzip members in one file are one file.

  $ head -c 100000 a.json | gzip > parts.gz; tail -c +100001 a.json | gzip >> parts.gz
  $ gpufathom analyze --window all parts.gz --format json | jq 'del(.source.path)' | cmp - gz

What the trace says of itself: devices, versions, and the time base, before or after the events.

  $ gpufathom query a.json --format csv "select name, vendor, compute_major, sm_count, memory_bytes, max_threads_per_sm from devices"
  name,vendor,compute_major,sm_count,memory_bytes,max_threads_per_sm
  NVIDIA H200,nvidia,9,132,150109880320,2048
  $ gpufathom query a.json --format csv "select key, value from metadata where key like 'cu%' or key like 'base%' or key = 'displayTimeUnit' order by key"
  key,value
  baseTimeNanoseconds,1790857026000000000
  cuda_driver_version,13000
  cuda_runtime_version,13000
  cupti_version,130001
  displayTimeUnit,ms
  $ small-trace '' '"baseTimeNanoseconds": 1790857026000000000,' > before.json; small-trace '' '' ', "baseTimeNanoseconds": 1790857026000000000' > after.json
  $ for f in before after; do gpufathom query $f.json --format csv "select start_ns from activities"; done
  start_ns
  1790857026000001000
  1790857026000009000
  start_ns
  1790857026000001000
  1790857026000009000

The legacy form is a bare array.

  $ jq -c .traceEvents a.json > bare.json
  $ brief bare.json
  events 1508, device events 162, span 9925018, busy 718173
