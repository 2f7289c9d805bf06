#!/usr/bin/env bash
# Guess: asitop's power of CPU, GPU and ANE together is the sum of the powers that it shows beside it, whatever --interval
# is, as both come from one sample of powermetrics.
# So it is: powermetrics gives energies in mJ, but the combined value is a power already, and asitop divides both by the
# interval. A chip at 20 W of CPU, 30 of GPU and 2 of ANE has 52 W at the default of 1 s, 10.4 at --interval 5 and 5.2 at
# 10, its mean and its peak too, while the parts stay right.
# Why: with a longer interval, which disturbs the run less, a tenth of the power is noted as that of the chip.
# Versions: asitop 0.0.24, psutil 7.2.2. powermetrics' plist and the chip are stood in for, the screen is not drawn.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q asitop==0.0.24 psutil==7.2.2
cd "$tmp"
cat >one.py <<'PY'
import datetime, functools, plistlib, sys, time
seconds = int(sys.argv[2])
from asitop import asitop, utils
WATTS = {"cpu": 20, "gpu": 30, "ane": 2}
CORE = {"freq_hz": 3.0e9, "idle_ratio": 0.2}


def sample(number):
    clusters = [dict(CORE, name=name + "-Cluster", cpus=[dict(CORE, cpu=cpu)]) for cpu, name in enumerate("EP")]
    energies = {part + "_energy": watts * 1000 * seconds for part, watts in WATTS.items()}
    powers = {part + "_power": watts * 1000.0 for part, watts in WATTS.items()} | {"combined_power": sum(WATTS.values()) * 1000.0}
    return plistlib.dumps({"timestamp": datetime.datetime(2026, 1, 1) + number * datetime.timedelta(seconds=seconds), "elapsed_ns": seconds * 10**9,
                           "thermal_pressure": "Nominal", "gpu": {"freq_hz": 1398.0, "idle_ratio": 0.1},
                           "processor": {"clusters": clusters} | energies | powers})


def more(*_):
    global taken
    taken += 1
    with open("powermetrics0", "ab") as file:
        file.write((b"\0" if taken else b"") + sample(taken))


def show(ui):
    global shown
    shown += 1
    if shown == 10:
        power = ui.items[2]
        print(f"--interval {seconds}:", power.title, "|", " | ".join(chart.title for chart in power.items))
        raise KeyboardInterrupt


taken, shown, time.sleep = -1, 0, more
more()
asitop.parse_powermetrics = lambda timecode: utils.parse_powermetrics("powermetrics")
asitop.run_powermetrics_process = asitop.clear_console = lambda *_, **__: None
asitop.get_soc_info = lambda: {"name": "Apple M2", "e_core_count": 1, "p_core_count": 1, "gpu_core_count": 10, "cpu_max_power": 25, "gpu_max_power": 15}
asitop.VSplit.display = show
asitop.main()
PY
"$tmp/venv/bin/python" -c 'import importlib.metadata; print("asitop", importlib.metadata.version("asitop"))' >seen
for seconds in 1 5 10; do
    rm -f powermetrics0
    "$tmp/venv/bin/python" one.py --interval "$seconds" >out 2>err || { cat out err; exit 1; }
    grep -e '--interval' out >>seen
done
cat seen
diff seen - <<'END'
asitop 0.0.24
--interval 1: CPU+GPU+ANE Power: 52.00W (avg: 52.00W peak: 52.00W) throttle: no | CPU: 20.00W (avg: 20.00W peak: 20.00W) | GPU: 30.00W (avg: 30.00W peak: 30.00W)
--interval 5: CPU+GPU+ANE Power: 10.40W (avg: 10.40W peak: 10.40W) throttle: no | CPU: 20.00W (avg: 20.00W peak: 20.00W) | GPU: 30.00W (avg: 30.00W peak: 30.00W)
--interval 10: CPU+GPU+ANE Power: 5.20W (avg: 5.20W peak: 5.20W) throttle: no | CPU: 20.00W (avg: 20.00W peak: 20.00W) | GPU: 30.00W (avg: 30.00W peak: 30.00W)
END
