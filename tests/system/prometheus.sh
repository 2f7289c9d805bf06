#!/usr/bin/env bash
# A real Prometheus scrapes `gpufathom monitor --serve` over the fake driver libraries and answers every query of
# docs/grafana.json; promtool finds no fault in the pages; clients that say nothing shut nobody out; a second of hard scraping leaves
# the program's memory flat. Usage: prometheus.sh BUILD_DIR. Exit 77: not installed.
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
tools=$root/.cache/prometheus/usr/bin
export PATH="$PATH:$tools" GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=gpus=2
command -v prometheus >/dev/null && command -v promtool >/dev/null || { echo "prometheus is not installed: ./dev setup"; exit 77; }
work=$(mktemp -d)
pids=()
finish() { for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; wait "$p" 2>/dev/null || true; done; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }

"$build/gpufathom" monitor --source pm --serve 127.0.0.1:0 --interval 0.2 2>"$work/monitor.err" &
pids+=($!)
monitor=$!
for _ in $(seq 50); do grep -q serving "$work/monitor.err" && break; sleep 0.1; done
url=$(grep -o 'http://[^ ]*' "$work/monitor.err") || fail "monitor does not serve: $(cat "$work/monitor.err")"
sleep 0.6

curl -sf "$url" > "$work/page" || fail "no page"
promtool check metrics < "$work/page" 2> "$work/lint" || fail "promtool: $(cat "$work/lint")"
[ ! -s "$work/lint" ] || fail "promtool complains: $(cat "$work/lint")"
# dcgm-exporter's own names, so its own sins: a counter without _total or with its type in its name, labels in camelCase.
"$build/gpufathom" monitor --once --format openmetrics --dcgm-names | sed 's/^# TYPE \(.*\) unknown$/# TYPE \1 counter/; /^# EOF/d' > "$work/dcgm"
promtool check metrics < "$work/dcgm" 2> "$work/lint" || true
grep -q DCGM_FI_PROF_SM_ACTIVE "$work/dcgm" || fail "no DCGM names"
! grep -v 'counter metrics should have "_total" suffix\|label names should be written in\|name should not include type' "$work/lint" || fail "promtool complains about DCGM names: $(cat "$work/lint")"

# One port, one monitor.
if timeout 5 "$build/gpufathom" monitor --count 1 --serve "$(echo "$url" | cut -d/ -f3)" > /dev/null 2> "$work/second"; then fail "two monitors share a port"; fi
grep -q 'is the port taken' "$work/second" || fail "a taken port: $(cat "$work/second")"
if timeout 5 "$build/gpufathom" monitor --interval 0.1 --count 1 --serve '[::1]:0' 2>&1 > /dev/null | tee "$work/six" | grep -q cannot; then echo "skip  IPv6"
else grep -q 'http://\[::1\]:[0-9]*/metrics' "$work/six" || fail "no address to click on: $(cat "$work/six")"; fi

# Clients that connect and say nothing, or hold on to their connection, shut nobody out.
python3 - "$(echo "$url" | cut -d: -f3 | cut -d/ -f1)" <<'PY' || fail "a client shuts others out"
import http.client, socket, sys, time
port = int(sys.argv[1])
silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(12)]
kept = [http.client.HTTPConnection("127.0.0.1", port) for _ in range(12)]
for c in kept:
    c.request("GET", "/metrics")
    assert c.getresponse().read().startswith(b"# TYPE")
start = time.time()
for request, answer in ((b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", b"200"), (b"\0\1garbage\r\n\r\n", b"400"), (b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n", b"414"),
                        (b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000000\r\n\r\n", b"413"), (b"GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404")):
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(request)
    assert s.recv(100).split()[1] == answer, (request[:30], answer)
assert time.time() - start < 4, time.time() - start
PY

curl -sf -H 'Accept: application/openmetrics-text' -D "$work/head" "$url" | tail -1 | grep -qx '# EOF' || fail "OpenMetrics must end in EOF"
grep -qi 'content-type: application/openmetrics-text; version=1.0.0' "$work/head" || fail "wrong content type"

port=$((20000 + RANDOM % 20000))
cat > "$work/prometheus.yml" <<YML
scrape_configs:
  - job_name: gpufathom
    scrape_interval: 1s
    static_configs: [{targets: ['$(echo "$url" | cut -d/ -f3)']}]
YML
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" --web.listen-address="127.0.0.1:$port" --log.level=error > "$work/prometheus.log" 2>&1 &
pids+=($!)
# The fake GPU is 60 % SM-active. rate() extrapolates to the edges of its range, so it needs a few scrapes to settle.
settled() {
  python3 -c '
import json, sys
series = json.load(sys.stdin)["data"]["result"]
sys.exit(not (len(series) == 2 and all(abs(float(s["value"][1]) - 0.6) < 0.06 for s in series)))'
}
answer='{"data":{"result":[]}}'
for _ in $(seq 60); do
  sleep 0.25
  answer=$(curl -sfG "http://127.0.0.1:$port/api/v1/query" --data-urlencode 'query=rate(gpufathom_sm_active_any_seconds_total[4s])' || echo '{"data":{"result":[]}}')
  settled <<< "$answer" && break
done
settled <<< "$answer" || fail "Prometheus answers: $answer; $(cat "$work/prometheus.log")"

# Every panel of the dashboard shows something.
jq -r '.panels[].targets[].expr, (.templating.list[].query | select(startswith("label_values")) | capture("\\((?<name>[^,]*),").name)' "$root/docs/grafana.json" | sed 's/\$host/.*/; s/\$gpu/.*/; s/\$__rate_interval/8s/' > "$work/queries"
[ "$(wc -l < "$work/queries")" -ge 12 ] || fail "the dashboard has few queries: $(cat "$work/queries")"
while read -r query; do
  curl -sfG "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$query" | jq -e '.data.result | length >= 2' > /dev/null || fail "the dashboard asks for what is not served: $query"
done < "$work/queries"

rss() { awk '/VmRSS/ {print $2}' "/proc/$monitor/status"; }
scrape() { for _ in $(seq "$1"); do echo "url = \"$url\""; echo "output = /dev/null"; done | curl -sK -; }
scrape 100; before=$(rss)
scrape 600; after=$(rss)
[ $((after - before)) -le 512 ] || fail "memory grew from $before to $after kB in 600 scrapes"
echo "ok: scraped by Prometheus, promtool is content, memory $before -> $after kB over 600 scrapes"
