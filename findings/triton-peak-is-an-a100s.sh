#!/usr/bin/env bash
# Guess: triton.testing.get_max_tensorcore_tflops gives a card's dense peak, at the least for Hopper and Blackwell,
# which Triton is written for, or raises for a generation that it does not know; and torch, which falls
# back on it where its own table lacks the card's name, gets the same.
# So it is: for every card from Ampere on it takes the A100's 512 operations a cycle and quarter of an SM. The H100
# has half its peak (495 of 989 TFLOP/s), the B200 a quarter, the RTX 4090 four times its own. torch passes
# it nvidia-smi's MHz for kHz: get_device_tflops says 0.49 TFLOP/s of "NVIDIA H100 80GB HBM3", the name
# that the card has, and 0.31 of an A100.
# Why: a matmul on an H100 has an efficiency above 100 %, one on an RTX 4090 never exceeds 25 %; run times
# that torch estimates from the peak are a thousand times too long.
# Versions: triton 3.9.0, torch 2.13.0, numpy 2.4.6 (CPU). The driver and nvidia-smi are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$tmp/venv/bin/pip" install -q triton==3.9.0
mkdir "$tmp/bin"
printf '#!/bin/sh\ncat "$MHZ_FILE"\n' >"$tmp/bin/nvidia-smi" # --query-gpu=clocks.max.sm --format=csv,noheader,nounits
chmod +x "$tmp/bin/nvidia-smi"
PATH="$tmp/bin:$PATH" MHZ_FILE="$tmp/mhz" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import os, types, torch, triton, triton.testing
from torch._inductor.utils import get_device_tflops
from torch._utils_internal import max_clock_rate
from triton.runtime import driver
print("triton", triton.__version__, "torch", torch.__version__.split("+")[0])
torch.cuda.is_available = lambda: True
torch.cuda.current_device = lambda: 0
# Name, SMs, MHz of the boost, capability; dense bf16 with fp32 accumulation by the data sheet.
for name, sms, mhz, capability, sheet in (
        ("NVIDIA A100-SXM4-80GB", 108, 1410, (8, 0), 312), ("NVIDIA H100 80GB HBM3", 132, 1830, (9, 0), 989),
        ("NVIDIA B200", 148, 1850, (10, 0), 2250), ("NVIDIA GeForce RTX 4090", 128, 2520, (8, 9), 165)):
    driver.set_active(types.SimpleNamespace(utils=types.SimpleNamespace(
        get_device_properties=lambda device: {"multiprocessor_count": sms})))
    torch.cuda.get_device_capability = lambda device=None: capability
    torch.cuda.get_device_name = lambda device=None: name
    with open(os.environ["MHZ_FILE"], "w") as out:
        print(mhz, file=out)
    for cached in (get_device_tflops, max_clock_rate):
        cached.cache_clear()
    print(name, "data sheet", sheet, "triton", round(triton.testing.get_max_tensorcore_tflops(torch.bfloat16, mhz * 1e3, 0)),
          "torch", round(get_device_tflops(torch.bfloat16), 2))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
triton 3.9.0 torch 2.13.0
NVIDIA A100-SXM4-80GB data sheet 312 triton 312 torch 0.31
NVIDIA H100 80GB HBM3 data sheet 989 triton 495 torch 0.49
NVIDIA B200 data sheet 2250 triton 561 torch 0.56
NVIDIA GeForce RTX 4090 data sheet 165 triton 661 torch 0.66
END
