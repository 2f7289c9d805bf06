#!/usr/bin/env bash
# Guess: with normalize_against="baseline" a row of nsight-python's table is a ratio throughout, its
# interval included, and a configuration that the baseline did not run is kept without a ratio.
# So it is: only AvgValue is divided. StdDev, MinValue, MaxValue and the interval CI95 beside it stay
# in nanoseconds, so that the ratio 0.5 has the interval 48.9 to 51.1; what the baseline did not run is gone
# without a word, also from the Geomean. The baseline's own noise is in no column.
# Why: error bars drawn from the table are off by the baseline's time, and the largest size, at which the
# baseline ran out of memory, is missing.
# Versions: nsight-python 1.1.0, pandas 3.1.1, numpy 2.4.6. The kernels' times are given; no GPU is needed for it.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q nsight-python==1.1.0 pandas==3.1.1 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, pandas as pd
from nsight.transformation import aggregate_data
from nsight.utils import VerbosityLevel
print(*(f"{name} {importlib.metadata.version(name)}" for name in ("nsight-python", "pandas", "numpy")))
runs = [{"Annotation": name, "Metric": "ns", "Value": mean * size + noise, "Kernel": "k", "size": size}
        for size, names in ((1, {"baseline": 100, "mine": 50}), (2, {"baseline": 100, "mine": 50}), (8, {"mine": 100}))
        for name, mean in names.items() for noise in (-1, 0, 1)]
def benchmark(size):
    pass
for against in (None, "baseline"):
    table = aggregate_data(pd.DataFrame(runs), benchmark, against, VerbosityLevel.SILENT)
    print("against", against, "sizes of mine", table[table["Annotation"] == "mine"]["size"].tolist())
    row = table[(table["Annotation"] == "mine") & (table["size"] == 1)].iloc[0]
    print("  AvgValue", row["AvgValue"], "StdDev", row["StdDev"], "CI95", round(row["CI95_Lower"], 1), round(row["CI95_Upper"], 1),
          "min", row["MinValue"], "max", row["MaxValue"], "Geomean", round(row["Geomean"], 2))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
nsight-python 1.1.0 pandas 3.1.1 numpy 2.4.6
against None sizes of mine [1, 2, 8]
  AvgValue 50.0 StdDev 1.0 CI95 48.9 51.1 min 49 max 51 Geomean 158.74
against baseline sizes of mine [1, 2]
  AvgValue 0.5 StdDev 1.0 CI95 48.9 51.1 min 49 max 51 Geomean 0.5
END
