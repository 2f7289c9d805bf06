#!/usr/bin/env bash
# A real Prometheus scrapes `gpufathom monitor --serve` over the fake driver libraries; promtool finds no fault in the
# page; a second of hard scraping leaves the program's memory flat. Usage: prometheus.sh BUILD_DIR. Exit 77: not installed.
set -euo pipefail
build=$(cd "$1" && pwd)
tools=$(cd "$(dirname "$0")/../.." && pwd)/.cache/prometheus/usr/bin
export PATH="$PATH:$tools" GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=gpus=2
command -v prometheus >/dev/null && command -v promtool >/dev/null || { echo "prometheus is not installed: ./dev setup"; exit 77; }
work=$(mktemp -d)
pids=()
finish() { for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; wait "$p" 2>/dev/null || true; done; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }

"$build/gpufathom" monitor --serve 127.0.0.1:0 --interval 0.2 2>"$work/monitor.err" &
pids+=($!)
monitor=$!
for _ in $(seq 50); do grep -q serving "$work/monitor.err" && break; sleep 0.1; done
url=$(grep -o 'http://[^ ]*' "$work/monitor.err") || fail "monitor does not serve: $(cat "$work/monitor.err")"
sleep 0.6

curl -sf "$url" > "$work/page" || fail "no page"
promtool check metrics < "$work/page" 2> "$work/lint" || fail "promtool: $(cat "$work/lint")"
[ ! -s "$work/lint" ] || fail "promtool complains: $(cat "$work/lint")"
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

rss() { awk '/VmRSS/ {print $2}' "/proc/$monitor/status"; }
scrape() { for _ in $(seq "$1"); do echo "url = \"$url\""; echo "output = /dev/null"; done | curl -sK -; }
scrape 100; before=$(rss)
scrape 600; after=$(rss)
[ $((after - before)) -le 512 ] || fail "memory grew from $before to $after kB in 600 scrapes"
echo "ok: scraped by Prometheus, promtool is content, memory $before -> $after kB over 600 scrapes"
