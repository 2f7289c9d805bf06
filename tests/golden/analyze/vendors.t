Advice in the terms of the GPU's maker: ten kernels of 50 us, each launched after the one before has ended.

  $ cat > make.py <<'PY'
  > import json, sys
  > device, runtime, launch, file = sys.argv[1:]
  > events = []
  > for i in range(10):
  >     at = 5000 + 100 * i
  >     events += [{"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "ts": at, "dur": 30, "pid": 9, "tid": 9, "args": {"External id": i + 1}},
  >                {"ph": "X", "cat": runtime, "name": launch, "ts": at + 10, "dur": 15, "pid": 9, "tid": 9, "args": {"External id": i + 1, "correlation": 40 + i}},
  >                {"ph": "X", "cat": "kernel", "name": "sgemm_kernel", "ts": at + 40, "dur": 50, "pid": 0, "tid": 0, "args": {"External id": i + 1, "correlation": 40 + i, "device": 0}}]
  > json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}] if device else [], "traceEvents": events}, open(file, "w"))
  > PY
  $ python3 make.py "NVIDIA H100" cuda_runtime cudaLaunchKernel nvidia.json
  $ python3 make.py "AMD Instinct MI300X" cuda_runtime hipLaunchKernel amd.json
  $ python3 make.py "" hip_runtime hipLaunchKernel nameless.json
  $ python3 make.py "Intel(R) Data Center GPU Max 1550" xpu_runtime urEnqueueKernelLaunch intel.json
  $ for gpu in nvidia amd nameless intel; do echo "$gpu"; gpufathom analyze $gpu.json --full > $gpu.txt; gpufathom analyze $gpu.json --format json | jq -c '.findings[] | select(.id == "launch_bound" or .id == "missing_counters" or .id == "fp32_without_tensor_cores") | [.id, (.text | sub("^[^.:]*[.:] "; "")), .command[:20]]'; grep -ciE 'cuda|ncu |nvidia-smi|tensor cores' $gpu.txt || true; done
  nvidia
  ["launch_bound","the GPU waits for the host to launch the next kernel 24 % of the time. Launch less often: torch.compile (mode=\"reduce-overhead\"), CUDA graphs for the step, fused optimizers, or a larger batch.",""]
  ["fp32_without_tensor_cores","Allow TF32 (torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.allow_tf32) or use torch.autocast in BF16, if the accuracy of the model permits.",""]
  ["missing_counters","Utilization of SMs, issue slots and tensor cores needs hardware counters: collect them for one step and pass the file with --counters.","ncu --launch-count 2"]
  4
  amd
  ["launch_bound","the GPU waits for the host to launch the next kernel 24 % of the time. Launch less often: torch.compile (mode=\"reduce-overhead\"), HIP graphs for the step, fused optimizers, or a larger batch.",""]
  ["fp32_without_tensor_cores","Use torch.autocast in BF16, if the accuracy of the model permits.",""]
  ["missing_counters","rocprof-compute measures utilization inside kernels; gpufathom reads the counters of its reports (pmc_perf.csv) but computes no levels from them.","rocprof-compute prof"]
  0
  nameless
  ["launch_bound","the GPU waits for the host to launch the next kernel 24 % of the time. Launch less often: torch.compile (mode=\"reduce-overhead\"), HIP graphs for the step, fused optimizers, or a larger batch.",""]
  ["fp32_without_tensor_cores","Use torch.autocast in BF16, if the accuracy of the model permits.",""]
  ["missing_counters","rocprof-compute measures utilization inside kernels; gpufathom reads the counters of its reports (pmc_perf.csv) but computes no levels from them.","rocprof-compute prof"]
  0
  intel
  ["launch_bound","the GPU waits for the host to launch the next kernel 24 % of the time. Launch less often: torch.compile, fused optimizers, or a larger batch.",""]
  ["fp32_without_tensor_cores","Use torch.autocast in BF16, if the accuracy of the model permits.",""]
  0

Calls of other makers' runtimes launch, copy and wait under names of their own: while a program waits in one, the cause is sync.

  $ cat > makers.py <<'END'
  > import json
  > def trace(name, category, launch, fill, copy, wait):
  >     events, number = [], 1
  >     def x(cat, name, pid, ts, dur, **args): events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": pid, "ts": ts, "dur": dur, "args": args})
  >     for begin in range(1000, 5000, 400):
  >         for at, call, kind, runs, length in ((5, launch, "kernel", 25, 100), (40, fill, "gpu_memset", 130, 10), (50, copy, "gpu_memcpy", 150, 10)):
  >             x(category, call, 9, begin + at, 5, correlation=number)
  >             x(kind, "Memcpy D2M" if kind == "gpu_memcpy" and "xpu" in category else "Memcpy DtoH" if kind == "gpu_memcpy" else kind, 0, begin + runs, length, device=0, stream=7, correlation=number)
  >             number += 1
  >         x(category, wait, 9, begin + 60, 200)
  >     json.dump({"schemaVersion": 1, "traceEvents": events}, open(name, "w"))
  > trace("intel.json", "xpu_runtime", "urEnqueueKernelLaunch", "urEnqueueUSMFill", "urEnqueueMemBufferRead", "urQueueFinish")
  > trace("intel_event.json", "xpu_runtime", "urEnqueueKernelLaunch", "urEnqueueUSMFill", "urEnqueueUSMMemcpy", "urEventWait")
  > trace("musa.json", "privateuse1_runtime", "musaLaunchKernel", "musaMemsetAsync", "musaMemcpyAsync", "musaStreamSynchronize")
  > trace("cuda.json", "cuda_runtime", "cudaLaunchKernel", "cudaMemsetAsync", "cudaMemcpyAsync", "cudaStreamSynchronize")
  > END
  $ python3 makers.py
  $ for name in intel intel_event musa cuda; do gpufathom analyze $name.json --json | jq -c '[.devices[0].idle[] | [.cause, .ns]]'; done
  [["host_other",1305000],["sync",900000],["kernel_gap",285000],["launch_bound",45000]]
  [["host_other",1305000],["sync",900000],["kernel_gap",285000],["launch_bound",45000]]
  [["host_other",1305000],["sync",900000],["kernel_gap",285000],["launch_bound",45000]]
  [["host_other",1305000],["sync",900000],["kernel_gap",285000],["launch_bound",45000]]
  $ gpufathom query intel.json --csv "select name, kind, count(*) from api_calls group by 1, 2"
  name,kind,count(*)
  urEnqueueKernelLaunch,launch,10
  urEnqueueMemBufferRead,memcpy,10
  urEnqueueUSMFill,memset,10
  urQueueFinish,sync,10

So are the directions of their copies: M is memory that Intel's driver does not know.

  $ for name in intel cuda; do gpufathom query $name.json --csv "select distinct name, copy from activities where kind = 'memcpy'" | tail -1; done
  Memcpy D2M,device_to_host
  Memcpy DtoH,device_to_host
