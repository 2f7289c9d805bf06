#!/usr/bin/env bash
# Guess: locust's percentiles are those of the response times, to a per cent or better, and lie between the
# fastest and the slowest; the p99 of 100 requests is not the slowest.
# So it is: times are kept as whole milliseconds up to 100 ms and with two digits above. Requests of 104.9 ms
# have a p95 of 100, below their fastest and their median, those of 105.1 ms one of 110, those of
# 0.4 ms one of 0. The rank is one too high: one slow request of a hundred is the p99. The mean, the minimum and the
# maximum are exact, and the median is kept between them.
# Why: a change of 0.2 per cent is 10 in the p95 of a serving benchmark, and one of 9 per cent may be none.
# Versions: locust 2.47.0.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q locust==2.47.0
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import importlib.metadata
from locust.stats import RequestStats
print("locust", importlib.metadata.version("locust"))
for served in ([104.9] * 100, [105.1] * 100, [95.0] * 100, [0.4] * 100, [50.0] * 99 + [900.0]):
    stats = RequestStats()
    for ms in served:
        stats.log_request("POST", "/v1/completions", ms, 0)
    of = stats.get("/v1/completions", "POST")
    print("fastest", of.min_response_time, "slowest", of.max_response_time, "mean", round(of.avg_response_time, 1), "median",
          of.median_response_time, "p95", of.get_response_time_percentile(0.95), "p99", of.get_response_time_percentile(0.99))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
locust 2.47.0
fastest 104.9 slowest 104.9 mean 104.9 median 104.9 p95 100 p99 100
fastest 105.1 slowest 105.1 mean 105.1 median 105.1 p95 110 p99 110
fastest 95.0 slowest 95.0 mean 95.0 median 95 p95 95 p99 95
fastest 0.4 slowest 0.4 mean 0.4 median 0.4 p95 0 p99 0
fastest 50.0 slowest 900.0 mean 58.5 median 50 p95 50 p99 900
END
