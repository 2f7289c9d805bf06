#!/usr/bin/env bash
# Guess: "system/gpu/usage (%)" of DVCLive is the utilization of the GPU that NVML and nvidia-smi give.
# So it is: it is NVML's memory utilization divided by its GPU utilization. A GPU that is always busy and accesses its
# memory 40 % of the time is at 40 %, one that computes from caches at 0 %, one that is busy 5 % of the time with
# copies at 100 %. The last point of every curve is a sum of the readings so far over all ten: after three of ten
# readings 40 GB in use are 12.
# Why: the plot ranks an almost idle GPU above a busy one, and the mean or minimum of a run includes the cut point.
# Versions: dvclive 3.49.1, dvc 3.67.1, nvidia-ml-py 13.615.71. NVML is stood in for: it gives steady readings.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q dvclive==3.49.1 dvc==3.67.1 nvidia-ml-py==13.615.71
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import csv, glob, importlib.metadata, threading, time
from types import SimpleNamespace
from dvclive import Live, monitor_system as nvml
print("dvclive", importlib.metadata.version("dvclive"))
GB = 1024**3
nvml.nvmlInit = nvml.nvmlShutdown = lambda: None
nvml.nvmlDeviceGetCount = lambda: 1
nvml.nvmlDeviceGetHandleByIndex = lambda index: index
nvml.nvmlDeviceGetMemoryInfo = lambda gpu: SimpleNamespace(total=80 * GB, used=40 * GB, free=40 * GB)


def points(folder, name):
    (path,) = glob.glob(f"{folder}/plots/metrics/system/{name}")
    return [round(float(list(row.values())[-1]), 3) for row in csv.DictReader(open(path), delimiter="\t")]


for busy, memory in (100, 40), (100, 0), (5, 5), (0, 0):
    readings, enough = 0, threading.Event()

    def utilization(gpu):
        global readings
        readings += 1
        if readings == 13:
            enough.set()
        return SimpleNamespace(gpu=busy, memory=memory)
    nvml.nvmlDeviceGetUtilizationRates = utilization
    folder = f"run-{busy}-{memory}"
    with Live(folder, save_dvc_exp=False, dvcyaml=None) as live:
        live.monitor_system(interval=0.1, num_samples=10)
        enough.wait(60)
    for _ in range(50):
        time.sleep(0.1)
        if len(points(folder, "disk/usage (%)/main.tsv")) == 2:
            break
    print(f"GPU busy {busy} %, memory {memory} %: usage (%)", points(folder, "gpu/usage (?)/0.tsv"), "of 40 GB in use",
          points(folder, "vram/usage (GB)/0.tsv"))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
dvclive 3.49.1
GPU busy 100 %, memory 40 %: usage (%) [40.0, 12.0] of 40 GB in use [40.0, 12.0]
GPU busy 100 %, memory 0 %: usage (%) [0.0, 0.0] of 40 GB in use [40.0, 12.0]
GPU busy 5 %, memory 5 %: usage (%) [100.0, 30.0] of 40 GB in use [40.0, 12.0]
GPU busy 0 %, memory 0 %: usage (%) [0.0, 0.0] of 40 GB in use [40.0, 12.0]
END
