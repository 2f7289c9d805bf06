#!/usr/bin/env bash
# Guess: the last gpu/0/energy_consumed of a Trackio run is the energy of the run, and gpu/0 is one card.
# So it is: the counter is read every 10 s from the start on and not at the end. A run of 9 s has 0 J, one of 29 s at
# 300 W 6000 J and not 8700. The automatic log numbers all cards of the server, trackio.log_gpu() those that
# CUDA_VISIBLE_DEVICES leaves: in a run on card 2 the curve gpu/0/power has card 0 and card 2 by turns. A second run
# of the process takes the start value from a first one that goes on: of 10200 J are left 2700.
# Why: the energy of short runs, such as those of a sweep, is 0 or a third too small, and curves mix two cards.
# Versions: trackio 0.43.0, nvidia-ml-py 13.615.71. NVML, the clock and the run's log are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q trackio==0.43.0 nvidia-ml-py==13.615.71
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import importlib.metadata, os, pynvml
from types import SimpleNamespace
from trackio import gpu
print("trackio", importlib.metadata.version("trackio"))
WATTS = {0: 60, 1: 70, 2: 300}
now, clock_end = 0.0, 0.0
pynvml.nvmlInit = lambda: None
pynvml.nvmlDeviceGetCount = lambda: len(WATTS)
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetPowerUsage = lambda card: WATTS[card] * 1000
pynvml.nvmlDeviceGetTotalEnergyConsumption = lambda card: 5_000_000_000 + round(now * WATTS[card] * 1000)


class Run:
    def __init__(self):
        self.rows = []

    def log_system(self, metrics):
        self.rows.append(metrics)

    def curve(self, name):
        return [row[name] for row in self.rows]


class Flag:
    """Stands in for the event that the end of the run sets: a wait ends after its time or with the run."""
    def set(self):
        pass

    def is_set(self):
        return now >= clock_end

    def wait(self, timeout):
        global now
        now = min(now + timeout, clock_end)


def monitored(seconds):
    global now, clock_end
    run = Run()
    monitor = gpu.GpuMonitor(run)
    monitor._stop_flag = Flag()
    clock_end = now + seconds
    monitor.start()
    monitor._thread.join()
    return run


for seconds in 9, 19, 29, 600:
    print(f"{seconds} s at 300 W: energy_consumed {monitored(seconds).curve('gpu/2/energy_consumed')[-1]:.0f} J, true {300 * seconds}")
os.environ["CUDA_VISIBLE_DEVICES"] = "2"
run = monitored(9)
gpu.log_gpu(run)
print("on card 2: gpu/0/power", run.curve("gpu/0/power"))
begin, first = now, monitored(25)
monitored(9)
print(f"a second run 9 s before: energy_consumed of the first {gpu.log_gpu(first)['gpu/0/energy_consumed']:.0f} J, true {300 * (now - begin):.0f}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
trackio 0.43.0
9 s at 300 W: energy_consumed 0 J, true 2700
19 s at 300 W: energy_consumed 3000 J, true 5700
29 s at 300 W: energy_consumed 6000 J, true 8700
600 s at 300 W: energy_consumed 177000 J, true 180000
on card 2: gpu/0/power [60.0, 300.0]
a second run 9 s before: energy_consumed of the first 2700 J, true 10200
END
