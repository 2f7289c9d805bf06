#!/usr/bin/env bash
# Guess: total_consumed_energy of EMT is in joules, as its docstring says, and EMT_RELOAD_PROCS=1 lets programs that start
# later count, as its README shows for a GPU program. A process's share of the GPU's energy is by its use of the GPU.
# So it is: with a trace recorder it is in the unit of a file in the package, kWh: 3.6 MJ are 1. The processes whose GPU
# use counts are those of the first reading, whatever EMT_RELOAD_PROCS says: a program started after it has 0. The share
# is that of the memory: 10 GB beside an idle process with 70 GB are billed an eighth.
# Why: adding a trace divides the energy by 3.6 million, and a GPU program started by a script has none.
# Versions: emt 0.1.0a1, pynvml 13.0.1, nvidia-ml-py 13.615.71. NVML is stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q emt==0.1.0a1 pynvml==13.0.1 nvidia-ml-py==13.615.71
cd "$tmp"
EMT_RELOAD_PROCS=1 HOME="$tmp" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import importlib.metadata, logging, os, subprocess, sys, time, pynvml
from types import SimpleNamespace
GB = 10**9
counter, readings = 5 * 10**12, 0
holds = {}


def energy(gpu):
    global readings
    readings += 1
    return counter


pynvml.nvmlInit = pynvml.nvmlShutdown = lambda: None
pynvml.nvmlDeviceGetCount = lambda: 1
pynvml.nvmlDeviceGetHandleByIndex = pynvml.nvmlDeviceGetIndex = lambda index: index
pynvml.nvmlDeviceGetTotalEnergyConsumption = energy
pynvml.nvmlDeviceGetMemoryInfo = lambda gpu: SimpleNamespace(used=sum(list(holds.values())))
pynvml.nvmlDeviceGetComputeRunningProcesses = lambda gpu: [SimpleNamespace(pid=pid, usedGpuMemory=size) for pid, size in list(holds.items())]
logging.disable(logging.INFO)
from emt import EnergyMonitor
from emt.utils import CSVRecorder
print("emt", importlib.metadata.version("emt"))
print("documented:", EnergyMonitor.total_consumed_energy.__doc__)


def read_once():
    until = readings + 2
    while readings < until:
        time.sleep(0.02)


def child():
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


# 3.6 MJ of the GPU while the context is open and the processes hold the memory.
def measure(title, before, within):
    global counter
    holds.clear()
    started = before()
    holds.update(started)
    with EnergyMonitor(name=title, trace_recorders=CSVRecorder("trace"), startup_delay_s=0, rate=20) as monitor:
        read_once()
        holds.update(within())
        read_once()
        counter += 3600 * 10**6
        read_once()
    print(f"{title}: {monitor.consumed_energy['NvidiaGPU']:.4f} {monitor.energy_unit} of 3600000 J")


children = []


def program():
    children.append(child())
    return {children[-1].pid: 10 * GB}


measure("own process", lambda: {os.getpid(): 10 * GB}, dict)
measure("beside an idle one of 70 GB", lambda: {os.getpid(): 10 * GB, 1: 70 * GB}, dict)
measure("program started before", program, dict)
children.pop().kill()
measure("program started later", lambda: {1: 0.5 * GB}, program)
children.pop().kill()
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
emt 0.1.0a1
documented: Total energy consumed across all devices (Joules).
own process: 1.0000 kWh of 3600000 J
beside an idle one of 70 GB: 0.1250 kWh of 3600000 J
program started before: 1.0000 kWh of 3600000 J
program started later: 0.0000 kWh of 3600000 J
END
