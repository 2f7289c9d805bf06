#!/usr/bin/env bash
# Guess: avg_gpu_util and min_gpu_util of Meta's GCM are over the GPUs of the server, and a GPU's gpu_util and power are
# means of the readings of the minute.
# So it is: a GPU at 0 % is left out, as if it had no reading: one of eight at 90 % makes an average and a minimum of 90.
# Each GPU stands for the largest of its readings in a minute: six of eight that take turns, 10 s each, make 100 %, not
# 12.5, and a GPU with 600 W in one reading of six and 100 W in five has 600000: documented as W, it is in mW. The job
# is that of the last reading, also for a peak of the job before it.
# Why: idle GPUs, for which one looks at such a figure, raise no alarm as long as one GPU of the server works.
# Versions: gpucm 0.0.2, pynvml 11.4.1. NVML, the clock and the processes' environment are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q gpucm==0.0.2 pynvml==11.4.1
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import contextlib, dataclasses, importlib.metadata, io, json, pynvml
from types import SimpleNamespace
from gcm.monitoring.cli import nvml_monitor as monitor
print("gpucm", importlib.metadata.version("gpucm"), "pynvml", importlib.metadata.version("pynvml"))
now = 0
load = []
GB = 10**9
for name, answer in dict(Init=None, DeviceGetCount=8, DeviceGetEnforcedPowerLimit=700000, DeviceGetTemperature=50, DeviceGetRetiredPages=[]).items():
    setattr(pynvml, "nvml" + name, lambda *_, answer=answer: answer)
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetMemoryInfo = lambda gpu: SimpleNamespace(total=80 * GB, used=40 * GB, free=40 * GB)
pynvml.nvmlDeviceGetUtilizationRates = lambda gpu: SimpleNamespace(gpu=load[now // 10][gpu], memory=load[now // 10][gpu] // 2)
pynvml.nvmlDeviceGetPowerUsage = lambda gpu: 600000 if load[now // 10][gpu] else 100000
# Job 1 has the server until 30 s, job 2 from then on.
pynvml.nvmlDeviceGetComputeRunningProcesses = lambda gpu: [SimpleNamespace(pid=1 + (now >= 30), usedGpuMemory=GB)]


class Clock:
    def unixtime(self):
        return now

    def monotonic(self):
        return float(now)

    def sleep(self, seconds):
        global now
        now += round(seconds)


@dataclasses.dataclass
class Cli(monitor.CliObjectImpl):
    clock: object = dataclasses.field(default_factory=Clock)

    def read_env(self, process_id):
        return {"SLURM_JOB_ID": str(process_id)}

    def get_ram_utilization(self):
        return 0.5

    def get_hostname(self):
        return "server"


def minute(title, *readings):
    global now
    now, load[:] = 0, readings
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        monitor.main.main(["--sink", "stdout", "--once", "--cluster", "c", "--log-folder", "logs", "--interval", "60"], obj=Cli(), standalone_mode=False)
    *gpus, server = [row for line in out.getvalue().splitlines() for row in json.loads(line)]
    seen = {key.split(".")[-1]: value for key, value in server.items() if "gpu_util" in key}
    true = [sum(reading[gpu] for reading in readings) / len(readings) for gpu in range(8)]
    print(f"{title}: max {seen['max_gpu_util']} min {seen['min_gpu_util']} average {seen['avg_gpu_util']:.1f}",
          f"(true {max(true):.1f} {min(true):.1f} {sum(true) / 8:.1f}); GPU 0: power_draw {gpus[0]['power_draw']}, job {gpus[0]['job_id']}")


minute("eight at 90 %", *[[90] * 8] * 6)
minute("one at 90 %, seven idle", *[[90] + [0] * 7] * 6)
minute("none", *[[0] * 8] * 6)
minute("six taking turns", *[[100 * (gpu == turn) for gpu in range(8)] for turn in range(6)])
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
gpucm 0.0.2 pynvml 11.4.1
eight at 90 %: max 90 min 90 average 90.0 (true 90.0 90.0 90.0); GPU 0: power_draw 600000, job 2
one at 90 %, seven idle: max 90 min 90 average 90.0 (true 90.0 0.0 11.2); GPU 0: power_draw 600000, job 2
none: max 0 min 0 average 0.0 (true 0.0 0.0 0.0); GPU 0: power_draw 100000, job 2
six taking turns: max 100 min 100 average 100.0 (true 16.7 0.0 12.5); GPU 0: power_draw 600000, job 2
END
