#!/usr/bin/env bash
# Guess: the GPU energy of eco2AI is by NVML's energy counter, or the mean of many power readings times the time, and
# work that is shorter than its period of ten seconds is read at least at its begin and end.
# So it is: each period is billed at the one reading at its end, and the last one at the reading when the tracker
# stops. 9 s at 300 W that end before the stop are 540 J and not 2700, those of the idle card; six periods in
# which the card saves a checkpoint at the end are 3600 J, not 16560; six in which it works only then are 18000,
# not 5040.
# Why: a decorated function of less than 10 s is billed at what the card draws after it.
# Versions: eco2ai 0.3.12, pandas 3.1.1, nvidia-ml-py 13.615.71. NVML's answers and the clock are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q eco2ai==0.3.12 pandas==3.1.1 nvidia-ml-py==13.615.71
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, time, pynvml
from eco2ai.tools.tools_gpu import GPU
print(*(f"{name} {importlib.metadata.version(name)}" for name in ("eco2ai", "pandas", "nvidia-ml-py")))
clock, watts = 0.0, lambda at: 300
time.time = lambda: clock
pynvml.nvmlInit = pynvml.nvmlShutdown = lambda: None
pynvml.nvmlDeviceGetCount = lambda: 1
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetPowerUsage = lambda handle: round(watts(clock) * 1000)
for title, end, course in (
        ("steady, 60 s", 60, lambda at: 300),
        ("300 W for 9 s, then the stop", 9, lambda at: 300 if at < 9 else 60),
        ("300 W, and 60 at the end of each ten seconds", 60, lambda at: 300 if at % 10 < 8.999 and at % 10 >= 0.001 else 60),
        ("60 W, and 300 at the end of each ten seconds", 60, lambda at: 60 if at % 10 < 8.999 and at % 10 >= 0.001 else 300)):
    clock, watts = 0.0, course
    card = GPU(ignore_warnings=True)
    while clock < end: # as the tracker does each measure_period, and at its stop
        clock = min(clock + 10, end)
        card.calculate_consumption()
    true = sum(course(tick / 100 + 0.005) for tick in range(end * 100)) / 100
    print(f"{title}: {true:.0f} J, eco2ai {card.get_consumption() * 3.6e6:.0f} J")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
eco2ai 0.3.12 pandas 3.1.1 nvidia-ml-py 13.615.71
steady, 60 s: 18000 J, eco2ai 18000 J
300 W for 9 s, then the stop: 2700 J, eco2ai 540 J
300 W, and 60 at the end of each ten seconds: 16560 J, eco2ai 3600 J
60 W, and 300 at the end of each ten seconds: 5040 J, eco2ai 18000 J
END
