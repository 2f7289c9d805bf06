#!/usr/bin/env python3
"""The monitor's OTLP, decoded by opentelemetry-proto: otlp_test.py BUILD_DIR. 77 without that
package."""
import http.server
import os
import pathlib
import subprocess
import sys
import threading

try:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
except ImportError:
    print("opentelemetry-proto is not installed: ./dev python")
    sys.exit(77)
BUILD = pathlib.Path(sys.argv[1]).resolve()


def points_of(metric):
    data = getattr(metric, metric.WhichOneof("data"))
    return [({pair.key: pair.value.string_value for pair in point.attributes}, point)
            for point in data.data_points]


def main():
    task = subprocess.Popen(["sleep", "60"],
                            env={"SLURM_JOB_ID": "4711", "SLURM_JOB_USER": "ann",
                                 "SLURM_PROCID": "3", "SLURM_NTASKS": "8"})
    try:
        given = {**os.environ, "GPUFATHOM_LIBRARY_PATH": str(BUILD / "fakes"),
                 "GPUFATHOM_FAKE": f"gpus=2,pid={task.pid}"}
        done = subprocess.run([BUILD / "gpufathom", "monitor", "--count", "2", "--interval", "0.2",
                               "--format", "otlp"], env=given,
                              stdout=subprocess.PIPE, check=True)
    finally:
        task.kill()
    # Requests one after the other are one request, as protobuf has it.
    request = ExportMetricsServiceRequest.FromString(done.stdout)
    assert len(request.resource_metrics) == 2
    for part in request.resource_metrics:
        resource = {pair.key: pair.value.string_value for pair in part.resource.attributes}
        assert resource["service.name"] == "gpufathom-monitor" and resource["host.name"], resource
        found = {metric.name: metric for metric in part.scope_metrics[0].metrics}
        assert len(found) == len(part.scope_metrics[0].metrics), "a name twice"
        units = {"hw.gpu.utilization": "1", "hw.gpu.memory.usage": "By",
                 "hw.gpu.memory.limit": "By", "hw.gpu.io": "By", "hw.power": "W",
                 "hw.energy": "J", "hw.temperature": "Cel", "gpufathom.sm.active_any": "1",
                 "gpufathom.clock.sm": "Hz"}
        assert {name: found[name].unit for name in units} == units
        busy = [(about, point.as_double) for about, point in points_of(found["hw.gpu.utilization"])
                if about["hw.gpu.task"] == "general"]
        assert [value for _, value in busy] == [0.75, 0.75], busy
        assert [about["gpufathom.gpu"] for about, _ in busy] == ["0",
                                                                 "1"] and busy[0][0]["hw.type"] == "gpu", busy
        assert busy[0][0]["gpufathom.job.id"] == "4711" and busy[0][0]["gpufathom.job.user"] == "ann", busy
        assert found["hw.energy"].sum.is_monotonic and found["hw.energy"].sum.aggregation_temporality == 2
        assert not found["hw.gpu.memory.usage"].sum.is_monotonic
        assert {about["network.io.direction"]
                for about, _ in points_of(found["hw.gpu.io"])} == {"receive", "transmit"}
        for metric in found.values():
            assert metric.description, metric.name
            for about, point in points_of(metric):
                assert about["hw.id"].startswith("GPU-") and point.time_unix_nano > 1_700_000_000 * 10**9, metric.name


def pushed():
    """The data that `--otlp-endpoint` sends, and the message while nobody listens."""
    requests = []

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.path, self.headers["Content-Type"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    given = {**os.environ, "GPUFATHOM_LIBRARY_PATH": str(BUILD / "fakes"),
             "GPUFATHOM_FAKE": "gpus=1"}

    def monitor(port):
        words = ["monitor", "--count", "3", "--interval", "0.2", "--otlp-endpoint",
                 f"http://127.0.0.1:{port}"]
        return subprocess.run([BUILD / "gpufathom", *words], env=given, capture_output=True,
                              text=True, check=True).stderr

    server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    assert f"sending to http://127.0.0.1:{port}/v1/metrics" in monitor(port)
    server.shutdown()
    server.server_close()
    assert requests, "nothing was sent"
    for path, kind, body in requests:
        assert (path, kind) == ("/v1/metrics", "application/x-protobuf"), (path, kind)
        assert len(ExportMetricsServiceRequest.FromString(body).resource_metrics) == 1
    said = monitor(port)
    assert said.count("cannot be sent to: Connection refused") == 1, said


if __name__ == "__main__":
    main()
    pushed()
