#!/usr/bin/env bash
# `monitor --serve --steps` beside an engine under `gpufathom run`, over the fake driver libraries: tokens, times and joules of its steps by
# kind come to Prometheus; of a program that serves nothing none do; nothing is left behind. Usage: monitor_steps.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd) gf=$build/gpufathom program=$build/fakes/program
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
work=$(mktemp -d) monitor=
export TMPDIR=$work/tmp; mkdir "$TMPDIR"
trap 'kill -KILL $monitor $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
. "$root/tests/system/recording.bash"
serve() {  # PID OPTIONS: starts a monitor that sees the process on the GPU, sets url
  rm -f err
  GPUFATHOM_FAKE=pid=$1 "$gf" monitor --interval 0.2 --serve 127.0.0.1:0 "${@:2}" 2> err & monitor=$!
  wait_for grep -q serving err || { cat err; exit 1; }
  url=$(grep -o 'http://[^ ]*' err)
}
runs() { [ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$program")" ]; }
end() { kill -TERM "$monitor"; wait "$monitor"; is "SIGTERM ends it" $? 0; monitor=; }
scrape() { curl -s --max-time 5 "$url" > page; }
has() { scrape && grep -q "$1" page; }
value() { grep "^$1" page | head -1 | sed 's/.* //'; }

# Of ten steps, one computes prompts and nine decode for four requests.
steps=()
for _ in $(seq 400); do
  steps+=("push=step[EXTEND bs=2 toks=200]" "launch=prompt*4" pop)
  for _ in $(seq 9); do steps+=("push=step[DECODE bs=4]" "launch=token*2" pop); done
done
"$gf" run -- "$program" init "${steps[@]}" report > engine.txt & engine=$!
wait_for runs $engine
serve $engine --steps 1.5 --steps-every 2
check "steps of the engine come" wait_for has 'gpufathom_serving_step_seconds{.*kind="decode"'
is "by its number" "$(grep -c "^gpufathom_serving_step_seconds{pid=\"$engine\",.*kind=\"decode\",quantile=\"0.5\"}" page)" 1
is "prompts too" "$(grep -c '^gpufathom_serving_steps_per_second{.*kind="prefill"}' page)" 1
check "nine times as many decode" [ "$(awk '/^gpufathom_serving_steps_per_second/ {v[/decode/] = $2} END {print (v[1] / v[0] > 7 && v[1] / v[0] < 11)}' page)" = 1 ]
check "four tokens each" [ "$(awk '/^gpufathom_serving_steps_per_second.*decode/ {s = $2} /^gpufathom_serving_kind_tokens_per_second.*decode/ {t = $2} END {print (t / s > 3.99 && t / s < 4.01)}' page)" = 1 ]
is "and so many requests" "$(value gpufathom_serving_requests)" 4
is "what is not known is absent" "$(grep -c 'gpufathom_serving_first_token_seconds' page)" 0
check "a kind's share is a share" [ "$(awk '/^gpufathom_serving_time_ratio/ {s += $2} END {print (s > 0.999 && s < 1.001)}' page)" = 1 ]
first=$(value gpufathom_serving_window_end_seconds)
later() { scrape && [ "$(value gpufathom_serving_window_end_seconds)" != "$first" ]; }
check "and a later window" wait_for later
# The dashboard asks for all of these, and for nothing that never comes.
jq -r '.panels[].targets[].expr' "$root/docs/grafana_serving.json" | grep -o 'gpufathom_serving_[a-z_]*' | sort -u > asked
grep -o '^gpufathom_serving_[a-z_]*' page | sort -u > served
is "the dashboard asks for all that is served" "$(comm -13 asked served)" ""
is "and for nothing else" "$(sed 's/gpufathom_serving_\(.*\)/"\1"/' asked | while read -r name; do grep -qF "$name" "$root/src/report/serving_series.cpp" || echo "$name"; done)" ""
curl -s "${url%/metrics}/json" > table.json
is "in JSON likewise" "$(jq -r '.serving[0] | "\(.pid) \(.source) \([.kinds[].kind] | sort | join(","))"' table.json)" "$engine marks:step decode,prefill"
end
is "nothing is left" "$(ls -A "$TMPDIR" | wc -l) $(ls -A | grep -c gpufathom-)" "0 0"
kill $engine; wait $engine 2>/dev/null

# Another program has no such series, nor has a monitor that was not asked.
"$gf" run -- "$program" init serve=stop > served.txt & other=$!
wait_for runs $other
serve $other --steps 0.5 --steps-every 1
tried() { ls "$TMPDIR"/gpufathom-steps-*/[2-9]_* > /dev/null 2>&1; }
check "it is looked at" wait_for tried
is "a program that serves nothing has none" "$(scrape; grep -c gpufathom_serving page)" 0
end
serve $other
scrape; is "nor has a monitor without --steps" "$(grep -c gpufathom_serving page)" 0
end
touch stop; wait $other; is "the program went on" $? 0
is "--steps-every needs --steps" "$("$gf" monitor --once --steps-every 5 > out 2>&1; echo $?)" 2
[ $failures = 0 ]
