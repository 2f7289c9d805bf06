#!/usr/bin/env bash
# Guess: a percentile lies between the fastest and the slowest request that was measured, whatever
# the rule of interpolation.
# So it is: the default rule of statistics.quantiles ("exclusive") goes on beyond the data. Of 10, 20
# or 50 latencies the p99 is above the slowest one (of 10 by 89 % of the distance to the second
# slowest), and the p1 of waits is negative. method="inclusive" and numpy's default stay inside.
# Why: an engine's p99 time between tokens from a short run fails a limit that no request exceeded.
# Versions: Python 3.11 to 3.13, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import statistics, numpy as np
latencies_ms = [20.0] * 8 + [30.0, 130.0]
print("slowest", max(latencies_ms))
print("statistics", statistics.quantiles(latencies_ms, n=100)[98])
print("inclusive", statistics.quantiles(latencies_ms, n=100, method="inclusive")[98])
print("numpy", round(float(np.percentile(latencies_ms, 99)), 6))
for count in (10, 20, 50, 99, 100):
    steps = list(range(count))
    print(count, "values:", "above" if statistics.quantiles(steps, n=100)[98] > max(steps) else "inside")
print("p1 of waits", statistics.quantiles([0.0, 1.0] + [2.0] * 8, n=100)[0])
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
slowest 130.0
statistics 219.0
inclusive 121.0
numpy 121.0
10 values: above
20 values: above
50 values: above
99 values: inside
100 values: inside
p1 of waits -0.89
END
