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
  without.json                                        GPU, whole capture, 10.00 ms
  GPU active 100.0 % of the time. Utilization inside kernels needs counters.
  Kernel-bound: MatMul 100.0 % of the time. No steps are known: 100 equal blocks
  of 1 kernel, 100.0 us each.
  
  one_copy.json                                       GPU, whole capture, 10.00 ms
  GPU active 100.0 % of the time. Utilization inside kernels needs counters.
  Kernel-bound: MatMul 100.0 % of the time. No steps are known: 100 equal blocks
  of 1 kernel, 100.0 us each. GPU 0 only copies: 1 copy, 2.000 us.
  
  one_tiny_kernel.json                                GPU, whole capture, 10.00 ms
  GPU active 100.0 % of the time. Utilization inside kernels needs counters.
  Kernel-bound: MatMul 100.0 % of the time. No steps are known: 100 equal blocks
  of 1 kernel, 100.0 us each. GPU 0 is almost idle: 1 kernel, 1 copy, 4.000 us.
  
  half.json                                       2 x GPU, whole capture, 10.00 ms
  GPUs active 75.0 % of the time. Utilization inside kernels needs counters.
  Largest loss: idle time (launch not captured), 4.900 ms (24.5 %). No steps are
  known: 100 equal blocks of 1 kernel, 100.0 us each.
  
  $ gpufathom one_copy.json --devices all | sed -n 2,3p
  GPUs active 50.0 % of the time. Utilization inside kernels needs counters.
  Largest loss: idle time (launch not captured), 10.00 ms (50.0 %). No steps are
  $ gpufathom one_copy.json --devices 0 | sed -n 2,4p
  GPU active 0.0 % of the time. Utilization inside kernels needs counters. Too
  little GPU work to name a bottleneck: the window is a single activity. No steps
  are known: 100 equal blocks of 1 kernel, 100.0 us each. GPU 7 is left out.
  $ gpufathom one_copy.json --devices 1
  gpufathom: one_copy.json: --devices 1: no work on device 1 in the capture (devices with work: 0, 7)
  [1]
  $ gpufathom one_copy.json --devices first
  gpufathom: --devices: 'first' is not all, or numbers such as 0,2 (see gpufathom analyze --help)
  [2]
  $ gpufathom one_copy.json --json | jq -c '[.devices[].id], .other_devices, [.window.duration_ns], (.levels[0] | [.id, .value])'
  [7]
  [{"id":0,"name":"","why":"copies_only","kernels":0,"copies":1,"busy_ns":2000}]
  [10000000]
  ["gpu.busy",1]
  $ gpufathom compare without.json one_copy.json | head -3
       run            device  steps    window  speed
    A  without.json   ?           0  10.00 ms  1.00x
    B  one_copy.json  ?           0  10.00 ms  1.00x
  $ gpufathom compare without.json one_copy.json --devices all | head -3
       run            device  steps    window  speed
    A  without.json   ?           0  10.00 ms  1.00x
    B  one_copy.json  ?           0  10.00 ms  1.00x
  $ gpufathom whatif one_copy.json --kernel gemm=2 --json | jq -c '[.captured_ns, .replayed_ns]'
  [10000000,10000000]
  $ gpufathom ranks --map one_copy.json | jq -c '[.device_id, .busy_ns]'
  [7,10000000]
  $ gpufathom ranks --map one_copy.json --devices all | jq -c '[.device_id, .busy_ns]'
  [7,10000000]
  [0,2000]

Tables and exports keep what every device did.

  $ gpufathom query one_copy.json "select count(*) from activities"
  count(*)
       101
  (1 row)
