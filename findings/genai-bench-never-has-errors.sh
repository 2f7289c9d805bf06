#!/usr/bin/env bash
# Guess: genai-bench's error rate is the failed requests over all, and with a warm-up and a cool-down left out its
# tokens per second are those of the rest of the run.
# So it is: the rate is computed before the number of requests is known: it is 0 in the file also when 8 of 10
# requests fail, and its warning at 50 per cent never comes. The tokens of the warm-up and the cool-down are left
# out, their time is not: at 20 per cent each, 100 tokens/s become 60, while requests per second count all.
# Why: plots of the error rate are flat at 0, and a longer warm-up looks like a slower server.
# Versions: genai-bench 0.0.5, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q numpy==2.4.6 gevent==26.9.0 pydantic==2.14.4 rich==15.0.0
"$tmp/venv/bin/pip" install -q --no-deps genai-bench==0.0.5
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import genai_bench, importlib.metadata, json, numpy
from genai_bench.metrics.aggregated_metrics_collector import AggregatedMetricsCollector
from genai_bench.metrics.metrics import RequestLevelMetrics
print("genai-bench", importlib.metadata.version("genai-bench"), "numpy", numpy.__version__)


def served():
    return RequestLevelMetrics(ttft=0.1, tpot=0.009, e2e_latency=0.991, output_latency=0.891, output_inference_speed=1 / 0.009,
                               num_input_tokens=1000, num_output_tokens=100, num_reasoning_tokens=0, total_tokens=1100,
                               input_throughput=10000, output_throughput=1 / 0.009)


for title, good, bad, warm, cool in (("all served", 10, 0, None, None), ("8 of 10 fail", 2, 8, None, None),
                                     ("9 of 10 fail", 1, 9, None, None), ("warm-up 0.2", 10, 0, 0.2, None), ("both 0.2", 10, 0, 0.2, 0.2)):
    run = AggregatedMetricsCollector()
    for _ in range(good):
        run.add_single_request_metrics(served())
    for _ in range(bad):
        run.add_single_request_metrics(RequestLevelMetrics(error_code=503, error_message="busy"))
    run.aggregate_metrics_data(0.0, 10.0, warm, cool)
    run.save("run.json")
    of = json.load(open("run.json"))["aggregated_metrics"]
    print(title, "requests", of["num_requests"], "errors", of["num_error_requests"], "error rate", of["error_rate"], "requests/s",
          of["requests_per_second"], "tokens/s", of["mean_output_throughput_tokens_per_s"])
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
genai-bench 0.0.5 numpy 2.4.6
all served requests 10 errors 0 error rate 0 requests/s 1.0 tokens/s 100.0
8 of 10 fail requests 10 errors 8 error rate 0 requests/s 0.2 tokens/s 20.0
9 of 10 fail requests 10 errors 9 error rate 0 requests/s 0.1 tokens/s 10.0
warm-up 0.2 requests 10 errors 0 error rate 0 requests/s 1.0 tokens/s 80.0
both 0.2 requests 10 errors 0 error rate 0 requests/s 1.0 tokens/s 60.0
END
