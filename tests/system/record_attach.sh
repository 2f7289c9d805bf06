#!/usr/bin/env bash
# `record --pid` over the fake driver libraries: a running program, with and without the agent asleep in it (`gpufathom run`);
# attached and detached again and again, with nothing left behind. Usage: record_attach.sh BUILD_DIR [CYCLES]
set -uo pipefail
build=$(cd "$1" && pwd) cycles=${2:-12}
gf=$build/gpufathom program=$build/fakes/program
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
work=$(mktemp -d)
cd "$work"
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
failures=0
check() {  # check NAME CONDITION...
  local name=$1; shift
  if "$@"; then echo "ok    $name"; else echo "FAILED $name: $*"; failures=$((failures + 1)); fi
}
ask() { "$gf" query "$1" "$2" --format csv | tail -n +2; }
is() { check "$1" [ "$2" = "$3" ]; }
# A busy machine gives a recording less of its time: each waits for what it is about, none for a clock.
wait_for() { for _ in $(seq 600); do "$@" && return; sleep 0.05; done; echo "never: $*" >&2; }
attached() { [ "$(traces "$1")" != "$before" ]; }
let_go() { [ "$(traces "$1")" = "$before" ]; }
record_until() {  # record_until FILE CONDITION ARGS...: again for four times as long until the condition holds
  local file=$1 condition=$2 seconds; shift 2
  for seconds in 0.25 1 4 16; do
    "$gf" record "$@" --kernels --window 0 --duration $seconds -o "$file" 2> "$file.err" || return
    [ "$(ask "$file" "select $condition")" = 1 ] && return
  done
}
enough="(select count(*) from activities) >= 20 and (select count(*) from steps) >= 3"
traces() { ls "/proc/$1/fd" | wc -l; ls "/proc/$1/task" | wc -l; grep -c gpufathom "/proc/$1/maps"; }  # what a process holds

# Levels of a program that nobody prepared.
"$program" init launch=work*4000ms report > plain.txt & plain=$!
sleep 0.5
"$gf" record --pid $plain --duration 1 -o plain.gpf 2> plain.err; is "a running program: exit code" $? 0
check "its levels" [ "$(ask plain.gpf "select count(*) > 50 from counter_samples where metric = 'gpu.busy'")" = 1 ]
check "its processor and memory" [ "$(ask plain.gpf "select count(*) > 0 from counter_samples where metric = 'host.memory' and value > 0")" = 1 ]
is "its command and number" "$(ask plain.gpf "select count(*) from metadata where key = 'record.command' and value like '%program' or key = 'record.pid' and value = '$plain'")" 2
"$gf" record --pid $plain --kernels --duration 0.7 -o none.gpf 2> none.err; is "kernels of it: exit code" $? 1
check "kernels of it: what to do, once" [ "$(grep -c '^gpufathom: kernels are not recorded: .*gpufathom run -- COMMAND' none.err)" = 1 ]
"$gf" record --pid $plain -o end.gpf 2> end.err; is "without --duration it ends with the program" $? 0
check "which ended by itself" grep -q '^launched ' plain.txt
"$gf" record --pid 999999999 -o no.gpf 2> no.err; is "a process that is not there" $? 1
check "is said" grep -q 'there is no process 999999999' no.err
"$gf" record --pid 1 -o no.gpf -- true 2> no.err; is "a command and a process" $? 2

# Kernels of one that was started to be recorded later.
run() { "$gf" run -- "$program" "$@"; }
is "a program under run ends as it would alone" "$(run init launch=work*3 report; echo $?)" "$(printf 'launched 3\n0')"
"$gf" run -- "$work/nothing" 2> missing.err; is "one that is not there" $? 127
"$gf" run -- "$program" init serve=stop > served.txt & server=$!
sleep 0.7
before=$(traces $server)
for cycle in $(seq "$cycles"); do
  record_until "cycle-$cycle.gpf" "$enough" --pid $server; codes=$((${codes:-0} + $?))
done
is "$cycles times attached: exit codes" "$codes" 0
recorded=0 alike=0
for cycle in $(seq "$cycles"); do
  got=$(ask "cycle-$cycle.gpf" "select $enough and (select count(*) from recording_windows) = 1 and (select count(*) from activities a where a.correlation not in (select correlation from api_calls)) <= 1 + (select count(*) from activities a where a.correlation < (select min(correlation) from api_calls))")
  [ "$got" = 1 ] && recorded=$((recorded + 1))
  [ "$(ask "cycle-$cycle.gpf" "select count(*) from quality where code in ('no_time', 'no_kernel', 'bad_agent_file', 'outside_window')")" = 0 ] && alike=$((alike + 1))
done
is "each has kernels, their launches, steps and one window" "$recorded" "$cycles"
is "and no damage" "$alike" "$cycles"
is "nothing is left in the program" "$(traces $server)" "$before"
is "nor on the disk" "$(ls -A | grep -c gpufathom-)" 0
"$gf" record -q --pid $server --kernels --window 0 -o killed.gpf & recorder=$!
wait_for attached $server; sleep 0.3; kill -9 $recorder; wait $recorder 2>/dev/null
wait_for let_go $server
record_until after.gpf "(select count(*) from activities) > 50" --pid $server
is "what stays in the program is said, once" "$(grep -c '^gpufathom: CUPTI keeps tracing the program until it ends' after.gpf.err)" 1
check "after a recorder that was killed" [ "$(ask after.gpf "select count(*) > 50 from activities")" = 1 ]
is "nothing is left of that one either" "$(traces $server) $(ls -A | grep -c gpufathom-)" "$before 0"
"$gf" record -q --pid $server --kernels --window 0 -o first.gpf & first=$!
wait_for attached $server
"$gf" record --pid $server --kernels --window 0 --duration 0.3 -o second.gpf 2> second.err
sleep 0.3; kill -INT $first; wait $first
check "and the other the reason" grep -q 'are not recorded: process [0-9]* is already being recorded' second.err
check "two recorders at once: one has the kernels" [ "$(ask first.gpf "select count(*) > 50 from activities")$(ask second.gpf "select count(*) from activities")" = 10 ]
touch stop
wait $server; is "the program went on all the while, and ends well" "$?, $(sed 's/[0-9]*$//' served.txt)" "0, answered "

# A recorder goes while the GPU still has work in its queue.
rm -f stop
GPUFATHOM_FAKE=behind_ms=40 GPUFATHOM_FAKE_LOG=$work/forced.log "$gf" run -- "$program" init serve=stop > queued.txt & server=$!
sleep 0.5
for cycle in 1 2 3 4; do record_until "queued-$cycle.gpf" "(select count(*) from activities) > 20" --pid $server; done
check "let go with kernels in the queue: CUPTI is not made to give out what has not run" [ ! -s forced.log ]
touch stop
wait $server; is "let go with kernels in the queue: the program ends well" "$?, $(sed 's/[0-9]*$//' queued.txt)" "0, answered "
check "and its kernels are there each time" [ "$(for cycle in 1 2 3 4; do ask queued-$cycle.gpf "select count(*) > 20 from activities"; done | tr -d '\n')" = 1111 ]

# The GPU always has work in its queue, before and after a recorder: CUPTI hands over full buffers alone.
rm -f stop
GPUFATHOM_FAKE=behind_ms=40,whole_buffers=1 "$gf" run -- "$program" init serve=stop > busy.txt & server=$!
sleep 0.5
for cycle in 1 2; do record_until "busy-$cycle.gpf" "(select count(*) from activities) > 100" --pid $server; done
touch stop; wait $server
is "let go with a queue that is never empty: no launch without its kernel" "$(for cycle in 1 2; do ask busy-$cycle.gpf "select (select count(*) > 100 from activities), (select count(*) from quality where code in ('no_time', 'no_kernel'))"; done | tr '\n' ' ')" "1,0 1,0 "

# CUPTI ends a program in which anything that it traced is switched off (docs/record.md): nothing is. Threads launch, copy,
# begin and end meanwhile.
is "40 attachments in a crowd of threads, where CUPTI bears no disabling" "$(GPUFATHOM_FAKE=disabling=2,kernel_us=200 "$gf" run -- "$build/fakes/crowd" 40; echo $?)" "$(printf '40 cycles, 40 served, 40 with records, many launches\n0')"

# Windows by themselves, and a program that starts CUDA while it is watched.
"$gf" run -- "$program" sleep=1500 init launch=work*6000ms & late=$!
"$gf" record -q --pid $late --kernels -o late.gpf
check "CUDA started under the recorder's eyes: windows open by themselves" [ "$(ask late.gpf "select count(*) >= 2 and max(duration_ns) > 1.5e9 from recording_windows")" = 1 ]

[ $failures = 0 ] && echo "all well" || { echo "$failures failed"; exit 1; }
