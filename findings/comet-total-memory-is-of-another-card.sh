#!/usr/bin/env bash
# Guess: sys.gpu.0.total_memory and sys.gpu.0.used_memory of Comet are of one card.
# So it is: the total is logged once, of all cards in NVML's order, the rest for the cards in CUDA_VISIBLE_DEVICES, numbered
# from 0: with CUDA_VISIBLE_DEVICES=1 on a workstation of 24 and 80 GB card 0 has 70.0 GB used, 10.0 free and 24.0 in
# total, card 1 a total only. With "1,0" each has the other's total. Only "percent.used_memory" is of one card. Ranks that see
# a card each all log it as sys.gpu.0; the power is in mW.
# Why: a card seems three times overfull, and memory per card is added up over the wrong ones.
# Versions: comet-ml 3.58.8. NVML is stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q comet-ml==3.58.8
cd "$tmp"
HOME="$tmp" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import os, types, comet_ml
from comet_ml.system.gpu.gpu_logging import convert_gpu_details_to_metrics, get_initial_gpu_metric, get_recurrent_gpu_metric, pynvml
print("comet-ml", comet_ml.__version__)
GB, CARDS = 10**9, [(2, 24, 20), (70, 80, 300)]  # Used and total memory, watts.
for name, stand_in in dict(
        nvmlInit=lambda: None, nvmlDeviceGetCount=lambda: len(CARDS), nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUUID=lambda card: f"GPU-{card}", nvmlDeviceGetHandleByUUID=lambda uuid: int(uuid.removeprefix("GPU-")),
        nvmlDeviceGetMemoryInfo=lambda card: types.SimpleNamespace(used=CARDS[card][0] * GB, total=CARDS[card][1] * GB, free=(CARDS[card][1] - CARDS[card][0]) * GB),
        nvmlDeviceGetUtilizationRates=lambda card: types.SimpleNamespace(gpu=99, memory=50), nvmlDeviceGetPowerUsage=lambda card: CARDS[card][2] * 1000,
        nvmlDeviceGetTemperature=lambda card, sensor: 60).items():
    setattr(pynvml, name, stand_in)
for visible in None, "1", "1,0":
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    if visible:
        os.environ["CUDA_VISIBLE_DEVICES"] = visible
    logged = {metric["name"]: metric["value"] for part in (get_initial_gpu_metric(), get_recurrent_gpu_metric()) for metric in convert_gpu_details_to_metrics(part)}
    print("CUDA_VISIBLE_DEVICES", visible)
    for card in 0, 1:
        memory = {kind: f"{logged[name] / GB:.1f} GB" for kind in ("total", "used", "free") if (name := f"sys.gpu.{card}.{kind}_memory") in logged}
        print(f"  sys.gpu.{card}:", memory, {kind: round(logged[name], 1) for kind in ("percent.used_memory", "power_usage") if (name := f"sys.gpu.{card}.{kind}") in logged})
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
comet-ml 3.58.8
CUDA_VISIBLE_DEVICES None
  sys.gpu.0: {'total': '24.0 GB', 'used': '2.0 GB', 'free': '22.0 GB'} {'percent.used_memory': 8.3, 'power_usage': 20000}
  sys.gpu.1: {'total': '80.0 GB', 'used': '70.0 GB', 'free': '10.0 GB'} {'percent.used_memory': 87.5, 'power_usage': 300000}
CUDA_VISIBLE_DEVICES 1
  sys.gpu.0: {'total': '24.0 GB', 'used': '70.0 GB', 'free': '10.0 GB'} {'percent.used_memory': 87.5, 'power_usage': 300000}
  sys.gpu.1: {'total': '80.0 GB'} {}
CUDA_VISIBLE_DEVICES 1,0
  sys.gpu.0: {'total': '24.0 GB', 'used': '70.0 GB', 'free': '10.0 GB'} {'percent.used_memory': 87.5, 'power_usage': 300000}
  sys.gpu.1: {'total': '80.0 GB', 'used': '2.0 GB', 'free': '22.0 GB'} {'percent.used_memory': 8.3, 'power_usage': 20000}
END
