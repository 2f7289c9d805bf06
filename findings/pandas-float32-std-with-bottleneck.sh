#!/usr/bin/env bash
# Guess: the standard deviation of a float32 column (power or utilization samples, to save space) is right
# to about six digits, as the mean is, and depends on the data alone.
# So it is: without the package bottleneck it does; with bottleneck installed, by whatever other package,
# std(), var() and describe() of the same rows go through its float32 sums: 10 million samples of
# 298 and 302 W (standard deviation 2) have 26.5, a million 2.05. mean(), sem() and a groupby's std() stay right.
# Why: noise of a long power recording is overstated, and differs between two environments of one script.
# Versions: pandas 3.1.1, numpy 2.4.6, bottleneck 1.6.0.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pandas==3.1.1 numpy==2.4.6
cat >"$tmp/power.py" <<'PY'
import numpy as np, pandas as pd
from importlib.util import find_spec
print("pandas", pd.__version__, "numpy", np.__version__, "bottleneck", find_spec("bottleneck") is not None)
for samples in (1_000, 1_000_000, 10_000_000):
    watts = pd.Series(np.tile(np.array([298, 302], np.float32), samples // 2))
    print(samples, "mean", watts.mean(), "std", round(float(watts.std()), 2), "describe", round(float(watts.describe()["std"]), 2),
          "sem", round(float(watts.sem()), 4), "numpy", round(float(np.std(watts.to_numpy())), 2))
PY
"$tmp/venv/bin/python" "$tmp/power.py" >"$tmp/seen"
"$tmp/venv/bin/pip" install -q bottleneck==1.6.0
"$tmp/venv/bin/python" "$tmp/power.py" >>"$tmp/seen"
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
pandas 3.1.1 numpy 2.4.6 bottleneck False
1000 mean 300.0 std 2.0 describe 2.0 sem 0.0633 numpy 2.0
1000000 mean 300.0 std 2.0 describe 2.0 sem 0.002 numpy 2.0
10000000 mean 300.0 std 2.0 describe 2.0 sem 0.0006 numpy 2.0
pandas 3.1.1 numpy 2.4.6 bottleneck True
1000 mean 300.0 std 2.0 describe 2.0 sem 0.0633 numpy 2.0
1000000 mean 300.0 std 2.05 describe 2.05 sem 0.002 numpy 2.0
10000000 mean 300.0 std 26.49 describe 26.49 sem 0.0006 numpy 2.0
END
