#!/usr/bin/env bash
# Guess: the energy of zeus' PowerMonitor between two times is about power times time, exactly so if the power is
# steady, and the period that it infers for its samples is half of the period at which the GPU's power changes.
# So it is: a reading equal to the one before is dropped, as the documentation says of the time line, and the energy
# is trapezoids through the rest. Steady 300 W for two seconds are 0 J; 100 W and then 500 W are a ramp from
# 100 to 500 up to the change, and nothing after it. The period inferred is always 0: unless one is given,
# the GPU is asked without a pause.
# Why: ZeusMonitor takes this for GPUs before Volta; a capped or an idle GPU, whose power stands still, errs most.
# Versions: zeus 0.16.0, nvidia-ml-py 13.615.71, numpy 2.4.6. NVML's answers are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q nvidia-ml-py==13.615.71 numpy==2.4.6 scikit-learn==1.9.1 pydantic==2.14.4 requests==2.34.2 rich==15.0.0 \
    pandas==3.1.1 httpx==0.28.1
"$tmp/venv/bin/pip" install -q --no-deps zeus==0.16.0
mkdir "$tmp/card"
# One card in every process, also in those that zeus starts: $CARD holds "from-time watts" by line, or "period".
cat >"$tmp/card/sitecustomize.py" <<'PY'
import os, time, types
try:
    import pynvml
except ImportError: # pip's own processes
    pynvml = None


def not_supported(*_):
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


def read(handle, fields):
    if fields[0][1] != pynvml.NVML_POWER_SCOPE_GPU:
        not_supported()
    now = time.time()
    lines = [line.split() for line in open(os.environ["CARD"])]
    if lines[0][0] == "period": # a sensor that has another value every period, asked in a millisecond
        time.sleep(0.001)
        watts = 100 + int(now / float(lines[0][1])) % 100
    else:
        watts = [float(watts) for start, watts in lines if float(start) <= now][-1]
    return [types.SimpleNamespace(nvmlReturn=pynvml.NVML_SUCCESS, value=types.SimpleNamespace(uiVal=round(watts * 1000)))]


if pynvml:
    pynvml.nvmlInit = pynvml.nvmlShutdown = lambda: None
    pynvml.nvmlDeviceGetCount = lambda: 1
    pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
    pynvml.nvmlDeviceGetName = lambda handle: "card"
    pynvml.nvmlDeviceGetC2cModeInfoV = not_supported
    pynvml.nvmlDeviceGetFieldValues = read
PY
cat >"$tmp/look.py" <<'PY'
import importlib.metadata, os, time
from zeus.monitor.power import PowerMonitor, infer_counter_update_period


def card(lines):
    with open(os.environ["CARD"] + ".new", "w") as out:
        out.writelines(f"{first} {second}\n" for first, second in lines)
    os.replace(os.environ["CARD"] + ".new", os.environ["CARD"])


if __name__ == "__main__":
    print("zeus", importlib.metadata.version("zeus"), "nvidia-ml-py", importlib.metadata.version("nvidia-ml-py"))
    for title, course in (("steady", [(0, 300)]), ("up at the end", [(0, 100), (1.5, 500)]), ("up at once", [(0, 100), (0.5, 500)]),
                          ("a peak", [(0, 100), (1.5, 500), (1.85, 100)])):
        card([(0, 60)])
        monitor = PowerMonitor(update_period=0.02, power_domains=["device_instant"])
        start = time.time() + 0.2
        card([(0, 60)] + [(start + at, watts) for at, watts in course])
        time.sleep(2.4)
        used = monitor.get_energy(start - 0.05, start + 2)[0]
        monitor.stop()
        ends = [at for at, _ in course[1:]] + [2]
        print(f"{title}: {sum(watts * (end - at) for (at, watts), end in zip(course, ends)):.0f} J; zeus {round(used / 50) * 50} J")
    card([("period", 0.1)])
    print("a new value every 100 ms: inferred period", infer_counter_update_period([0]))
PY
CARD="$tmp/watts" PYTHONPATH="$tmp/card" "$tmp/venv/bin/python" "$tmp/look.py" >"$tmp/seen" 2>"$tmp/err" || { tail -n 5 "$tmp/err"; exit 1; }
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
zeus 0.16.0 nvidia-ml-py 13.615.71
steady: 600 J; zeus 0 J
up at the end: 400 J; zeus 450 J
up at once: 800 J; zeus 150 J
a peak: 340 J; zeus 550 J
a new value every 100 ms: inferred period 0.0
END
