#!/usr/bin/env bash
# Guess: the bootstrap interval of the median of step times that hardly vary is narrow, or a point.
# So it is: with its default method (BCa) scipy.stats.bootstrap answers (nan, nan), with a warning,
# when the jackknife's medians do not differ, which they do not as soon as most steps take the same
# time to the clock's tick. nan compares as neither above nor below a limit. method="percentile" answers.
# Why: the steadier a run, the less a gate built on it can say: "nan > limit" is false, and it passes.
# Versions: scipy 1.16.3, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q scipy==1.16.3 numpy==2.4.6
"$tmp/venv/bin/python" -W ignore - >"$tmp/seen" <<'PY'
import numpy as np
from scipy.stats import bootstrap
steps_ms = np.array([5.0] * 19 + [5.1])
after_ms = np.array([7.0] * 20)
def interval(data, statistic, **more):
    low, high = bootstrap(data, statistic, rng=np.random.default_rng(1), **more).confidence_interval
    return float(low), float(high)
print("median", interval((steps_ms,), np.median))
print("percentile", interval((steps_ms,), np.median, method="percentile"))
low, high = interval((after_ms, steps_ms), lambda a, b, axis=-1: np.median(a, axis) - np.median(b, axis))
print("2 ms slower:", low, high, "beyond a limit of 0.15 ms:", low > 0.15, "within it:", high < 0.15)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
median (nan, nan)
percentile (5.0, 5.0)
2 ms slower: nan nan beyond a limit of 0.15 ms: False within it: False
END
