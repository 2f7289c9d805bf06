#!/usr/bin/env bash
# Guess: OpenLLMetry's histograms of a completion's duration and time to first token, which are in seconds, have
# buckets for seconds, as the semantic conventions ask; and the first token is the first one with text.
# So it is: the instrumentation alone, without its maker's SDK, sets none, and OpenTelemetry's own are made for
# milliseconds: all below 5 s is one bucket. A server that answers in 0.4 s and one that takes 0.9 s have the
# same median of 2.5 s and p95 of 4.75 s. The first chunk counts as the first token though it has a role and no
# text: a server that sends it at once has no time to first token.
# Why: quantiles on a dashboard are made of the bucket and show no change until a request takes more than 5 s.
# Versions: opentelemetry-instrumentation-openai 0.62.4, opentelemetry-sdk 1.45.2, openai 3.57.0.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q opentelemetry-instrumentation-openai==0.62.4 opentelemetry-sdk==1.45.2 openai==3.57.0
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, json, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(BaseHTTPRequestHandler):
    """The role at once, the text after the time that the model's name says."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, text):
        data = f"data: {text}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def do_POST(self):
        model = json.loads(self.rfile.read(int(self.headers["content-length"])))["model"]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        part = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": model}
        self.send(json.dumps(part | {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}))
        time.sleep(float(model))
        self.send(json.dumps(part | {"choices": [{"index": 0, "delta": {"content": "word"}, "finish_reason": "stop"}]}))
        self.send("[DONE]")
        self.wfile.write(b"0\r\n\r\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
from opentelemetry import metrics
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))
OpenAIInstrumentor().instrument()
import openai
print(*(f"{name} {importlib.metadata.version(name)}" for name in ("opentelemetry-instrumentation-openai", "opentelemetry-sdk", "openai")))


def quantile(point, share):
    """As Prometheus' histogram_quantile: linear within the bucket."""
    rank, below = share * point.count, 0
    for lower, upper, count in zip((0, *point.explicit_bounds), point.explicit_bounds, point.bucket_counts):
        if below + count >= rank and count:
            return lower + (upper - lower) * (rank - below) / count
        below += count


client = openai.OpenAI(api_key="-", base_url=f"http://127.0.0.1:{server.server_port}", max_retries=0)
for model in ("0.4", "0.9"):
    firsts = []
    for _ in range(10):
        start = time.time()
        for chunk in client.chat.completions.create(model=model, messages=[{"role": "user", "content": "Hello"}], stream=True):
            if chunk.choices[0].delta.content:
                firsts.append(time.time() - start)
    assert min(firsts) > float(model)
    data = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
    for name in ("gen_ai.client.operation.duration", "gen_ai.server.time_to_first_token"):
        metric = next(metric for metric in data if metric.name == name)
        point = next(point for point in metric.data.data_points if model in point.attributes.values())
        mean = point.sum / point.count
        print(f"text after {model} s: {name}: {point.count}, bounds {point.explicit_bounds[1:4]} {metric.unit}, median {quantile(point, 0.5):.2f},",
              f"p95 {quantile(point, 0.95):.2f}, mean before the text: {mean < float(model)}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
opentelemetry-instrumentation-openai 0.62.4 opentelemetry-sdk 1.45.2 openai 3.57.0
text after 0.4 s: gen_ai.client.operation.duration: 10, bounds (5.0, 10.0, 25.0) s, median 2.50, p95 4.75, mean before the text: False
text after 0.4 s: gen_ai.server.time_to_first_token: 10, bounds (5.0, 10.0, 25.0) s, median 2.50, p95 4.75, mean before the text: True
text after 0.9 s: gen_ai.client.operation.duration: 10, bounds (5.0, 10.0, 25.0) s, median 2.50, p95 4.75, mean before the text: False
text after 0.9 s: gen_ai.server.time_to_first_token: 10, bounds (5.0, 10.0, 25.0) s, median 2.50, p95 4.75, mean before the text: True
END
