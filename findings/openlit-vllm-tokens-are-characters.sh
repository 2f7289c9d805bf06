#!/usr/bin/env bash
# Guess: OpenLIT's span of a vLLM call has the token counts that vLLM's answer carries, and a time to the first token
# only if it knows one.
# So it is: tokens are characters over two, of the prompt and of the first answer to it: 50 tokens are 125 if each is
# a word of four letters and its space, 25 if each is a digit; four answers count as one. Time to the first
# token is the whole call, time per output token 0.
# Why: tokens per second and costs are off by what the text is; a batch of an hour has a first token after an hour.
# Versions: openlit 1.45.0, opentelemetry-sdk 1.45.2. vLLM is stood in for, with the fields of its RequestOutput.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2 opentelemetry-instrumentation==0.66b2 \
    requests==2.34.2 pydantic==2.14.4
"$tmp/venv/bin/pip" install -q --no-deps openlit==1.45.0
mkdir -p "$tmp/lib/vllm/entrypoints" "$tmp/lib/vllm-0.20.0.dist-info"
touch "$tmp/lib/vllm/__init__.py" "$tmp/lib/vllm/entrypoints/__init__.py"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.20.0\n' >"$tmp/lib/vllm-0.20.0.dist-info/METADATA"
cat >"$tmp/lib/vllm/entrypoints/llm.py" <<'PY'
import time
from types import SimpleNamespace as Of


class LLM:
    def __init__(self, model):
        self.llm_engine = Of(model_config=Of(model=model))

    def generate(self, prompts, sampling_params):
        time.sleep(0.5)
        return [Of(prompt=prompt, prompt_token_ids=[1] * len(prompt.split()),
                   outputs=[Of(text=sampling_params.word * 50, token_ids=[1] * 50, finish_reason="length")] * sampling_params.n)
                for prompt in prompts]
PY
echo '{"chat": {}}' >"$tmp/prices.json"
cd "$tmp"
PYTHONPATH="$tmp/lib" OTEL_TRACES_EXPORTER=none "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata
from types import SimpleNamespace
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
import openlit
openlit.init(pricing_json="prices.json", disable_metrics=True, disable_events=True)
from vllm.entrypoints.llm import LLM
print("openlit", importlib.metadata.version("openlit"), "opentelemetry-sdk", importlib.metadata.version("opentelemetry-sdk"))
model = LLM("llama")
for title, word, n in (("words", "word ", 1), ("digits", "7", 1), ("words, 4 answers", "word ", 4)):
    answers = model.generate(["How long is it to the moon?"] * 10, SimpleNamespace(n=n, word=word, max_tokens=50))
    spans.force_flush()
    span = spans.get_finished_spans()[-1]
    of = {name.split(".", 1)[1]: value for name, value in span.attributes.items() if name.startswith("gen_ai.")}
    print(f"{title}: tokens in", of["usage.input_tokens"], "true", sum(len(answer.prompt_token_ids) for answer in answers),
          "out", of["usage.output_tokens"], "true", sum(len(one.token_ids) for answer in answers for one in answer.outputs),
          "| first token after", round(of["server.time_to_first_token"] * 1e9 / (span.end_time - span.start_time), 1), "of the call, per token",
          of["server.time_per_output_token"], "s")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
openlit 1.45.0 opentelemetry-sdk 1.45.2
words: tokens in 140 true 70 out 1250 true 500 | first token after 1.0 of the call, per token 0 s
digits: tokens in 140 true 70 out 250 true 500 | first token after 1.0 of the call, per token 0 s
words, 4 answers: tokens in 140 true 70 out 1250 true 2000 | first token after 1.0 of the call, per token 0 s
END
