Ranks merged into one trace: device 0 of two hosts is two GPUs, by a prefix of the process or by an offset.

  $ cat > merged.py <<'END'
  > import json
  > def kernels(pid, device, begin, count, every):
  >     return [{"ph": "X", "cat": "kernel", "name": "gemm", "ts": begin + every * i, "dur": 100, "pid": pid, "tid": 7,
  >              "args": {"device": device, "stream": 7, "correlation": i}} for i in range(count)]
  > def save(name, *ranks):
  >     header = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "numSms": 132}]}
  >     json.dump(header | {"traceEvents": sum(ranks, [])}, open(name, "w"))
  > save("prefix.json", kernels("rank0 0", 0, 1000, 10, 100), kernels("rank1 0", 0, 2000, 10, 100))
  > save("offset.json", kernels(0, 0, 1000, 16, 250), kernels(100000, 0, 1000, 4, 1300))
  > save("two_gpus.json", kernels("[TP00] 0", 0, 1000, 10, 200), kernels("[TP01] 1", 1, 1000, 10, 200))
  > save("one_gpu.json", kernels("CUDA", 0, 1000, 10, 200))
  > END
  $ python3 merged.py
  $ for name in prefix offset two_gpus one_gpu; do gpufathom $name.json --window auto --json | jq -c '[.devices[] | [.id, .name, .span_ns, .kernel_busy_ns]], [.quality[] | select(.code == "merged_devices")]'; done
  [[0,"NVIDIA H100",2000000,1000000],[1,"NVIDIA H100",2000000,1000000]]
  [{"code":"merged_devices","count":1,"detail":"several processes use one device number, as in merged traces: GPU 1 is device 0 of process rank1 0"}]
  [[0,"NVIDIA H100",4000000,1600000],[1,"NVIDIA H100",4000000,400000]]
  [{"code":"merged_devices","count":1,"detail":"several processes use one device number, as in merged traces: GPU 1 is device 0 of process 100000"}]
  [[0,"NVIDIA H100",1900000,1000000],[1,"",1900000,1000000]]
  []
  [[0,"NVIDIA H100",1900000,1000000]]
  []
