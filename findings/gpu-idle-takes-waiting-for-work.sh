#!/usr/bin/env bash
# Guess: gpu-idle finds what holds a training step up: a rank that waits for the others is not busy, and what it calls
# host-to-device copying is copies from the host that nothing hides.
# So it is: an NCCL kernel is work, also while it waits: a rank that computes 25 ms of a step of 100 and waits 74 is 99 %
# busy, "No bottleneck found". Every copy counts as one from the host, whatever its direction and what runs beside it:
# 15 % between buffers of the device, or to the host, and 60 % under kernels are "host-to-device copying", to be cured by
# pin_memory.
# Why: the fast ranks of a job with a straggler look healthy, and one changes the DataLoader for a copy that it does not make.
# Versions: gpu-idle 0.1.0.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q gpu-idle==0.1.0
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import importlib.metadata, json, os, subprocess, sys
print("gpu-idle", importlib.metadata.version("gpu-idle"))
STEPS, STEP = 5, 100_000


# Five steps of 100 ms; parts of a step are a name, a stream, its begin and its length in ms.
def trace(path, parts):
    events = []
    for step in range(STEPS):
        begin = step * STEP
        events.append(dict(ph="X", cat="user_annotation", name=f"ProfilerStep#{step}", pid=1, tid=1, ts=begin, dur=STEP, args={}))
        events.append(dict(ph="X", cat="gpu_user_annotation", name=f"ProfilerStep#{step}", pid=0, tid=7, ts=begin, dur=STEP, args={}))
        for name, stream, start, length in parts:
            copy = name.startswith("Memcpy")
            events.append(dict(ph="X", cat="gpu_memcpy" if copy else "kernel", name=name, pid=0, tid=stream, ts=begin + start * 1000, dur=length * 1000,
                               args=dict(device=0, stream=stream, correlation=len(events)) | (dict(bytes=10**9) if copy else {})))
    with open(path, "w") as out:
        json.dump(dict(traceEvents=events), out)


gemm, reduce = "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
for title, parts in (("computes 25 ms, waits in NCCL 74", [(gemm, 7, 0, 25), (reduce, 20, 25, 74)]),
                     ("computes 70 ms, copies 15 on the device", [(gemm, 7, 0, 70), ("Memcpy DtoD (Device -> Device)", 7, 70, 15)]),
                     ("computes 70 ms, copies 15 to the host", [(gemm, 7, 0, 70), ("Memcpy DtoH (Device -> Pinned)", 7, 70, 15)]),
                     ("computes 70 ms, copies 60 from the host under it", [(gemm, 7, 0, 70), ("Memcpy HtoD (Pinned -> Device)", 21, 5, 60)])):
    trace("trace.json", parts)
    out = subprocess.run([os.path.join(os.path.dirname(sys.executable), "gpu-idle"), "trace.json"], capture_output=True, text=True, check=True).stdout
    print(f"{title}:", *(" ".join(line.encode("ascii", "ignore").decode().split()) for line in out.splitlines() if line.strip()), sep="\n  ")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
gpu-idle 0.1.0
computes 25 ms, waits in NCCL 74:
  GPU busy 99% of the time (100.0 ms/step over 5 steps)
  No bottleneck found. The GPU is being kept fed.
computes 70 ms, copies 15 on the device:
  GPU busy 70% of the time (100.0 ms/step over 5 steps)
  15% of the step is host-to-device copying (75 ms total).
  Set pin_memory=True on the DataLoader and non_blocking=True on .to(device).
computes 70 ms, copies 15 to the host:
  GPU busy 70% of the time (100.0 ms/step over 5 steps)
  15% of the step is host-to-device copying (75 ms total).
  Set pin_memory=True on the DataLoader and non_blocking=True on .to(device).
computes 70 ms, copies 60 from the host under it:
  GPU busy 70% of the time (100.0 ms/step over 5 steps)
  60% of the step is host-to-device copying (300 ms total).
  Set pin_memory=True on the DataLoader and non_blocking=True on .to(device).
END
