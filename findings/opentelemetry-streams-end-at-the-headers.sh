#!/usr/bin/env bash
# Guess: OpenTelemetry's http.client.request.duration of one answer is the same whatever client reads it, and
# gen_ai.client.operation.duration of a streamed completion lasts until its last token.
# So it is: with requests it lasts to the end of the body, with httpx and aiohttp to the headers, also when the body
# is read at once: an answer of 1 s has a few ms. For OpenAI's client it ends when the stream is handed over;
# the span beside it is right, and the tokens are in no metric. Opting in to the newest conventions mends both.
# Why: a server may send headers before it computes a token: the p99 of the metric is then that of the headers.
# Versions: opentelemetry-instrumentation-httpx, -aiohttp-client and -requests 0.66b1, -openai-v2 2.4b0, openai 3.57.0.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q opentelemetry-sdk==1.45.1 opentelemetry-instrumentation-{httpx,aiohttp-client,requests}==0.66b1 \
    opentelemetry-instrumentation-openai-v2==2.4b0 opentelemetry-util-genai==0.4b0 httpx==0.28.1 aiohttp==3.14.5 requests==2.34.2 \
    openai==3.57.0
cat >"$tmp/run.py" <<'PY'
import asyncio, json, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(BaseHTTPRequestHandler):
    """Headers at once, then ten tokens in one second, as a server of language models streams them."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, text):
        data = f"data: {text}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        part = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        for _ in range(10):
            time.sleep(0.1)
            self.send(json.dumps(part | {"choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]}))
        self.send(json.dumps(part | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
        usage = {"prompt_tokens": 5, "completion_tokens": 10, "total_tokens": 15}
        self.send(json.dumps(part | {"choices": [], "usage": usage}))
        self.send("[DONE]")
        self.wfile.write(b"0\r\n\r\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
reader, spans = InMemoryMetricReader(), InMemorySpanExporter()
metrics.set_meter_provider(MeterProvider([reader]))
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)


async def by_aiohttp():
    import aiohttp
    async with aiohttp.ClientSession() as session, session.post(url, json={}) as answer:
        return await answer.read()


if sys.argv[1] == "httpx":
    import httpx
    from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor as Instrumentor
    call = lambda: httpx.post(url, json={}).content
elif sys.argv[1] == "aiohttp":
    from opentelemetry.instrumentation.aiohttp_client import AioHttpClientInstrumentor as Instrumentor
    call = lambda: asyncio.run(by_aiohttp())
elif sys.argv[1] == "requests":
    import requests
    from opentelemetry.instrumentation.requests import RequestsInstrumentor as Instrumentor
    call = lambda: requests.post(url, json={}).content
else:
    import openai
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor as Instrumentor
    call = lambda: list(openai.OpenAI(base_url=url, api_key="none").chat.completions.create(
        model="m", messages=[{"role": "user", "content": "words"}], stream=True, stream_options={"include_usage": True}))
Instrumentor().instrument()
call()
of = {metric.name: sum(point.sum for point in metric.data.data_points) for resource in reader.get_metrics_data().resource_metrics
      for scope in resource.scope_metrics for metric in scope.metrics}
seconds = next(value for name, value in of.items() if name.endswith("duration"))
span = spans.get_finished_spans()[0]
told = lambda s: "whole" if s >= 1 else "less than half" if s < 0.5 else "other"
print(" ".join(sys.argv[1:]), "metric", told(seconds), "span", told((span.end_time - span.start_time) / 1e9), end=" ")
print("tokens", of.get("gen_ai.client.token.usage") if "openai" in sys.argv[1] else "-")
PY
"$tmp/venv/bin/pip" list 2>/dev/null | sed -n 's/^opentelemetry-instrumentation-\([a-z0-9-]*\) *\([0-9a-z.]*\)$/\1 \2/p' >"$tmp/seen"
for client in requests httpx aiohttp openai "openai newest"; do
    newest=$([ "$client" = "openai newest" ] && echo ,gen_ai_latest_experimental || true)
    # shellcheck disable=SC2086 # two words are two arguments
    OTEL_SEMCONV_STABILITY_OPT_IN=http$newest "$tmp/venv/bin/python" "$tmp/run.py" $client >>"$tmp/seen" 2>"$tmp/err" ||
        { cat "$tmp/err"; exit 1; }
done
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
aiohttp-client 0.66b1
httpx 0.66b1
openai-v2 2.4b0
requests 0.66b1
requests metric whole span whole tokens -
httpx metric less than half span less than half tokens -
aiohttp metric less than half span less than half tokens -
openai metric less than half span whole tokens None
openai newest metric whole span whole tokens 15
END
