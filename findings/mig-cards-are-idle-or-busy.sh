#!/usr/bin/env bash
# Guess: monitors that ask NVML for the utilization of a card in MIG mode, for which NVML has none, leave the number
# out, and show other readings as NVML gives them.
# So it is: OpenLIT writes 0 % and ClearML 100 %, each in the series of the measured values with a line in the log;
# gpustat has nothing. OpenLIT writes 0 for all that fails, so that a card without a power reading draws 0 W,
# and for the speed of every NVIDIA fan, which it does not ask for. 71.9 W are 71 in both.
# Why: an alert on idle cards fires for each MIG card, or for none, by the monitor; means over a cluster are off.
# Versions: openlit 1.45.0, clearml 2.1.12, gpustat 1.1.1, nvidia-ml-py 13.615.71, opentelemetry-sdk 1.45.2. NVML's
# answers are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q nvidia-ml-py==13.615.71 opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2 \
    opentelemetry-instrumentation==0.66b2 requests==2.34.2 pydantic==2.14.4 gpustat==1.1.1 clearml==2.1.12
"$tmp/venv/bin/pip" install -q --no-deps openlit==1.45.0
cd "$tmp"
HOME="$tmp" OTEL_TRACES_EXPORTER=none "$tmp/venv/bin/python" - >"$tmp/out" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata
from types import SimpleNamespace
from unittest.mock import MagicMock
import clearml.utilities.gpu.pynvml as clearml_nvml
import pynvml
import gpustat
from clearml.utilities.resource_monitor import ResourceMonitor
from openlit.instrumentation.gpu import GPUInstrumentor
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
print("seen:", *(f"{name} {importlib.metadata.version(name)}" for name in ("openlit", "clearml", "gpustat", "nvidia-ml-py", "opentelemetry-sdk")))


def stand_in(nvml, utilization, milliwatts):
    """One card; whatever is not said here is not supported."""
    def no(*_):
        raise nvml.NVMLError(nvml.NVML_ERROR_NOT_SUPPORTED)

    def answer(value):
        return no if value is None else lambda *_: value

    nvml._nvmlGetFunctionPointer = no
    rates = None if utilization is None else SimpleNamespace(gpu=utilization, memory=1)
    for name, value in dict(DeviceGetCount=1, DeviceGetHandleByIndex=0, DeviceGetIndex=0, DeviceGetName="NVIDIA L4", DeviceGetUUID="GPU-0",
                            DeviceGetUtilizationRates=rates, DeviceGetPowerUsage=milliwatts, DeviceGetEnforcedPowerLimit=72000,
                            DeviceGetTemperature=60, DeviceGetFanSpeed=45, SystemGetDriverVersion="580.95.05",
                            DeviceGetMemoryInfo=SimpleNamespace(total=24 << 30, used=2 << 30, free=22 << 30)).items():
        setattr(nvml, "nvml" + name, answer(value))
    nvml.nvmlInit = nvml.nvmlShutdown = lambda *_: None


reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))
stand_in(pynvml, 35, 71900)
GPUInstrumentor().instrument()
for title, utilization, milliwatts in (("a card", 35, 71900), ("a card in MIG mode", None, 71900), ("no power reading", 35, None)):
    for nvml in (pynvml, clearml_nvml):
        stand_in(nvml, utilization, milliwatts)
    seen = {metric.name: metric.data.data_points[0].value
            for metric in reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics}
    of = gpustat.GPUStatCollection.new_query().gpus[0].entry
    print(f"seen: {title}: utilization openlit {seen['gpu.utilization']}, clearml", ResourceMonitor(MagicMock())._machine_stats()["gpu_0_utilization"],
          "gpustat", of["utilization.gpu"], "| power openlit", seen["gpu.power.draw"], "gpustat", of["power.draw"],
          "| fan openlit", seen["gpu.fan_speed"], "gpustat", of["fan.speed"])
PY
grep '^seen: ' "$tmp/out" >"$tmp/seen"
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
seen: openlit 1.45.0 clearml 2.1.12 gpustat 1.1.1 nvidia-ml-py 13.615.71 opentelemetry-sdk 1.45.2
seen: a card: utilization openlit 35, clearml 35.0 gpustat 35 | power openlit 71.0 gpustat 71 | fan openlit 0 gpustat 45
seen: a card in MIG mode: utilization openlit 0, clearml 100 gpustat None | power openlit 71.0 gpustat 71 | fan openlit 0 gpustat 45
seen: no power reading: utilization openlit 35, clearml 35.0 gpustat 35 | power openlit 0 gpustat None | fan openlit 0 gpustat 45
END
