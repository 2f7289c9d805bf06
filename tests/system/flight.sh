#!/usr/bin/env bash
# `gpufathom monitor --flight`: the ring, captures around what the driver reports and people ask for, one recorder a folder, a monitor that
# is killed, a folder that cannot be used, bounds. Usage: flight.sh BUILD_DIR. What is unusual: the unit tests of FlightWatch.
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd) gf=$build/gpufathom
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_TOKEN=0123456789abcdef0123
work=$(mktemp -d)
monitor=
finish() { if [ -n "$monitor" ]; then kill -KILL "$monitor" 2>/dev/null || true; fi; rm -rf "$work"; }
trap finish EXIT
cd "$work"
. "$root/tests/system/recording.bash"
serve() {  # OPTIONS: starts a monitor, sets url
  rm -f err  # what the one before said
  "$gf" monitor --interval 0.5 --serve 127.0.0.1:0 ${around---flight-around 2} "$@" 2> err & monitor=$!
  wait_for grep -q serving err || { cat err; exit 1; }
  url=$(grep -o 'http://[^ ]*' err); url=${url%/metrics}
}
post() { curl -s -o /dev/null -w '%{http_code}' --max-time 5 -X "$1" ${3:+-H "$3"} "$url$2"; }
kinds() { sed 's/.*"kind":"\([a-z_]*\)".*/\1/' "$1/moments.jsonl" 2>/dev/null | sort -u | tr '\n' ' '; }
has_kinds() { [ "$(kinds "$1")" = "$2" ]; }
has_captures() { [ "$(ls "$1" | wc -l)" -ge "$2" ]; }
free() { flock -n "$1/lock" true; }
token="Authorization: Bearer $GPUFATHOM_TOKEN"

export GPUFATHOM_FAKE=gpus=2,xid=79,xid_after=3
serve --flight fl
is "a capture is not asked for without the token" "$(post POST /flight)" 401
is "nor by GET" "$(post GET /flight "$token")" 405
is "nothing else is posted" "$(post POST /metrics "$token")" 405
is "a second recorder in the folder is refused" "$("$gf" monitor --once --flight fl > out 2>&1; echo $?)" 1
check "and says why" grep -q 'another flight recorder uses this folder' out
check "the driver's error is kept" wait_for has_kinds fl "xid "
is "asked for over HTTP" "$(post POST /flight "$token")" 202
kill -USR1 "$monitor"
check "and by a signal" wait_for has_kinds fl "asked xid "

# What was kept, for a browser: the token is the password.
browse() { curl -s --max-time 5 -u "any:$GPUFATHOM_TOKEN" "$@"; }
code() { curl -s -o /dev/null -w '%{http_code}' --max-time 5 "$@"; }
listed() { browse "$url/captures" | grep -o 'captures/[^"]*_gpu0_xid.html'; }
made() { browse -o page.html -w '%{http_code}' "$url/$(listed)" | grep -q 200; }
is "captures are not listed without the token" "$(code "$url/captures")" 401
is "nor with another" "$(code -u any:0123456789abcdef0124 "$url/captures")" 401
is "and no other page takes it as a password" "$(code -u "any:$GPUFATHOM_TOKEN" "$url/metrics")" 401
check "the list has a link to the page of the capture" wait_for listed
check "which is made when asked for" wait_for made
check "and is a page" grep -q '<title>' page.html
check "the file is the capture" cmp <(browse "$url/$(listed | sed 's/html$/gpf/')") fl/*_gpu0_xid.gpf
is "nothing else of the folder is sent" "$(for path in lock moments.jsonl ring 1/../moments.jsonl 2026_asked.gpf .page.html ../fl/1.gpf; do code --path-as-is -u "any:$GPUFATHOM_TOKEN" "$url/captures/$path"; done)" 404404404404404404404
ln -s /etc/passwd fl/2026_asked.gpf
is "nor what a link leads to" "$(for end in html gpf; do code -u "any:$GPUFATHOM_TOKEN" "$url/captures/2026_asked.$end"; done)" 404404
rm fl/2026_asked.gpf
is "no page is left" "$(ls -A fl | grep -c html)" 0
kill -TERM "$monitor"; wait "$monitor" && code=0 || code=$?; monitor=
is "SIGTERM ends it" "$code" 0
check "and the recorder" free fl
capture=$(ls fl/*_gpu0_xid.gpf)
check "the capture says why it was kept" grep -q 'kept by the flight recorder: GPU 0: the driver reported XID 79' <("$gf" analyze "$capture" | tr -s '\n ' ' ')
is "it holds what was before, and after" "$("$gf" query "$capture" --csv "select max(start_ns + duration_ns) - min(start_ns) between 2500000000 and 6500000000 from counter_samples where device = 0" | tail -1)" 1
is "of both GPUs" "$("$gf" query "$capture" --csv "select count(distinct device) from counter_samples where device >= 0" | tail -1)" 2
is "every entry names a capture that is there" "$(grep -o '"capture":"[^"]*"' fl/moments.jsonl | cut -d'"' -f4 | while read -r name; do [ -f "fl/$name" ] || echo "$name"; done)" ""
is "nobody else reads them" "$(find fl -type f -perm /077)" ""
for file in fl/ring/*.gpf; do check "the ring is made of captures: $file" "$gf" analyze "$file" -o /dev/null; done

# A key at the terminal ends both; what was asked for is not lost.
export GPUFATHOM_FAKE=gpus=1
set -m; serve --flight key; set +m
for _ in $(seq 200); do post POST /flight "$token"; done > /dev/null
sleep 1
kill -INT -- -"$monitor"; wait "$monitor" || true; monitor=
is "Ctrl-C keeps what was asked for" "$(kinds key)" "asked "
check "and a flood of requests is bounded" test "$(grep -o '"capture":"[^"]*"' key/moments.jsonl | sort | uniq -c | sort -n | awk 'END {print $1}')" -le 64

serve --flight killed
post POST /flight "$token" > /dev/null
kill -KILL "$monitor"; wait "$monitor" 2>/dev/null || true; monitor=
check "a monitor that is killed takes its recorder along" wait_for free killed
is "which keeps what was asked for" "$(kinds killed)" "asked "
serve --flight killed --flight-mb 16
check "the next one goes on in the same folder" wait_for has_captures killed/ring 2
kill -TERM "$monitor"; wait "$monitor" || true; monitor=

# Kernels of a program under `gpufathom run`: at the moment, in its capture. Its number is the fake driver's holder of the GPU.
GPUFATHOM_FAKE=gpus=1 "$gf" run -- "$build/fakes/program" init serve=stop > served 2>&1 & program=$!
export GPUFATHOM_FAKE=gpus=1,pid=$program
around='--flight-around 4' serve --flight kern --flight-kernels 0.4
sleep 2.5  # the first reading of the processes
is "kernels are asked for" "$(post POST /flight "$token")" 202
check "they are recorded" wait_for grep -q '"kernel_windows":1' kern/moments.jsonl
kill -TERM "$monitor"; wait "$monitor" || true; monitor=
capture=$(ls kern/*_asked.gpf)
is "kernels and levels are in one capture" "$("$gf" query "$capture" --csv "select (select count(*) from kernels) > 5, (select count(*) from recording_windows), (select count(distinct device) from counter_samples where device >= 0)" | tail -1)" 1,1,1
check "which says why it was kept" grep -q 'kept by the flight recorder: asked for over HTTP' <("$gf" analyze "$capture" | tr -s '\n ' ' ')
is "the program goes on" "$(kill -0 $program && echo yes)" yes
touch stop; wait $program
is "and ends as it would" $? 0
export GPUFATHOM_FAKE=gpus=1,pid=$$
around='--flight-around 1' serve --flight none --flight-kernels 0.4
sleep 2.5
post POST /flight "$token" > /dev/null
check "why there are no kernels of another program" wait_for grep -q "no kernels: .*process $$ must be started with .gpufathom run" none/moments.jsonl
kill -TERM "$monitor"; wait "$monitor" || true; monitor=
unset around

# A recorder that dies is told, and by the exit code; nothing is promised any longer.
export GPUFATHOM_FAKE=gpus=1
serve --flight gone
kill -KILL "$(pgrep -P "$monitor")"
check "a recorder that dies is told" wait_for grep -q 'the flight recorder has ended by signal 9' err
is "and nothing is promised" "$(post POST /flight "$token")" 503
kill -TERM "$monitor"; wait "$monitor" && code=0 || code=$?; monitor=
is "the exit code tells it too" "$code" 1

is "a folder that cannot be made" "$("$gf" monitor --once --flight /proc/none > out 2>&1; echo $?)" 1
check "is named" grep -q '/proc/none.*cannot be made' out
is "options need --flight" "$("$gf" monitor --flight-mb 100 > out 2>&1; echo $?)" 2
around=; serve
is "without it there is none to ask" "$(post POST /flight "$token")" 404
kill -KILL "$monitor"; wait "$monitor" 2>/dev/null || true; monitor=
[ "$failures" = 0 ] && echo "flight: all as expected" || { cat err; exit 1; }
