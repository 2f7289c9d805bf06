#!/usr/bin/env bash
# The recording rules and the dashboard of a fleet: promtool judges the rules on made-up series, and a real Prometheus that scrapes a monitor
# of a job over the fake driver answers what the dashboard asks. Usage: fleet.sh BUILD_DIR. Exit 77: not installed.
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
export PATH="$PATH:$root/.cache/prometheus/usr/bin" GPUFATHOM_LIBRARY_PATH=$build/fakes
command -v prometheus >/dev/null && command -v promtool >/dev/null || { echo "prometheus is not installed: ./dev setup"; exit 77; }
work=$(mktemp -d)
pids=()
finish() { for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; wait "$p" 2>/dev/null || true; done; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
rules=$root/share/prometheus/gpufathom.rules.yml

promtool check rules "$rules" > "$work/check" || fail "promtool: $(cat "$work/check")"
sed "s|RULES|$rules|" "$root/tests/system/fleet_rules.yml" > "$work/test.yml"
promtool test rules "$work/test.yml" > "$work/judged" 2>&1 || fail "promtool: $(cat "$work/judged")"
python3 "$root/tests/system/fleet_day.py" || fail "rules and truth of a simulated fleet differ"

env -i SLURM_JOB_ID=7 SLURM_JOB_NAME=train SLURM_JOB_USER=ann SLURM_PROCID=0 SLURM_NTASKS=1 POD_NAME=x "$(command -v sleep)" 300 &
pids+=($!)
GPUFATHOM_TOKEN=a-token-of-24-characters GPUFATHOM_FAKE=gpus=2,pid=$! "$build/gpufathom" monitor --source pm --serve 127.0.0.1:0 --job-labels --interval 0.2 2>"$work/monitor.err" &
pids+=($!)
for _ in $(seq 50); do grep -q serving "$work/monitor.err" && break; sleep 0.1; done
address=$(grep -o '127[^ /]*' "$work/monitor.err" | head -n 1)
[ -n "$address" ] || fail "monitor does not serve: $(cat "$work/monitor.err")"
port=$((20000 + RANDOM % 20000))
# The shipped scrape configuration, with this monitor's address and token.
curl -sf "http://$address/metrics" > "$work/open" && fail "the monitor serves without its token"
echo a-token-of-24-characters > "$work/token"
sed "s|gpufathom.rules.yml|$rules|; s|targets: .*|targets: ['$address']|; s|interval: 30s|interval: 1s|; s|/etc/prometheus/gpufathom.token|$work/token|" \
  "$root/share/prometheus/scrape.yml" > "$work/prometheus.yml"
echo 'global: {evaluation_interval: 1s}' >> "$work/prometheus.yml"
promtool check config "$work/prometheus.yml" > "$work/check" || fail "promtool: $(cat "$work/check")"
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" --web.listen-address="127.0.0.1:$port" --log.level=error > "$work/prometheus.log" 2>&1 &
pids+=($!)
ask() { curl -sfG "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$1"; }
for _ in $(seq 80); do
  ask 'job:gpufathom_issue_active:avg_rate5m{job_id="7", job_user="ann"}' 2>/dev/null | jq -e '.data.result | length == 1' > /dev/null && break
  sleep 0.25
done
jq -r '.panels[].targets[].expr' "$root/docs/grafana_fleet.json" > "$work/queries"
[ "$(wc -l < "$work/queries")" -ge 20 ] || fail "the dashboard has few queries"
answered=0
while read -r query; do
  ask "$query" > "$work/answer" || fail "the dashboard asks what Prometheus does not understand: $query"
  # Nothing of this job has been idle for ten minutes, and it is in no pod.
  case $query in *held_idle*|pod:*) continue;; esac
  jq -e '.data.result | length >= 1' "$work/answer" > /dev/null || fail "the dashboard asks for what is not there: $query"
  answered=$((answered + 1))
done < "$work/queries"
ask 'count by (instance) (gpufathom_gpu_info)' | jq -e '.data.result[0].metric.instance == "127.0.0.1"' > /dev/null || fail "the host is not the instance"
ask 'job:gpufathom_gpus:count{job_id="7"}' | jq -e '.data.result[0].value[1] == "2"' > /dev/null || fail "GPUs of the job"
echo "ok: promtool is content, $answered queries of the dashboard are answered"
