#!/usr/bin/env bash
# Guess: the voltage that Kernel Tuner observes beside a kernel is the mean of its readings in mV, as its temperature
# and clocks are of theirs, and the energy of a kernel is its mean power times its time.
# So it is: the voltage is the mean of one pair, the time of the first reading in s and its mV: half the voltage of
# the start, whatever follows. The energy takes the median of the power readings, of which a steady phase has
# one each 10 ms and a phase that flickers one at each change. 800 ms at 400 W and 200 ms at 100 W are 340 W
# in the mean and 400 W here; 101 W if the 100 W flicker by one.
# Why: a tuner for energy prefers the kernel whose low power flickers, and power over the voltage's square is off by 4.
# Versions: kernel_tuner 1.5.0, nvidia-ml-py 13.615.71, numpy 2.4.6. The driver, nvidia-smi and the clock are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q kernel_tuner==1.5.0 nvidia-ml-py==13.615.71 numpy==2.4.6
mkdir "$tmp/bin"
printf '#!/bin/sh\nprintf "    Voltage\\n        Graphics                          : %%s mV\\n" "$(cat "$MV_FILE")"\n' >"$tmp/bin/nvidia-smi"
chmod +x "$tmp/bin/nvidia-smi"
PATH="$tmp/bin:$PATH" MV_FILE="$tmp/mv" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, os, time, types, pynvml
clock = 0.0
card = dict(watts=100.0, degrees=40)
time.perf_counter = lambda: clock
for name, answer in dict(Init=None, DeviceGetHandleByIndex=0, DeviceGetIndex=0, DeviceGetUUID="GPU-0", DeviceGetPowerManagementLimit=700000,
                         DeviceGetPciInfo_v3=types.SimpleNamespace(busId="00000000:01:00.0"), DeviceGetSupportedMemoryClocks=[2619],
                         DeviceGetPowerManagementLimitConstraints=[200000, 700000], DeviceGetPersistenceMode=1, DeviceGetAutoBoostedClocksEnabled=[0, 0],
                         DeviceGetDefaultApplicationsClock=1980, DeviceGetSupportedGraphicsClocks=[1980]).items():
    setattr(pynvml, "nvml" + name, lambda *_, answer=answer: answer)
pynvml.nvmlDeviceGetTemperature = lambda *_: card["degrees"]
pynvml.nvmlDeviceGetFieldValues = lambda *_: [types.SimpleNamespace(value=types.SimpleNamespace(uiVal=round(card["watts"] * 1000)))]
from kernel_tuner.observers.nvml import NVMLObserver
print("kernel_tuner", importlib.metadata.version("kernel_tuner"), "nvidia-ml-py", importlib.metadata.version("nvidia-ml-py"))


def mv(value):
    with open(os.environ["MV_FILE"], "w") as out:
        out.write(f"{value:.3f}")


# The calls that the tuner makes for one run of a kernel.
for course in ((900, 900, 900), (700, 900, 1100)):
    observer = NVMLObserver(["gr_voltage", "temperature"], device=0)
    observer.register_device(None)
    observer.before_start()
    for index, value in enumerate(course):
        mv(value)
        card["degrees"] = value // 20
        observer.during() if index else observer.after_start()
        clock += 0.01
    observer.after_finish()
    of = observer.get_results()
    print("mV", *course, "mean", sum(course) / 3, "observed", round(float(of["gr_voltage"]), 1), "temperature", float(of["temperature"]))

# A second in which a kernel of 10 ms repeats; the sensor has a new value each millisecond and is asked each 0.1 ms.
for title, flicker in (("steady", 0), ("flickering by 1 W", 1)):
    observer = NVMLObserver(["nvml_power", "nvml_energy"], device=0).continuous_observer
    observer.parent.register_device(None)
    observer.results = {"time": 10.0}
    observer.before_start()
    observer.after_start()
    powers = []
    for tick in range(10000):
        card["watts"] = 400.0 if tick < 8000 else 100.0 + flicker * (tick // 10 % 2)
        powers.append(card["watts"])
        observer.during()
        clock += 0.0001
    observer.after_finish()
    of = observer.get_results()
    print(f"100 W {title}: mean {sum(powers) / len(powers):.0f} W, kernel of 10 ms {sum(powers) / len(powers) / 100:.1f} J;",
          f"observed {of['nvml_power']:.0f} W, {of['nvml_energy']:.1f} J")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
kernel_tuner 1.5.0 nvidia-ml-py 13.615.71
mV 900 900 900 mean 900.0 observed 450.0 temperature 45.0
mV 700 900 1100 mean 900.0 observed 350.0 temperature 45.0
100 W steady: mean 340 W, kernel of 10 ms 3.4 J; observed 400 W, 4.0 J
100 W flickering by 1 W: mean 340 W, kernel of 10 ms 3.4 J; observed 101 W, 1.0 J
END
