#!/usr/bin/env bash
# Guess: the "Peak output token throughput" of sglang's serving benchmark is at least the mean beside it, and the
# "Peak concurrent requests" of a client that sends one request after another are 1.
# So it is: the peak counts chunks, not tokens, in each whole second: against a server that sends 8 tokens a chunk
# (a client of the OpenAI kind) the mean is 80 tokens/s and the peak 10. The concurrency counts the requests that
# touch a second: one at a time is 10 if each takes 90 ms, 50 if 18 ms. The mean concurrency beside it is right.
# Why: a peak of 50 requests looks like queueing or batching where there is neither.
# Versions: sglang 0.5.23, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q numpy==2.4.6 aiohttp==3.14.5 requests==2.34.2 tqdm==4.70.1 msgspec==0.23.0 orjson==3.13.0 pydantic==2.14.4
"$tmp/venv/bin/pip" install -q --no-deps sglang==0.5.23
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import importlib.metadata, sys
from importlib.machinery import ModuleSpec
from unittest.mock import MagicMock
import numpy


class LeftOut:
    """Stands in for the server, the data sets and the tokenizers, of which the metrics need nothing."""

    def find_spec(self, name, path=None, target=None):
        parts = name.split(".")
        server = parts[:2] in (["sglang", "srt"], ["sglang", "lang"]) or parts[2:3] == ["datasets"]
        if server or parts[0] in ("IPython", "pybase64", "transformers"):
            return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return MagicMock()

    def exec_module(self, module):
        pass


class Words:
    def encode(self, text, **_):
        return text.split()


sys.meta_path.insert(0, LeftOut())
from sglang.benchmark.serving import RequestFuncOutput, calculate_metrics
print("sglang", importlib.metadata.version("sglang"), "numpy", numpy.__version__)


def request(start, first, last, chunks, tokens):
    """As the client of an OpenAI-like server records it: one gap for each chunk after the first."""
    return RequestFuncOutput(success=True, start_time=start, ttft=first, latency=last, itl=[(last - first) / (chunks - 1)] * (chunks - 1),
                             output_len=tokens, generated_text="word " * tokens)


for title, outputs in (
        ("one after another, 90 ms", [request(i / 10, 0.05, 0.09, 5, 5) for i in range(100)]),
        ("one after another, 18 ms", [request(i / 50, 0.01, 0.018, 5, 5) for i in range(500)]),
        ("one, a token a chunk", [request(0, 0.1, 9.95, 800, 800)]),
        ("one, 8 tokens a chunk", [request(0, 0.1, 9.95, 100, 800)])):
    of, _ = calculate_metrics(None, outputs, 10.0, Words(), "vllm-chat")
    print(f"{title}: concurrency {of.concurrency:.1f} peak {of.max_concurrent_requests}, "
          f"tokens/s {of.output_throughput:.0f} peak {of.max_output_tokens_per_s:.0f}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
sglang 0.5.23 numpy 2.4.6
one after another, 90 ms: concurrency 0.9 peak 10, tokens/s 50 peak 50
one after another, 18 ms: concurrency 0.9 peak 50, tokens/s 250 peak 250
one, a token a chunk: concurrency 1.0 peak 1, tokens/s 80 peak 81
one, 8 tokens a chunk: concurrency 1.0 peak 1, tokens/s 80 peak 10
END
