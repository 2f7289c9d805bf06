#!/usr/bin/env bash
# Guess: an observable counter that reports a GPU's energy counter exports, by interval (delta temporality),
# what was added in the interval: for the first one nothing or a baseline, and after a reset of the counter the
# new value. Cumulative points start with the process and count from there.
# So it is: the first interval has all energy since the driver was loaded. After a reset the interval is
# negative, in a sum that is marked monotonic. The cumulative point says that it began when the
# instrument was made, and has the lifetime's energy: 9 MJ in less than a second.
# Why: the first point of each restarted exporter is a peak of megajoules in every sum and rate of deltas.
# Versions: opentelemetry-sdk 1.45.2.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q opentelemetry-sdk==1.45.2
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import importlib.metadata
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider, ObservableCounter
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader
print("opentelemetry-sdk", importlib.metadata.version("opentelemetry-sdk"))
for temporality in (AggregationTemporality.DELTA, AggregationTemporality.CUMULATIVE):
    reader = InMemoryMetricReader(preferred_temporality={ObservableCounter: temporality})
    # Readings of nvmlDeviceGetTotalEnergyConsumption: a card long in use, then its driver is loaded again.
    joules = iter([9_000_000, 9_000_300, 9_000_600, 100, 400])
    MeterProvider([reader]).get_meter("gpu").create_observable_counter(
        "energy", unit="J", callbacks=[lambda options: [Observation(next(joules))]])
    for _ in range(5):
        metric = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics[0]
        point = metric.data.data_points[0]
        seconds = (point.time_unix_nano - point.start_time_unix_nano) / 1e9
        print(temporality.name, point.value, "J", "within a minute:", seconds < 60, "monotonic:", metric.data.is_monotonic)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
opentelemetry-sdk 1.45.2
DELTA 9000000 J within a minute: True monotonic: True
DELTA 300 J within a minute: True monotonic: True
DELTA 300 J within a minute: True monotonic: True
DELTA -9000500 J within a minute: True monotonic: True
DELTA 300 J within a minute: True monotonic: True
CUMULATIVE 9000000 J within a minute: True monotonic: True
CUMULATIVE 9000300 J within a minute: True monotonic: True
CUMULATIVE 9000600 J within a minute: True monotonic: True
CUMULATIVE 100 J within a minute: True monotonic: True
CUMULATIVE 400 J within a minute: True monotonic: True
END
