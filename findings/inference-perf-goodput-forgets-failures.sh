#!/usr/bin/env bash
# Guess: the goodput of inference-perf (of Kubernetes' serving group) is the share of all requests that meet the limits, and
# a streamed answer has a time to its first token.
# So it is: only answered requests count: if half of 100 fail and the others meet the limit, the goodput is 100 %, of
# "total_requests" 50. A server that drops load looks perfect. An answer of a single token has no time to the first token:
# a benchmark of prefill, with one token each, has none at all, and a limit on it is met by 0 % of requests that all took 0.1 s;
# where every second answer is one token, the times are of the others only. Tokens that come in one chunk are 0 s apart:
# four a chunk, 80 ms apart, have a median gap of 0.
# Why: the limit of load that a server can take is searched by this number.
# Versions: inference-perf 0.7.0 (asks for Python 3.12, its report runs on 3.11 too), pydantic 2.14.4, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-deps --ignore-requires-python inference-perf==0.7.0
"$tmp/venv/bin/pip" install -q pydantic==2.14.4 numpy==2.4.6 transformers==5.13.0 pyyaml aiohttp pillow av jmespath requests datasets uvloop google-cloud-storage boto3
cd "$tmp"
HF_HUB_OFFLINE=1 HF_HOME="$tmp" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata
from inference_perf.apis.base import ErrorResponseInfo, InferenceInfo, RequestLifecycleMetric, StreamedResponseMetrics
from inference_perf.config import GoodputConfig
from inference_perf.payloads import RequestMetrics, Text
from inference_perf.reportgen.base import summarize_requests
print("inference-perf", importlib.metadata.version("inference-perf"))
FIRST, GAP = 0.1, 0.02


def request(number, tokens, a_chunk=1, fails=False):
    start = number / 10
    times = [start + FIRST + token // a_chunk * a_chunk * GAP for token in range(tokens)]
    response = StreamedResponseMetrics(output_tokens=tokens, output_token_times=times, chunk_times=sorted(set(times)))
    return RequestLifecycleMetric(
        scheduled_time=start, start_time=start, end_time=start + 10 if fails else times[-1], request_data="{}",
        info=InferenceInfo(request_metrics=RequestMetrics(text=Text(input_tokens=1000)), response_metrics=None if fails else response),
        error=ErrorResponseInfo(error_type="HTTP Error 503", error_msg="overloaded") if fails else None)


for title, requests in (("100 answers of 101 tokens", [request(number, 101) for number in range(100)]),
                        ("half of 100 fail", [request(number, 101, fails=number % 2 == 1) for number in range(100)]),
                        ("100 answers of one token", [request(number, 1) for number in range(100)]),
                        ("every second of one token", [request(number, 1 if number % 2 else 101) for number in range(100)]),
                        ("four tokens a chunk", [request(number, 101, 4) for number in range(100)])):
    report = summarize_requests(requests, [50.0], goodput_config=GoodputConfig(constraints={"ttft": 0.5}))
    latency, good = report.successes["latency"], report.successes["goodput_metrics"]
    first, gap = latency["time_to_first_token"], latency["inter_token_latency"]
    print(f"{title}: goodput {good['goodput_percentage']:.0f} % of {good['total_requests']}, failures {report.failures['count']},",
          "first token", first and f"{first['median']:.2f} s,", "gap", gap and f"median {gap['median'] * 1000:.0f} mean {gap['mean'] * 1000:.0f} ms")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
inference-perf 0.7.0
100 answers of 101 tokens: goodput 100 % of 100, failures 0, first token 0.10 s, gap median 20 mean 20 ms
half of 100 fail: goodput 100 % of 50, failures 50, first token 0.10 s, gap median 20 mean 20 ms
100 answers of one token: goodput 0 % of 100, failures 0, first token None gap None
every second of one token: goodput 50 % of 100, failures 0, first token 0.10 s, gap median 20 mean 20 ms
four tokens a chunk: goodput 100 % of 100, failures 0, first token 0.10 s, gap median 0 mean 20 ms
END
