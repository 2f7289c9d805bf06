GPU 7 runs kernels for 10 ms without a pause; what another one did beside it must not halve that.

  $ cat > traces.py <<'END'
  > import json
  > def kernel(device, ts, dur=100):
  >     return {"ph": "X", "cat": "kernel", "name": "gemm", "ts": ts, "dur": dur, "pid": device, "tid": 7,
  >             "args": {"device": device, "stream": 7, "correlation": ts}}
  > def copy(device, ts, dur=2):
  >     return kernel(device, ts, dur) | {"cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)"}
  > def save(name, events):
  >     json.dump({"schemaVersion": 1, "traceEvents": events}, open(name, "w"))
  > busy = [kernel(7, 1000 + 100 * i) for i in range(100)]
  > save("without.json", busy)
  > save("one_copy.json", busy + [copy(0, 900000)])
  > save("one_tiny_kernel.json", busy + [kernel(0, 2000, 2), copy(0, 3000)])
  > save("half.json", busy + [kernel(0, 1000 + 200 * i) for i in range(50)])
  > END
  $ python3 traces.py
  $ for name in without one_copy one_tiny_kernel half; do gpufathom $name.json | sed -n '1,/^$/p'; done
  $ gpufathom one_copy.json --devices all | sed -n 2,3p
  $ gpufathom one_copy.json --devices 0 | sed -n 2,4p
  $ gpufathom one_copy.json --devices 1
  $ gpufathom one_copy.json --devices first
  $ gpufathom one_copy.json --json | jq -c '[.devices[].id], .other_devices, [.window.duration_ns], (.levels[0] | [.id, .value])'
  $ gpufathom work one_copy.json --json | jq -c '[.accounts[].device]'
  $ gpufathom compare without.json one_copy.json | head -3
  $ gpufathom compare without.json one_copy.json --devices all | head -3
  $ gpufathom whatif one_copy.json --kernel gemm=2 --json | jq -c '[.captured_ns, .replayed_ns]'
  $ gpufathom ranks --map one_copy.json | jq -c '[.device_id, .busy_ns]'
  $ gpufathom ranks --map one_copy.json --devices all | jq -c '[.device_id, .busy_ns]'

Tables and exports keep what every device did.

  $ gpufathom query one_copy.json "select count(*) from activities"
  $ gpufathom export one_copy.json --csv activities 2>/dev/null | wc -l
