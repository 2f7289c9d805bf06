#!/usr/bin/env bash
# Guess: the energy that perun takes from an energy counter is the counter's last value minus its first, and
# the average power is that over the time.
# So it is: the counter becomes power by interval, the first of them doubled, and the power is integrated by
# trapezoids: what is used in the last interval counts half, in the first one and a half times. The average
# power is the mean of the samples, not of the time. 1000 J in 3 s are 500, 1000 or 1500 J by when they
# are used; a late sample changes both. Only steady power is right.
# Why: a run that ends with its hottest part is billed too little; the shorter the run the more.
# Versions: perun 1.0.0, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q perun==1.0.0 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import importlib.metadata, numpy as np
from perun.data_model.data import DataNode, MetricType, NodeType, RawData
from perun.data_model.measurement_type import Magnitude, MetricMetaData, Unit
from perun.data_model.sensor import DeviceType
from perun.processing import processSensorData
print("perun", importlib.metadata.version("perun"), "numpy", np.__version__)
seconds = MetricMetaData(Unit.SECOND, Magnitude.ONE, np.dtype("float32"), np.float32(0), np.float32(1e9), np.float32(-1))
# As perun's own RAPL sensor describes itself.
counter = MetricMetaData(Unit.JOULE, Magnitude.MICRO, np.dtype("uint64"), np.uint64(0), np.uint64(262143328850), np.uint64(0))
for title, at, joules in (("steady", [0, 1, 2, 3, 4], [5, 105, 205, 305, 405]), ("at the end", [0, 1, 2, 3], [5, 5, 5, 1005]),
                          ("in the middle", [0, 1, 2, 3], [5, 5, 1005, 1005]), ("at the begin", [0, 1, 2, 3], [5, 1005, 1005, 1005]),
                          ("a late sample", [0, 1, 2, 9], [5, 105, 205, 3005])):
    node = DataNode("cpu", NodeType.SENSOR, deviceType=DeviceType.CPU,
                    raw_data=RawData(np.array(at, "float32"), np.array(joules, "uint64") * 10**6, seconds, counter))
    metrics = processSensorData(node).metrics
    used = joules[-1] - joules[0]
    print(title, "used", used, "J,", round(used / at[-1], 1), "W; perun", round(float(metrics[MetricType.ENERGY].value), 1),
          "J,", round(float(metrics[MetricType.POWER].value), 1), "W")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
perun 1.0.0 numpy 2.4.6
steady used 400 J, 100.0 W; perun 400.0 J, 100.0 W
at the end used 1000 J, 333.3 W; perun 500.0 J, 250.0 W
in the middle used 1000 J, 333.3 W; perun 1000.0 J, 250.0 W
at the begin used 1000 J, 333.3 W; perun 1500.0 J, 500.0 W
a late sample used 3000 J, 333.3 W; perun 1950.0 J, 175.0 W
END
