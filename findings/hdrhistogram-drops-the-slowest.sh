#!/usr/bin/env bash
# Guess: a latency above the histogram's highest trackable value raises, or counts in the last
# bucket; and for a single value all of mean, median and maximum are that value to three digits.
# So it is: record_value returns False and counts nothing, so that ten of a hundred requests that
# time out are gone and the p99 is that of the others. A percentile is the upper end of a bucket, the
# minimum its lower end, the mean the middle: a hundred equal values have three different ones.
# Why: a serving benchmark with a limit of a second reports a p99 below a second, whatever happens.
# Versions: hdrhistogram 0.10.8.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q hdrhistogram==0.10.8
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
from hdrh.histogram import HdrHistogram
served = HdrHistogram(1, 1_000_000, 3)  # microseconds, up to one second
told = [served.record_value(us) for us in [20_000] * 90 + [2_500_000] * 10]
print("requests 100, counted", served.get_total_count(), "told", told.count(False))
print("p99 us", served.get_value_at_percentile(99), "max us", served.get_max_value())
equal = HdrHistogram(1, 1_000_000, 2)
for _ in range(100):
    equal.record_value(12_345)
print("of 12345 alone: min", equal.get_min_value(), "mean", equal.get_mean_value(), "median", equal.get_value_at_percentile(50))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
requests 100, counted 90 told 10
p99 us 20015 max us 20015
of 12345 alone: min 12288 mean 12320.0 median 12351
END
