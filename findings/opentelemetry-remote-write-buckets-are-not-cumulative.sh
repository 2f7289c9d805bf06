#!/usr/bin/env bash
# Guess: a histogram that OpenTelemetry sends to Prometheus by remote write has the same quantiles there as one that
# Prometheus scrapes: buckets NAME_bucket, each with all values up to its bound.
# So it is: each bucket has only its own values, under NAME, without _bucket. Prometheus takes the falling counts for
# errors of rounding: no quantile leaves the fullest bucket. Of 100 first tokens, 80 after 0.1 s, 15 after 2 and 5 after 20,
# the p95 is 0.24 s, not 2.5, and the p99 0.25, not 26; count and sum are right. A bound of 0, the first one by default,
# has no label "le".
# Why: the slow requests are missing from every quantile of a service that pushes its metrics.
# Versions: opentelemetry-exporter-prometheus-remote-write 0.66b1, opentelemetry-sdk 1.45.1, prometheus-client 0.23.1 as
# what is scraped. The receiver is stood in for; histogram_quantile is computed here as Prometheus does.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q opentelemetry-exporter-prometheus-remote-write==0.66b1 opentelemetry-sdk==1.45.1 prometheus-client==0.23.1
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import http.server, importlib.metadata, math, threading, prometheus_client, snappy
from opentelemetry.exporter.prometheus_remote_write import PrometheusRemoteWriteMetricsExporter
from opentelemetry.exporter.prometheus_remote_write.gen.remote_pb2 import WriteRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
print(*(f"{name} {importlib.metadata.version(name)}" for name in ("opentelemetry-exporter-prometheus-remote-write", "opentelemetry-sdk", "prometheus-client")))
BOUNDS = (0.0, 0.05, 0.25, 1.0, 2.5, 10.0, 30.0)
SECONDS = [0.1] * 80 + [2.0] * 15 + [20.0] * 5
received = []


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = WriteRequest()
        request.ParseFromString(snappy.decompress(self.rfile.read(int(self.headers["Content-Length"]))))
        for series in request.timeseries:
            received.append(({label.name: label.value for label in series.labels}, series.samples[-1].value))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


# The definition of histogram_quantile: buckets by bound, made to rise, and a straight line within one.
def quantile(share, buckets):
    buckets, top, risen = sorted(buckets.items()), 0.0, []
    for bound, count in buckets:
        top = max(top, count)
        risen.append((bound, top))
    rank, lower, below = share * top, 0.0, 0.0
    for bound, count in risen:
        if count >= rank and bound > 0:
            return lower if bound == math.inf else lower + (bound - lower) * (rank - below) / (count - below)
        lower, below = max(bound, 0.0), count


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
exporter = PrometheusRemoteWriteMetricsExporter(endpoint=f"http://127.0.0.1:{server.server_port}/api/v1/write")
provider = MeterProvider(metric_readers=[PeriodicExportingMetricReader(exporter, export_interval_millis=math.inf)],
                         views=[View(instrument_name="ttft", aggregation=ExplicitBucketHistogramAggregation(BOUNDS))])
histogram = provider.get_meter("server").create_histogram("ttft", unit="s")
scraped = prometheus_client.Histogram("ttft_s", "time to first token", buckets=BOUNDS)
for seconds in SECONDS:
    histogram.record(seconds)
    scraped.observe(seconds)
provider.force_flush()
pulled = [(sample.labels | {"__name__": sample.name}, sample.value) for family in scraped.collect() for sample in family.samples]
for title, series in ("remote write", received), ("scraped", pulled):
    names = sorted({labels["__name__"] for labels, _ in series if not labels["__name__"].endswith("_created")})
    buckets = {float(labels["le"]): value for labels, value in series if "le" in labels}
    total = {labels["__name__"].rsplit("_", 1)[1]: value for labels, value in series if labels["__name__"].endswith(("_count", "_sum"))}
    print(f"{title}: {' '.join(names)}; {' '.join(f'{bound:g}:{count:g}' for bound, count in sorted(buckets.items()))};",
          *(f"p{share * 100:.0f} {quantile(share, buckets):.2f} s" for share in (0.5, 0.9, 0.95, 0.99)), f"mean {total['sum'] / total['count']:.2f} s")
print("true: ", *(f"p{share * 100:.0f} {sorted(SECONDS)[math.ceil(share * 100) - 1]:.2f} s" for share in (0.5, 0.9, 0.95, 0.99)), f"mean {sum(SECONDS) / 100:.2f} s")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
opentelemetry-exporter-prometheus-remote-write 0.66b1 opentelemetry-sdk 1.45.1 prometheus-client 0.23.1
remote write: ttft_s ttft_s_count ttft_s_sum; 0.05:0 0.25:80 1:0 2.5:15 10:0 30:5 inf:0; p50 0.15 s p90 0.23 s p95 0.24 s p99 0.25 s mean 1.38 s
scraped: ttft_s_bucket ttft_s_count ttft_s_sum; 0:0 0.05:0 0.25:80 1:80 2.5:95 10:95 30:100 inf:100; p50 0.17 s p90 2.00 s p95 2.50 s p99 26.00 s mean 1.38 s
true:  p50 0.10 s p90 2.00 s p95 2.00 s p99 20.00 s mean 1.38 s
END
