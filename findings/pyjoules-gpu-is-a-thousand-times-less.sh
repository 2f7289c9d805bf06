#!/usr/bin/env bash
# Guess: all devices of a pyJoules sample are in one unit; its README says of each: "in uJ".
# So it is: CPU and memory are in microjoules, the GPU in NVML's millijoules. Ten joules of each are
# 10000000 and 10000 in one sample, one CSV line, one table, and a sum or a share takes the GPU for nothing.
# Why: in "energy of CPU and GPU" the GPU is a thousand times too small.
# Versions: pyJoules 0.5.1, nvidia-ml-py 13.615.71. NVML and RAPL are stood in for: each counts 10 J.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pyJoules==0.5.1 nvidia-ml-py==13.615.71
mkdir -p "$tmp/rapl/intel-rapl:0"
echo package-0 >"$tmp/rapl/intel-rapl:0/name"
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import importlib.metadata, pynvml
print("pyJoules", importlib.metadata.version("pyJoules"), "nvidia-ml-py", importlib.metadata.version("nvidia-ml-py"))
counters = {"joules": 1000}
def work(joules):
    counters["joules"] += joules
    with open("rapl/intel-rapl:0/energy_uj", "w") as out:
        out.write(f"{counters['joules'] * 1_000_000}\n")
pynvml.nvmlInit = lambda: None
pynvml.nvmlDeviceGetCount = lambda: 1
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetTotalEnergyConsumption = lambda handle: counters["joules"] * 1000
from pyJoules.device import rapl_device
from pyJoules.energy_meter import EnergyContext
from pyJoules.handler.print_handler import PrintHandler
rapl_device.RAPL_API_DIR = "rapl"
work(0)
class Energies(PrintHandler):
    def process(self, trace):
        print("ten joules of each are", dict(sorted(trace[0].energy.items())))
with EnergyContext(handler=Energies(), start_tag="step"):
    work(10)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
pyJoules 0.5.1 nvidia-ml-py 13.615.71
ten joules of each are {'nvidia_gpu_0': 10000, 'package_0': 10000000.0}
END
