#!/usr/bin/env bash
# Guess: "Input Throughput (tok/s)" of EvalScope's benchmark is tokens over the time of the test for an embedding
# server, as output and total throughput are for a chat server; and "Avg Decoded Tok/Iter" is a mean over
# the answers, 1 for a server that does not speculate.
# So it is: the input throughput is tokens over the sum of all latencies, that of one request: 32 at a time are 1024
# tokens/s where the server does 32768, and the requests per second beside it say so. The decoded tokens are
# a mean over the answers with more than one token a chunk only: if one of 100 answers came in chunks of two,
# it is 2, and the acceptance rate of a draft model that is not there 0.5.
# Why: a server that serves 32 at a time looks as fast as one that serves one; a proxy that merges chunks now and
# then looks like speculative decoding.
# Versions: evalscope 1.14.1. Its own __init__, which imports every benchmark, is passed over.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pydantic==2.14.4 docstring_parser==0.18.0 colorlog==6.12.0
"$tmp/venv/bin/pip" install -q --no-deps evalscope==1.14.1
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, importlib.util, sys, types
bare = types.ModuleType("evalscope")
bare.__path__ = list(importlib.util.find_spec("evalscope").submodule_search_locations)
sys.modules["evalscope"] = bare
from evalscope.perf.utils.benchmark_util import BenchmarkData, MetricsAccumulator
print("evalscope", importlib.metadata.version("evalscope"))

# Embeddings, as its client records them: no first chunk but the answer.
for width in (1, 8, 32):
    run = MetricsAccumulator(concurrency=width)
    for index in range(320):
        start = 1000 + index // width * 0.5
        run.update(BenchmarkData(start_time=start, completed_time=start + 0.5, query_latency=0.5, first_chunk_latency=0.5, success=True,
                                 prompt_tokens=512, completion_tokens=0), None)
    of = run.to_result().create_message(api_type="openai_embedding")
    print(f"{width} at a time: requests/s {of['Req Throughput (req/s)']}, input tokens/s {of['Input Throughput (tok/s)']},",
          "true", 320 * 512 / of["Test Duration (s)"])

# Streams of 101 tokens in chunks of one, and some in chunks of two.
for merged in (0, 1, 50, 100):
    run = MetricsAccumulator(concurrency=1)
    for index in range(100):
        chunks = 51 if index < merged else 101
        start = 1000 + index * 3.0
        times = [start + 0.1 + 2.0 * chunk / (chunks - 1) for chunk in range(chunks)]
        run.update(BenchmarkData(start_time=start, completed_time=times[-1], query_latency=2.1, first_chunk_latency=0.1, success=True, is_stream=True,
                                 prompt_tokens=512, completion_tokens=101, chunk_times=times), None)
    of = run.to_result().create_message(api_type="openai")
    print(f"{merged} of 100 in chunks of two: decoded tokens", of.get("Avg Decoded Tok/Iter"), "acceptance", of.get("Spec. Accept Rate"),
          "true", (merged * 2 + 100 - merged) / 100)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
evalscope 1.14.1
1 at a time: requests/s 2.0, input tokens/s 1024.0, true 1024.0
8 at a time: requests/s 16.0, input tokens/s 1024.0, true 8192.0
32 at a time: requests/s 64.0, input tokens/s 1024.0, true 32768.0
0 of 100 in chunks of two: decoded tokens None acceptance None true 1.0
1 of 100 in chunks of two: decoded tokens 2.0 acceptance 0.5 true 1.01
50 of 100 in chunks of two: decoded tokens 2.0 acceptance 0.5 true 1.5
100 of 100 in chunks of two: decoded tokens 2.0 acceptance 0.5 true 2.0
END
