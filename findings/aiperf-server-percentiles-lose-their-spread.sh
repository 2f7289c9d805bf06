#!/usr/bin/env bash
# Guess: aiperf's percentiles of a server's Prometheus histograms, which it says to be better than the straight line that
# Prometheus draws within a bucket, keep the spread of the values.
# So it is: the spread within a bucket is taken from the means of the scrapes that fell into it alone, and means of many
# values hardly differ. Nine of ten tokens come after 27 ms and one after 48, all in vLLM's bucket from 25 to
# 50: the p99 is 43.9 ms at one token a scrape, 31.0 at 100 and 29.6 at 1000, where the median is 29.1: all
# percentiles move to the mean. Prometheus' rule gives 49.8.
# Why: the more tokens a server makes, the narrower its latencies look; a p99 above the goal is reported below it.
# Versions: aiperf 0.13.0, numpy 2.4.6. The packages' own __init__ are passed over.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q numpy==2.4.6
"$tmp/venv/bin/pip" install -q --no-deps aiperf==0.13.0
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, importlib.util, random, sys, types
import numpy as np
root = importlib.util.find_spec("aiperf").submodule_search_locations[0]
for name, path in (("aiperf", root), ("aiperf.server_metrics", root + "/server_metrics")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [path]
from aiperf.server_metrics.histogram_percentiles import accumulate_bucket_statistics, compute_estimated_percentiles, compute_prometheus_percentiles
print(*(f"{name} {importlib.metadata.version(name)}" for name in ("aiperf", "numpy")))
bounds = ("0.01", "0.025", "0.05", "0.075", "0.1", "+Inf") # the first of vLLM's for the time between tokens


def line(of):
    return " ".join(f"{value * 1e3:.1f}" for value in (of.p1_estimate, of.p50_estimate, of.p90_estimate, of.p95_estimate, of.p99_estimate))


count = 60000
order = list(range(count))
random.Random(7).shuffle(order)
for title, values in (("27 ms, one of ten 48", [0.027 if index % 10 else 0.048 for index in order]),
                      ("evenly from 26 to 49 ms", [0.026 + 0.023 * index / (count - 1) for index in order])):
    values = np.array(values)
    for each in (1, 10, 100, 1000):
        # What each scrape reads: the counts up to each bound, the count and the sum so far.
        ends = np.arange(0, count + 1, each)
        upto = np.array([[0] + list(np.cumsum(values <= float(bound))) for bound in bounds], dtype=float).T[ends]
        sums = np.concatenate([[0], np.cumsum(values)])[ends]
        learned = accumulate_bucket_statistics(sums, ends, bounds, upto)
        last = dict(zip(bounds, upto[-1]))
        of = compute_estimated_percentiles(last, learned, sums[-1], count)
        print(f"{title}, {each} a scrape: p1 p50 p90 p95 p99 aiperf {line(of)}, Prometheus {line(compute_prometheus_percentiles(last))}, true",
              " ".join(f"{value * 1e3:.1f}" for value in np.percentile(values, [1, 50, 90, 95, 99], method="inverted_cdf")))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
aiperf 0.13.0 numpy 2.4.6
27 ms, one of ten 48, 1 a scrape: p1 p50 p90 p95 p99 aiperf 25.0 25.4 40.5 42.4 43.9, Prometheus 25.2 37.5 47.5 48.8 49.8, true 27.0 27.0 27.0 48.0 48.0
27 ms, one of ten 48, 10 a scrape: p1 p50 p90 p95 p99 aiperf 25.0 28.6 33.4 34.0 34.5, Prometheus 25.2 37.5 47.5 48.8 49.8, true 27.0 27.0 27.0 48.0 48.0
27 ms, one of ten 48, 100 a scrape: p1 p50 p90 p95 p99 aiperf 27.2 29.1 30.6 30.8 31.0, Prometheus 25.2 37.5 47.5 48.8 49.8, true 27.0 27.0 27.0 48.0 48.0
27 ms, one of ten 48, 1000 a scrape: p1 p50 p90 p95 p99 aiperf 28.6 29.1 29.5 29.5 29.6, Prometheus 25.2 37.5 47.5 48.8 49.8, true 27.0 27.0 27.0 48.0 48.0
evenly from 26 to 49 ms, 1 a scrape: p1 p50 p90 p95 p99 aiperf 25.3 37.5 47.5 48.7 49.7, Prometheus 25.2 37.5 47.5 48.8 49.8, true 26.2 37.5 46.7 47.8 48.8
evenly from 26 to 49 ms, 10 a scrape: p1 p50 p90 p95 p99 aiperf 31.4 37.5 42.5 43.1 43.6, Prometheus 25.2 37.5 47.5 48.8 49.8, true 26.2 37.5 46.7 47.8 48.8
evenly from 26 to 49 ms, 100 a scrape: p1 p50 p90 p95 p99 aiperf 30.4 37.5 43.3 44.0 44.6, Prometheus 25.2 37.5 47.5 48.8 49.8, true 26.2 37.5 46.7 47.8 48.8
evenly from 26 to 49 ms, 1000 a scrape: p1 p50 p90 p95 p99 aiperf 31.1 37.5 42.8 43.4 43.9, Prometheus 25.2 37.5 47.5 48.8 49.8, true 26.2 37.5 46.7 47.8 48.8
END
