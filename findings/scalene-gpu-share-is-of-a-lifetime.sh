#!/usr/bin/env bash
# Guess: Scalene's GPU percentage of a line is the utilization of the GPU while the line runs, and one busy GPU counts
# the same in a server of one and of eight.
# So it is: with NVML's accounting on, which Scalene turns on where it may and asks for otherwise, each sample is the
# process's mean utilization since its start. A line of 10 s without a kernel after 10 s of kernels gets 69.3 %, 10 s
# of kernels after 10 s without get 30.7 %. And the mean is over all GPUs of the server, also those that the process
# does not use: of eight, 12.5 % is one that is always busy.
# Why: the table sends the reader to lines that leave the GPU idle, and a full GPU looks idle.
# Versions: scalene 2.4.0, nvidia-ml-py 13.615.71. NVML is stood in for, by its definition: gpuUtilization of an
# accounted process is the share of its lifetime in which a kernel ran.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q scalene==2.4.0 nvidia-ml-py==13.615.71 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import importlib.metadata, pynvml
from types import SimpleNamespace
from scalene.scalene_nvidia_gpu import ScaleneNVIDIAGPU
print("scalene", importlib.metadata.version("scalene"))
STEP = 0.01
state = {}
pynvml.nvmlInit = lambda: None
pynvml.nvmlDeviceGetCount = lambda: state["gpus"]
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetAccountingMode = lambda gpu: state["accounting"]
pynvml.nvmlDeviceGetComputeRunningProcesses = lambda gpu: []


def refused(gpu, mode):
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NO_PERMISSION)


pynvml.nvmlDeviceSetPersistenceMode = pynvml.nvmlDeviceSetAccountingMode = refused


def accounted(gpu, pid):
    if gpu:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
    return SimpleNamespace(gpuUtilization=round(100 * state["busy"] / state["lifetime"]) if state["lifetime"] else 0)


pynvml.nvmlDeviceGetAccountingStats = accounted
pynvml.nvmlDeviceGetUtilizationRates = lambda gpu: SimpleNamespace(gpu=state["now"] if gpu == 0 else 0, memory=0)
for gpus, accounting in ((1, True), (1, False), (8, True), (8, False)):
    for course in ("kernels", "host"), ("host", "kernels"):
        state.update(gpus=gpus, accounting=accounting, busy=0, lifetime=0, now=0)
        device = ScaleneNVIDIAGPU()
        lines = {}
        for line in course:
            loads = []
            for _ in range(round(10 / STEP)):
                state["lifetime"] += STEP
                state["busy"] += STEP * (line == "kernels")
                state["now"] = 100 * (line == "kernels")
                loads.append(device.get_stats()[0])
            lines[line] = f"{100 * sum(loads) / len(loads):.1f} %"
        print(gpus, "GPUs, accounting", "on: " if accounting else "off:", ", then ".join(f"10 s of {line} {lines[line]}" for line in course))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
scalene 2.4.0
1 GPUs, accounting on:  10 s of kernels 100.0 %, then 10 s of host 69.3 %
1 GPUs, accounting on:  10 s of host 0.0 %, then 10 s of kernels 30.7 %
1 GPUs, accounting off: 10 s of kernels 100.0 %, then 10 s of host 0.0 %
1 GPUs, accounting off: 10 s of host 0.0 %, then 10 s of kernels 100.0 %
8 GPUs, accounting on:  10 s of kernels 12.5 %, then 10 s of host 8.7 %
8 GPUs, accounting on:  10 s of host 0.0 %, then 10 s of kernels 3.8 %
8 GPUs, accounting off: 10 s of kernels 12.5 %, then 10 s of host 0.0 %
8 GPUs, accounting off: 10 s of host 0.0 %, then 10 s of kernels 12.5 %
END
