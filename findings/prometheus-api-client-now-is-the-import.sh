#!/usr/bin/env bash
# Guess: get_metric_range_data() of prometheus-api-client gives the last ten minutes when no times are passed, and with
# chunk_size the same samples as without.
# So it is: the default times are taken when the module is imported: a service that has run for a day gets the ten minutes
# before its start again and again. With chunks a sample on a boundary is in both from Prometheus 2, whose ranges hold both
# ends (those of 3 do not): with a sample every 30 s and chunks of a minute the power of an hour sums up to 1.49 times
# that of one query in MetricRangeDataFrame and in the list; MetricsList drops the copies.
# Why: a monitor of GPUs shows the load before its own start, and energy from a download in parts is half too high.
# Versions: prometheus-api-client 0.7.2, pandas 2.3.3. The server is stood in for, with the ranges of Prometheus 2 and 3.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q "prometheus-api-client[dataframe]==0.7.2" pandas==2.3.3 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import datetime, http.server, importlib.metadata, json, threading, time, urllib.parse
from prometheus_api_client import MetricRangeDataFrame, MetricsList, PrometheusConnect
print("prometheus-api-client", importlib.metadata.version("prometheus-api-client"))
imported, WATTS, EVERY, ranges = time.time(), 300, 30, []
METRIC = {"__name__": "DCGM_FI_DEV_POWER_USAGE", "gpu": "0"}


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
        end, length = float(asked["time"][0]), int(asked["query"][0].split("[")[1].split("s")[0])
        ranges.append((length, end))
        first = int(end - length) // EVERY * EVERY
        values = [[at, str(WATTS)] for at in range(first, int(end) + 1, EVERY) if (at >= end - length if server_version == 2 else at > end - length) and at <= end]
        body = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [{"metric": METRIC, "values": values}]}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
client, server_version = PrometheusConnect(url=f"http://127.0.0.1:{server.server_port}"), 3
for wait in 0, 4:
    time.sleep(wait)
    client.get_metric_range_data("DCGM_FI_DEV_POWER_USAGE")
print("the same end four seconds later:", ranges[0] == ranges[1], "; the end is that of the import:", abs(ranges[1][1] - imported) < 60, "; length", ranges[1][0])
start = datetime.datetime.fromtimestamp(1_700_000_010)
for server_version in 2, 3:
    for minutes in None, 1:
        got = client.get_metric_range_data("DCGM_FI_DEV_POWER_USAGE", start_time=start, end_time=start + datetime.timedelta(hours=1),
                                           chunk_size=minutes and datetime.timedelta(minutes=minutes))
        frame, listed = MetricRangeDataFrame(got), MetricsList(got)[0].metric_values
        print(f"Prometheus {server_version},", f"chunks of {minutes} minute:" if minutes else "one query:", f"{len(frame)} samples, {frame['value'].sum() * EVERY / 1000:.0f} kJ;",
              f"MetricsList {len(listed)}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
prometheus-api-client 0.7.2
the same end four seconds later: True ; the end is that of the import: True ; length 600
Prometheus 2, one query: 121 samples, 1089 kJ; MetricsList 121
Prometheus 2, chunks of 1 minute: 180 samples, 1620 kJ; MetricsList 121
Prometheus 3, one query: 120 samples, 1080 kJ; MetricsList 120
Prometheus 3, chunks of 1 minute: 120 samples, 1080 kJ; MetricsList 120
END
