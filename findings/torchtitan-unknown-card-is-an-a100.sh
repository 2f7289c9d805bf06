#!/usr/bin/env bash
# Guess: torchtitan's get_peak_flops knows the cards in its own table by the names that CUDA reports, and for
# another card it says that the peak, and so MFU, is unknown.
# So it is: the peak of an unknown card is that of an A100 (312 TFLOP/s) and only a log line tells. The L40S
# has a row (362), but it is looked up in lower case, so "NVIDIA L40S" gets 312 too. An L4 (data sheet:
# 121 bf16 without sparsity) gets 312: its MFU is 2.6 times too low.
# Why: MFU is printed every step as if the peak were known.
# Versions: torchtitan 0.3.0, torch 2.13.0, numpy 2.4.6 (CPU).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$tmp/venv/bin/pip" install -q --no-deps torchtitan==0.3.0
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import subprocess
from torchtitan.tools import utils
utils.subprocess.run = lambda *a, **k: subprocess.CompletedProcess(a, 0, stdout="")  # no lspci of this machine
for card in ("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA L40S", "l40s", "NVIDIA L4",
             "NVIDIA GeForce RTX 4090", "AMD Instinct MI308X"):
    print(card, utils.get_peak_flops(card) / 1e12)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
NVIDIA H100 80GB HBM3 989.0
NVIDIA A100-SXM4-80GB 312.0
NVIDIA L40S 312.0
l40s 362.0
NVIDIA L4 312.0
NVIDIA GeForce RTX 4090 312.0
AMD Instinct MI308X 312.0
END
