"""Stands for bench/gpu/gate.py's processes on machines without a GPU: --work NAME LOG SECONDS over
the driver FAKE_DRIVER."""

import ctypes
import json
import os
import sys
import time

import gpufathom

driver = ctypes.CDLL(os.environ["FAKE_DRIVER"])
driver.cuInit(0)
kernel = [ctypes.c_char_p(b"work"), 132, 1, 1, 128, 1, 1, 0, None, None, None]
name, log, seconds = sys.argv[2], sys.argv[3], float(sys.argv[4])
runs, begin = [], time.monotonic()
while time.monotonic() - begin < seconds:
    for kind in ("base", "again", "five"):
        with gpufathom.step():
            for _ in range(4):
                driver.cuLaunchKernel(*kernel)
        runs.append(kind)
with open(log, "w") as file:
    json.dump({"program": name, "runs": runs, "steps": 2}, file)
