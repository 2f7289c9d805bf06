#!/usr/bin/env bash
# `gpufathom monitor --serve` among clients that mean ill, and over a driver that hangs. Usage: monitor_hostile.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
export GPUFATHOM_LIBRARY_PATH=$build/fakes
work=$(mktemp -d)
monitor=
finish() { if [ -n "$monitor" ]; then kill "$monitor" 2>/dev/null || true; fi; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
serve() {  # WORDS: starts a monitor, sets url
  : > "$work/err"
  "$build/gpufathom" monitor --interval 0.5 --serve 127.0.0.1:0 "$@" 2> "$work/err" &
  monitor=$!
  for _ in $(seq 100); do grep -q serving "$work/err" && break; sleep 0.1; done
  url=$(grep -o 'http://[^ ]*' "$work/err") || fail "it does not serve: $(cat "$work/err")"
  url=${url%/metrics}
}
ended() {  # CODE: on SIGTERM it ends soon, with this code
  local code=0
  kill -TERM "$monitor"
  timeout 8 tail --pid="$monitor" -f /dev/null || fail "SIGTERM does not end it"
  wait "$monitor" || code=$?
  [ "$code" = "$1" ] || fail "it ends with $code"
  monitor=
}
status() { curl -s -o "$work/body" -w '%{http_code}' --max-time 5 "$@"; }
expect() {  # STATUS WORDS OF CURL
  local wanted=$1 got
  shift
  got=$(status "$@") || true
  [ "$got" = "$wanted" ] || fail "curl $* answers $got, not $wanted"
}

export GPUFATHOM_FAKE=gpus=2
serve
# Whom it answers, and what.
expect 200 "$url/metrics"
expect 200 --head "$url/metrics"
expect 200 "$url/healthz"
expect 404 "$url/../../etc/passwd"
expect 421 -H 'Host: evil.example' "$url/metrics"
expect 200 -H "Host: $(uname -n)" "$url/metrics"
expect 200 -H 'Host: 10.1.2.3:9400' "$url/metrics"
expect 400 -H 'Host:' "$url/metrics"
for host in '127.0.0.1:1@evil.example' 'localhost:80:80' '[::1' '[::1]evil.example' 'local host' '127.0.0.1:port'; do
  expect 400 -H "Host: $host" "$url/metrics"
done
expect 200 -H 'Host: [::1]:9400' "$url/metrics"
expect 405 -X DELETE "$url/metrics"
expect 413 -d 'a body' "$url/metrics"
expect 431 -H "X-Long: $(head -c 9000 /dev/zero | tr '\0' a)" "$url/metrics"
expect 414 "$url/$(head -c 9000 /dev/zero | tr '\0' a)"
ended 0

# A token, which no other user can read from the list of processes.
printf '%s\n' 0123456789abcdef0123456789abcdef > "$work/token"
serve --token-file "$work/token" --allow-host scraper.example
expect 401 "$url/metrics"
expect 401 -H 'Authorization: Bearer 0123456789abcdef0123456789abcdee' "$url/json"
expect 200 -H 'Authorization: Bearer 0123456789abcdef0123456789abcdef' "$url/metrics"
expect 200 -H 'Authorization: Bearer 0123456789abcdef0123456789abcdef' -H 'Host: scraper.example' "$url/metrics"
expect 200 "$url/healthz"
ended 0
"$build/gpufathom" monitor --once --serve 0.0.0.0:0 2> "$work/err" && fail "it serves strangers without a token"
grep -q 'no token is set' "$work/err" || fail "strangers: $(cat "$work/err")"
GPUFATHOM_TOKEN=short "$build/gpufathom" monitor --once --serve :0 2> "$work/err" && fail "it takes a token of five letters"
GPUFATHOM_TOKEN=0123456789abcdef "$build/gpufathom" monitor --once --serve 0.0.0.0:0 > "$work/out" 2>&1 || fail "it does not serve with a token"

# Five attacks at once. The limits on time are those of a machine that does other things too.
python3 "$root/bench/monitor_attacks.py" "$build" --seconds 8 --every 0.2 --most-ms 2000 || fail "attacks"

# The driver hangs for one GPU: its readings grow old, vanish and come back; the other's do not.
export GPUFATHOM_FAKE=gpus=2,hang_after=2,hang_gpu=1,hang_for=8
serve
ages() { curl -s "$url/metrics" | awk '/^gpufathom_reading_age_seconds{/ { print int($2) }' | tr '\n' ' '; }
powers() { curl -s "$url/metrics" | grep -c '^gpufathom_power_module_watts{' || true; }
[ "$(powers)" = 2 ] || fail "two GPUs have power"
for _ in $(seq 60); do [ "$(status "$url/healthz")" = 503 ] && break; sleep 0.1; done
grep -q '^GPU 1: the driver has not answered for [0-9]* s$' "$work/body" || fail "health of a driver that hangs: $(cat "$work/body")"
sleep 0.3  # a page serves a quarter of a second
[ "$(powers)" = 1 ] || fail "a reading that is old is served as new"
read -r young old <<< "$(ages)"
[ "$young" -lt 2 ] && [ "$old" -ge 2 ] || fail "ages of the readings: $young, $old"
for _ in $(seq 100); do [ "$(status "$url/healthz")" = 200 ] && break; sleep 0.1; done
sleep 0.3
[ "$(powers)" = 2 ] || fail "the driver is back, the readings are not"
ended 0

# A process on the GPU that calls itself what would end a label, a line or a page.
for name in 'a"} 1' $'x\\\n# EOF' $'\x1b[31m\xff' '{le="+Inf"} 9' $'::error::\r\t'; do
  python3 -c 'import ctypes, os, sys, time; ctypes.CDLL(None).prctl(15, os.fsencode(sys.argv[1]), 0, 0, 0); time.sleep(60)' "$name" & evil=$!
  sleep 0.4
  export GPUFATHOM_FAKE=pid=$evil
  serve
  sleep 0.8
  for accept in text/plain application/openmetrics-text; do
    curl -s -H "Accept: $accept" "$url/metrics" > "$work/page"
    python3 "$root/tests/system/openmetrics.py" "$work/page" "$evil" || fail "a process called $(printf %q "$name") breaks the page of $accept"
  done
  curl -s "$url/json" | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "a process called $(printf %q "$name") breaks the JSON"
  ended 0
  kill $evil
  wait $evil 2> /dev/null || true
done

# It hangs in every call, for ever: a signal ends the program all the same.
export GPUFATHOM_FAKE=hang_after=1
serve
sleep 5
[ "$(status "$url/healthz")" = 503 ] || fail "all is well, it says"
ended 0
GPUFATHOM_FAKE=hang_after=0 "$build/gpufathom" monitor --once 2> "$work/err" & monitor=$!
sleep 0.5
ended 1
code=0; GPUFATHOM_FAKE=hang_after=0.15 "$build/gpufathom" monitor --once > "$work/out" 2> "$work/err" || code=$?
[ "$code" = 1 ] && grep -q 'GPU 0: the driver has not answered' "$work/err" || fail "one reading that never came: $code $(cat "$work/err")"
echo "ok: limits, hosts, tokens, five attacks, a driver that hangs"
