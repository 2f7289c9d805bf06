#!/usr/bin/env bash
# Guess: the "GPU Tensor Core utilization" that Google's ML Diagnostics collects by itself is the share of time in which the
# tensor cores work, and a server where NVML cannot be read has none.
# So it is: it asks NVML for field 156, which counts errors of NVLink's link 8, and stumbles over the form of the answer
# (a union, not a number). What it then returns is NVML's GPU utilization: 100 % for a GPU that only copies or adds
# element by element, always the number beside it. Without a driver all figures are 0 %.
# Why: a training run that leaves the tensor cores unused shows them full, and one that cannot be measured is idle.
# Versions: google-cloud-mldiagnostics 1.0.10, nvidia-ml-py 13.615.71. NVML is stood in for, its answers have its types.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q google-cloud-mldiagnostics==1.0.10 nvidia-ml-py==13.615.71
cd "$tmp"
cat >run.py <<'PY'
import importlib.metadata, logging, sys, pynvml
from types import SimpleNamespace
logging.disable(logging.CRITICAL)
busy, asked = [0, 0], set()


def fields(gpu, names):
    answers = (pynvml.c_nvmlFieldValue_t * len(names))()
    for answer, name in zip(answers, names):
        asked.add(name)
        answer.fieldId, answer.nvmlReturn, answer.valueType = name, pynvml.NVML_SUCCESS, pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
        answer.value.ullVal = 0
    return answers


def no_driver():
    raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)


driver = sys.argv[1] == "driver"
pynvml.nvmlInit, pynvml.nvmlShutdown = (lambda: None) if driver else no_driver, lambda: None
pynvml.nvmlDeviceGetCount = lambda: len(busy)
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetFieldValues = fields
pynvml.nvmlDeviceGetMemoryInfo = lambda gpu: SimpleNamespace(total=80 * 10**9, used=40 * 10**9)
pynvml.nvmlDeviceGetUtilizationRates = lambda gpu: SimpleNamespace(gpu=busy[gpu], memory=0)
from google_cloud_mldiagnostics.utils.gpu_utils import gpu_metric


def show(title):
    print(f"{title}: gpu_duty_cycle {gpu_metric.get_gpu_duty_cycle()} gpu_tensorcore_utilization {gpu_metric.get_gpu_tensorcore_utilization()}",
          f"vram_utilization {gpu_metric.get_vram_utilization()}")


if driver:
    print("google-cloud-mldiagnostics", importlib.metadata.version("google-cloud-mldiagnostics"), "nvidia-ml-py", importlib.metadata.version("nvidia-ml-py"))
    busy[:] = 100, 100
    show("kernels without tensor cores on both GPUs")
    busy[:] = 100, 7
    show("on one of them")
    name = [name for name in dir(pynvml) if name.startswith("NVML_FI_DEV_") and getattr(pynvml, name) in asked]
    print("fields asked of NVML:", *sorted(asked), *name)
else:
    show("no driver")
PY
{ "$tmp/venv/bin/python" run.py driver; "$tmp/venv/bin/python" run.py none; } >"$tmp/seen" 2>"$tmp/err" || { tail -n 5 "$tmp/err"; exit 1; }
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
google-cloud-mldiagnostics 1.0.10 nvidia-ml-py 13.615.71
kernels without tensor cores on both GPUs: gpu_duty_cycle [100.0, 100.0] gpu_tensorcore_utilization [100.0, 100.0] vram_utilization [50.0, 50.0]
on one of them: gpu_duty_cycle [100.0, 7.0] gpu_tensorcore_utilization [100.0, 7.0] vram_utilization [50.0, 50.0]
fields asked of NVML: 156 NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L8
no driver: gpu_duty_cycle [0.0] gpu_tensorcore_utilization [0.0] vram_utilization [0.0]
END
