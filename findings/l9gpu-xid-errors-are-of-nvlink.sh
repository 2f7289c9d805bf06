#!/usr/bin/env bash
# Guess: gpu.interconnect.throughput (By/s) of l9gpu is the rate at which the GPU sends over NVLink, gpu.xid.errors its Xid
# errors, and used and free memory of a minute add up to the card's.
# So it is: the throughput is the counter of all bytes since the driver was loaded, of link 0 alone: after an hour at 90
# GB/s over 18 links it is 18250 GB/s, and stays there when the GPU is idle. The errors are NVML's field 32, CRC errors of
# NVLink's link 0; Xid errors are in none. Each field is the largest reading of the minute: used and free memory are
# 70 and 75 GB of an 80 GB card, a GPU that idles in one reading of six is in P-state 8, and one at 0 % is left out of the
# server's average and minimum of utilization.
# Why: an alarm for Xid errors never rings, NVLink looks saturated, and free memory is there when it was not.
# Versions: l9gpu 0.2.3, pynvml 11.4.1. NVML and the clock are stood in for; fields that NVML has not raise NotSupported.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q l9gpu==0.2.3 pynvml==11.4.1
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import contextlib, dataclasses, importlib.metadata, io, json, pynvml
from types import SimpleNamespace
from l9gpu.exporters import metric_names
from l9gpu.monitoring.cli import nvml_monitor as monitor
print("l9gpu", importlib.metadata.version("l9gpu"), "pynvml", importlib.metadata.version("pynvml"))
GB, LINKS, RATE = 10**9, 18, 90 * 10**9
now = begin = 0
sent = [0] * LINKS
busy = []
for name in dir(pynvml):
    if name.startswith("nvmlDevice"):
        def refused(*_, **__):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        setattr(pynvml, name, refused)


def working():
    return busy[min((now - begin) // 10, len(busy) - 1)]


def fields(gpu, names):
    values = []
    for name in names:
        field, link = name if isinstance(name, tuple) else (name, 0)
        known = {pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX: lambda: sent[link] // 1024, pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX: lambda: sent[link] // 1024,
                 pynvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L0: lambda: 3}
        values.append(SimpleNamespace(nvmlReturn=0 if field in known else pynvml.NVML_ERROR_NOT_SUPPORTED,
                                      value=SimpleNamespace(ullVal=known[field]() if field in known else 0)))
    return values


pynvml.nvmlInit = lambda: None
pynvml.nvmlDeviceGetCount = lambda: 2
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetFieldValues = fields
pynvml.nvmlDeviceGetMemoryInfo = lambda gpu, version=None: SimpleNamespace(total=80 * GB, used=(70 if working() else 5) * GB, free=(10 if working() else 75) * GB)
pynvml.nvmlDeviceGetUtilizationRates = lambda gpu: SimpleNamespace(gpu=90 * (working() and gpu == 0), memory=0)
pynvml.nvmlDeviceGetPowerState = lambda gpu: 0 if working() else 8
pynvml.nvmlDeviceGetPowerUsage = lambda gpu: 600000 if working() else 100000


class Clock:
    def unixtime(self):
        return now

    def monotonic(self):
        return float(now)

    def sleep(self, seconds):
        global now
        for link in range(LINKS):
            sent[link] += RATE // LINKS * round(seconds) * working()
        now += round(seconds)


@dataclasses.dataclass
class Cli(monitor.CliObjectImpl):
    clock: object = dataclasses.field(default_factory=Clock)

    def get_ram_utilization(self):
        return 0.5

    def get_hostname(self):
        return "server"


def minute(title, *working):
    global begin
    begin, busy[:] = now, working
    before, out = sum(sent), io.StringIO()
    with contextlib.redirect_stdout(out):
        monitor.main.main(["--sink", "stdout", "--once", "--cluster", "c", "--log-folder", "logs", "--interval", "60"], obj=Cli(), standalone_mode=False)
    rows = [row for line in out.getvalue().splitlines() for row in json.loads(line)]
    gpu, server = ({key.split(".")[-1]: value for key, value in rows[index].items()} for index in (-3, -1))
    print(f"{title}: nvlink_tx_bandwidth {gpu['nvlink_tx_bandwidth'] / GB:.1f} GB/s (true {(sum(sent) - before) / 60 / GB:.1f}), xid_errors {gpu['xid_errors']},",
          f"memory used {gpu['mem_used_bytes'] // GB} free {gpu['mem_free_bytes'] // GB} GB, P{gpu['power_state']},",
          f"utilization min {server['min_gpu_util']} average {server['avg_gpu_util']}")


print("names:", *(f"{field} {metric_names.FIELD_TO_OTEL_NAME[field]}" for field in ("nvlink_tx_bandwidth", "xid_errors")))
minute("the first minute", *[True] * 6)
busy[:] = [True]
Clock().sleep(3540)
minute("after an hour", *[True] * 6)
minute("idle in one reading of six", *[True] * 5, False)
minute("idle", *[False] * 6)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
l9gpu 0.2.3 pynvml 11.4.1
names: nvlink_tx_bandwidth gpu.interconnect.throughput xid_errors gpu.xid.errors
the first minute: nvlink_tx_bandwidth 250.0 GB/s (true 90.0), xid_errors 3, memory used 70 free 10 GB, P0, utilization min 0.9 average 0.9
after an hour: nvlink_tx_bandwidth 18250.0 GB/s (true 90.0), xid_errors 3, memory used 70 free 10 GB, P0, utilization min 0.9 average 0.9
idle in one reading of six: nvlink_tx_bandwidth 18550.0 GB/s (true 75.0), xid_errors 3, memory used 70 free 75 GB, P8, utilization min 0.9 average 0.9
idle: nvlink_tx_bandwidth 18550.0 GB/s (true 0.0), xid_errors 3, memory used 5 free 75 GB, P8, utilization min 0 average 0.0
END
