#!/usr/bin/env bash
# Guess: the GPU load of a worker in Ray's dashboard and metrics is that since the last reading, and the load of a card that
# NVML does not give, as in MIG mode, is left out.
# So it is: Ray passes NVML the time of its last reading in ms, where NVML takes microseconds, so that it asks for all
# samples since January 1970, the driver's whole buffer: a worker that ended its kernels 5 s ago is at 50 %, for as long as the
# driver remembers. Asked in microseconds NVML says 0. The load of a MIG instance is -1 %, and Ray's panel of the cluster
# adds up and divides by the instances: seven of them beside a card at 95 % are a cluster at 11 %.
# Why: an idle worker seems to compute, and a full cluster with MIG cards seems idle.
# Versions: ray 2.60.0. NVML is stood in for, with a buffer of 10 s of samples.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q "ray[default]==2.60.0"
cd "$tmp"
HOME="$tmp" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import datetime, types, ray
import ray._private.thirdparty.pynvml as nvml
from ray.dashboard.modules.metrics.dashboards import default_dashboard_panels as panels
from ray.dashboard.modules.reporter import gpu_providers
print("ray", ray.__version__)
WORKER, BUFFER = 4711, 10
asked = []


def sm(seconds):
    """What the worker does: kernels without a gap, and nothing from the 100th second on."""
    return 100 if seconds < 100 else 0


def processes(gpu, last_seen):
    asked.append(last_seen)
    samples = [sm(second) for second in range(int(now - BUFFER), int(now)) if (START + second) * 10**6 >= last_seen]
    return [types.SimpleNamespace(pid=WORKER, smUtil=round(sum(samples) / max(1, len(samples))), timeStamp=int((START + now) * 10**6))]


def instance(gpu, index):
    if index >= 7:
        raise nvml.NVMLError(nvml.NVML_ERROR_NOT_FOUND)
    return f"instance {index}"


def rates(gpu):
    if gpu != "whole":
        raise nvml.NVMLError(nvml.NVML_ERROR_NOT_SUPPORTED)
    return types.SimpleNamespace(gpu=95, memory=50)


START, now = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc).timestamp(), 0
gpu_providers.time = types.SimpleNamespace(time=lambda: START + now, monotonic=lambda: now)
for name, stand_in in dict(
        nvmlInit=lambda: None, nvmlShutdown=lambda: None, nvmlDeviceGetCount=lambda: len(cards), nvmlDeviceGetHandleByIndex=lambda index: cards[index],
        nvmlDeviceGetMigMode=lambda gpu: [gpu == "MIG"] * 2, nvmlDeviceGetMaxMigDeviceCount=lambda gpu: 7, nvmlDeviceGetMigDeviceHandleByIndex=instance,
        nvmlDeviceGetMemoryInfo=lambda gpu: types.SimpleNamespace(used=1 << 30, total=10 << 30), nvmlDeviceGetUtilizationRates=rates,
        nvmlDeviceGetComputeRunningProcesses=lambda gpu: [types.SimpleNamespace(pid=WORKER, usedGpuMemory=1 << 30)], nvmlDeviceGetGraphicsRunningProcesses=lambda gpu: [],
        nvmlDeviceGetProcessesUtilizationInfo=processes, nvmlDeviceGetPowerUsage=lambda gpu: 700000, nvmlDeviceGetTemperature=lambda gpu, sensor: 60,
        nvmlDeviceGetName=lambda gpu: "NVIDIA H100 80GB HBM3", nvmlDeviceGetUUID=lambda gpu: f"GPU-{gpu}").items():
    setattr(nvml, name, stand_in)
provider, cards = gpu_providers.GpuMetricProvider(), ["whole"]
for now in 90, 95, 100, 105, 110:
    load = provider.get_gpu_usage()[0]["processes_pids"][WORKER]["gpu_utilization"]
    since = datetime.datetime.fromtimestamp(asked[-1] / 1e6, datetime.timezone.utc)
    right = processes(0, (START + now - 5) * 10**6)[0].smUtil
    print(f"{now} s: {load} %, asked for samples since {since:%Y-%m-%d}; with microseconds {right}")
cards = ["whole", "MIG"]
loads = [card["utilization_gpu"] for card in provider.get_gpu_usage()]
print("a card at 95 % and one of seven instances:", loads, f"mean {sum(loads) / len(loads):.0f} %")
print("the panel:", next(target.expr for panel in vars(panels).values() if isinstance(panel, list) for one in panel for target in getattr(one, "targets", [])
                         if "node_gpus_utilization" in target.expr and "node_gpus_available" in target.expr))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
ray 2.60.0
90 s: 100 %, asked for samples since 1970-01-01; with microseconds 100
95 s: 100 %, asked for samples since 1970-01-21; with microseconds 100
100 s: 100 %, asked for samples since 1970-01-21; with microseconds 100
105 s: 50 %, asked for samples since 1970-01-21; with microseconds 0
110 s: 0 %, asked for samples since 1970-01-21; with microseconds 0
a card at 95 % and one of seven instances: [95, -1, -1, -1, -1, -1, -1, -1] mean 11 %
the panel: sum(ray_node_gpus_utilization{{instance=~"$Instance",{global_filters}}}) / on() (sum(ray_node_gpus_available{{instance=~"$Instance",{global_filters}}}) or vector(0))
END
