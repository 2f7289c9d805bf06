#!/usr/bin/env bash
# Guess: the median and the p05 of guidellm's requests and tokens per second are close to the mean if the server
# does the same in every second, and fall where it stalls.
# So it is: the rate is one over the gap between neighboring events, weighted with the gap. Ten requests that end
# together each second are 10 a second in the mean; the median is 10 if they end within 0.1 ms, 2 if they end
# 1 ms apart. 16 streams that get a token each 20 ms, 0.2 ms apart, are 800 tokens a second and 116 in the
# median. The tokens of a stream are spread evenly over it: after a stall of 2 s in the middle of all streams
# every percentile is a steady 666.
# Why: a batching server answers in bursts; its median rate in the JSON and CSV is a fifth of what it does.
# Versions: guidellm 0.8.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q numpy==2.4.6 pydantic==2.14.4 pydantic-settings==2.16.3 loguru==0.7.3
"$tmp/venv/bin/pip" install -q --no-deps guidellm==0.8.1
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, numpy
from guidellm.schemas.base.info import RequestInfo, RequestTimings
from guidellm.schemas.base.request import UsageMetrics
from guidellm.schemas.base.request_stats import GenerativeRequestStats
from guidellm.schemas.base.statistics import StatusDistributionSummary
print("guidellm", importlib.metadata.version("guidellm"), "numpy", numpy.__version__)


def request(start, first, last, tokens):
    timings = RequestTimings(request_start=start, first_token_iteration=first, last_token_iteration=last, request_end=last, resolve_end=last,
                             token_iterations=tokens, request_iterations=tokens)
    return GenerativeRequestStats(request_id="", info=RequestInfo(timings=timings), input_metrics=UsageMetrics(text_tokens=8),
                                  output_metrics=UsageMetrics(text_tokens=tokens))


def show(title, requests, end, of):
    """As guidellm compiles a benchmark's metrics from the requests that ended in its time."""
    rate = StatusDistributionSummary.rate_distribution_from_timings_function(
        function=of, successful=requests, incomplete=[], errored=[], start_time=0.0, end_time=end).successful
    print(f"{title}: mean {rate.mean:.1f}, median {rate.median:.1f}, p05 {rate.percentiles.p05:.1f}, p95 {rate.percentiles.p95:.1f}")


ends = lambda of: of.request_end_time
tokens = lambda of: of.output_tokens_timings
for title, apart in (("at once", 0), ("0.01 ms apart", 0.00001), ("1 ms apart", 0.001), ("100 ms apart", 0.1)):
    show(f"requests/s, ten each second, {title}",
         [request(second + k * apart, second + k * apart + 0.5, second + k * apart + 1, 2) for second in range(100) for k in range(10)], 101, ends)
for title, apart in (("at once", 0), ("0.1 ms apart", 0.0001), ("0.2 ms apart", 0.0002), ("1.25 ms apart", 0.00125)):
    show(f"tokens/s, 16 streams of a token each 20 ms, {title}",
         [request(0, 0.02 + k * apart, 10 + k * apart, 500) for k in range(16)], 10.02, tokens)
show("tokens/s, 16 streams, a stall of 2 s in the middle, at once", [request(0, 0.02, 12, 500) for k in range(16)], 12.02, tokens)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
guidellm 0.8.1 numpy 2.4.6
requests/s, ten each second, at once: mean 9.9, median 10.0, p05 10.0, p95 10.0
requests/s, ten each second, 0.01 ms apart: mean 9.9, median 10.0, p05 10.0, p95 10.0
requests/s, ten each second, 1 ms apart: mean 9.9, median 2.0, p05 2.0, p95 2.0
requests/s, ten each second, 100 ms apart: mean 9.9, median 10.0, p05 10.0, p95 10.0
tokens/s, 16 streams of a token each 20 ms, at once: mean 798.4, median 800.0, p05 800.0, p95 800.0
tokens/s, 16 streams of a token each 20 ms, 0.1 ms apart: mean 798.4, median 212.8, p05 107.0, p95 10000.0
tokens/s, 16 streams of a token each 20 ms, 0.2 ms apart: mean 798.4, median 116.3, p05 116.3, p95 5000.0
tokens/s, 16 streams of a token each 20 ms, 1.25 ms apart: mean 798.4, median 800.0, p05 800.0, p95 800.0
tokens/s, 16 streams, a stall of 2 s in the middle, at once: mean 665.6, median 666.4, p05 666.4, p95 666.4
END
