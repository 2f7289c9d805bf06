Traces of two processes put into one file: each numbers its calls and operations from 1, so that only the process tells
which call launched a kernel. The process is the one beside whose host the kernel stands in the file; where the events
were sorted, the one whose calls fit the kernels of the device; where no number is of both, that of the call. Kernel k_A_3
is of aten::a3.

  $ cat > processes.py <<'END'
  > import json, random
  > def trace(pid, device, tag, begin):
  >     random.seed(pid)
  >     host, gpu, now, free = [], [], begin, 0
  >     def x(into, cat, name, where, ts, dur, **args):
  >         into.append({"ph": "X", "cat": cat, "name": name, "pid": where[0], "tid": where[1], "ts": round(ts, 3), "dur": round(dur, 3), "args": args})
  >     for i in range(1, 121):
  >         op = {"External id": i}
  >         x(host, "cpu_op", f"aten::{tag.lower()}{i % 9}", (pid, pid), now, 8, **op)
  >         x(host, "cuda_runtime", "cudaLaunchKernel", (pid, pid), now + 2, 4, correlation=i, **op)
  >         free = max(free, now + 6) + 1
  >         length = random.uniform(5, 25)
  >         x(gpu, "kernel", f"k_{tag}_{i % 9}", (device, 7), free, length, device=device, context=1, stream=7, correlation=i, **op)
  >         free, now = free + length, now + random.uniform(9, 12)
  >         if i % 12 == 0:
  >             x(host, "cuda_runtime", "cudaDeviceSynchronize", (pid, pid), now, free + 3 - now)
  >             now = free + 5
  >     host[:] = [event for event in host if event["args"].get("correlation") != 60]  # its call was not recorded
  >     return host + gpu
  > def save(name, *traces):
  >     json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "numSms": 132}], "traceEvents": sum(traces, [])}, open(name, "w"))
  > a, b, other = trace(41, 0, "A", 1000), trace(42, 1, "B", 1003), trace(42, 0, "B", 1003)
  > save("behind.json", a, b)
  > save("sorted.json", sorted(a + b, key=lambda event: event["ts"]))
  > save("both_0.json", a, other)
  > save("later.json", a, trace(42, 0, "B", 9000))
  > for event in b:
  >     for key in ("correlation", "External id"):
  >         if key in event["args"]: event["args"][key] += 1000
  > save("apart.json", a, b)
  > for event in other:
  >     for key in ("correlation", "External id"):
  >         if key in event["args"]: event["args"][key] += 1000
  > save("one_gpu.json", a, other)
  > END
  $ python3 processes.py
  $ for name in behind sorted both_0 later apart one_gpu; do echo "$name: $(gpufathom query $name.json --window all --csv "select pid, device, count(*), sum(operator = 'aten::' || lower(replace(substr(name, 3), '_', ''))) from attributed_kernels group by 1, 2" | tail -n +2 | paste -sd ' ') $(gpufathom $name.json --json | jq -c '[.quality[] | [.code, .count]]')"; done
  behind: 41,0,120,120 42,1,120,120 []
  sorted: 41,0,120,120 42,1,120,120 []
  both_0: 41,0,120,120 42,1,120,120 [["merged_devices",1]]
  later: 41,0,120,120 42,0,120,120 []
  apart: 41,0,120,120 42,1,120,120 []
  one_gpu: ,0,2,2 41,0,119,119 42,0,119,119 []
  $ gpufathom one_gpu.json --json | jq -c '.tenants[] | [.id, [.tenants[] | [.pid, .kernels]], .span_ns - .rest_ns - ([.tenants[].share_ns] | add)]'
  [0,[[41,119],[42,119]],0]
