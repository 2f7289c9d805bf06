#!/usr/bin/env bash
# Guess: proton-viewer shows time, means and rates of a scope over the kernels that its filters leave, whatever the unit.
# So it is: a filter sums "time" anew, but not what is derived from it: with NCCL excluded the root is 25 ms by "time" and
# 40 by "time/ms", and the shares of the kernels add up to 62.5 %. With "-i gemm" the scope "backward" has a mean
# of 3.444 ms and 258 TFLOP/s where gemm, its only kernel left, has 2.000 ms and 500.
# Why: who leaves the communication out to see compute, or one kernel in, still reads all of it in the scopes above.
# Versions: triton 3.9.0, llnl-hatchet 2026.2.0, pandas 2.3.3, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q triton==3.9.0 llnl-hatchet==2026.2.0 pandas==2.3.3 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import contextlib, importlib.metadata, io, json, sys
from triton.profiler import viewer
print(*(f"{name} {importlib.metadata.version(name)}" for name in ("triton", "llnl-hatchet", "pandas", "numpy")))


def node(name, *children, **metrics):
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}


def kernel(name, milliseconds, count, **metrics):
    return node(name, **{"time (ns)": milliseconds * 1000000, "count": count, "device_id": "0", "device_type": "CUDA"}, **metrics)


# A profile as Proton writes it: the tree and the device.
json.dump([node("ROOT", node("forward", kernel("gemm", 8, 4, flops16=4e12), kernel("norm", 1, 4)),
                node("backward", kernel("gemm", 16, 8, flops16=8e12), kernel("ncclDevKernel_AllReduce", 15, 1)),
                **{"time (ns)": 0, "count": 0, "flops16": 0}),
           {"CUDA": {"0": {"arch": "90", "num_sms": 132, "clock_rate": 1980000, "memory_clock_rate": 2619000, "bus_width": 5120}}}], open("profile", "w"))
for options in ("-m time", "-m time -e nccl.*", "-m time/ms", "-m time/ms -e nccl.*", "-m time/% -e nccl.*", "-m avg_time/ms -i gemm",
                "-m tflop16/s -i gemm"):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        sys.argv = ["proton-viewer", *options.split(), "profile"]
        viewer.main()
    rows = [line.strip("\u2502\u2514\u251c\u2500 ") for line in text.getvalue().splitlines() if line.strip()]
    print(f"{options}:", ", ".join(f"{name} {value}" for value, name in (row.split(" ") for row in rows)))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
triton 3.9.0 llnl-hatchet 2026.2.0 pandas 2.3.3 numpy 2.4.6
-m time: ROOT 40000000.000, backward 31000000.000, gemm 16000000.000, ncclDevKernel_AllReduce 15000000.000, forward 9000000.000, gemm 8000000.000, norm 1000000.000
-m time -e nccl.*: ROOT 25000000.000, backward 16000000.000, gemm 16000000.000, forward 9000000.000, gemm 8000000.000, norm 1000000.000
-m time/ms: ROOT 40.000, backward 31.000, gemm 16.000, ncclDevKernel_AllReduce 15.000, forward 9.000, gemm 8.000, norm 1.000
-m time/ms -e nccl.*: ROOT 40.000, backward 31.000, gemm 16.000, forward 9.000, gemm 8.000, norm 1.000
-m time/% -e nccl.*: ROOT 100.000, backward 77.500, gemm 40.000, forward 22.500, gemm 20.000, norm 2.500
-m avg_time/ms -i gemm: ROOT 2.353, backward 3.444, gemm 2.000, forward 1.125, gemm 2.000
-m tflop16/s -i gemm: ROOT 300.000, backward 258.065, gemm 500.000, forward 444.444, gemm 500.000
END
