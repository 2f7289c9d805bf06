#!/usr/bin/env bash
# A program that makes CUDA graphs with conditional nodes ends beneath every way of recording as it
# does alone. The stand-in CUPTI ends it as the real one does where such graphs are traced kernel by
# kernel, or turned into wholes too late. Usage: conditional_graphs.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd)
gf=$build/gpufathom program=$build/fakes/program
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=kernel_us=100
work=$(mktemp -d)
cd "$work"
trap 'rm -rf "$work"' EXIT
failures=0
is() { if [ "$2" = "$3" ]; then echo "ok    $1"; else echo "FAILED $1: $2 instead of $3"; failures=$((failures + 1)); fi; }
ask() { "$gf" query --format csv "$1" "$2" | tail -n +2 | cut -d, -f2-; }

# ends_well WHOSE KERNELS: the program does what $does says beneath every schedule of windows.
ends_well() {
  local how
  for how in "--window 0" "--window 0.1 --every 0.2" "--window 0.1" "" "--window 0.1 --delay 0.1"; do
    "$gf" record -q --kernels $how -o run.gpf -- "$program" $does > out.txt 2> err.txt
    is "$1, record --kernels $how: exit code" $? 0
    is "$1, record --kernels $how: output" "$(cat out.txt)" "launched $2"
  done
}

# The first graph while nothing else has run, another late, when a window may be open or not.
does="init loop=20 launch=a*4000 loop=20 report"
ends_well "graphs with loops" 4000
"$gf" record --kernels --window 0 -o whole.gpf -- "$program" $does > out.txt 2> err.txt
is "each launch is a whole" "$(ask whole.gpf "select count(*) from kernels where name = 'CUDA graph 13'")" 40
is "other kernels are there" "$(ask whole.gpf "select count(*) from kernels where name = 'a'")" 4000
is "the capture says so" "$(ask whole.gpf "select count from quality where code = 'graph_kernels_hidden'")" 40
is "the summary says why" "$(tr -s ' \n' ' ' < err.txt | grep -c 'graphs are recorded as wholes')" 1

# Beside a graph that is ready, kernels are let go of.
does="init ready=20 launch=a*400 loop=20 ready=20 launch=a*4000 report"
ends_well "beside others" 4400
"$gf" record --kernels --window 0 -o beside.gpf -- "$program" $does > out.txt 2> err.txt
is "kernels until then are there" "$(ask beside.gpf "select count(*) from kernels where name = 'a'")" 400
is "the summary says why no others are" \
  "$(tr -s ' \n' ' ' < err.txt | grep -c 'kernels are not recorded any more: the program makes')" 1
code=0; "$gf" analyze beside.gpf > /dev/null 2>&1 || code=$?
is "analyze does not call it whole" $code 1

# What is launched into a stream that is captured runs later, as part of a graph.
"$gf" record -q --kernels --window 0 -o captured.gpf -- "$program" init launch=a*100 capture=300 ready=20
is "a capture's launches are no kernels that are missing" \
  "$(ask captured.gpf "select count(*) from quality where code in ('no_kernel', 'few_without_kernel', 'lost_records', 'few_lost_records')")" 0
is "they are calls" "$(ask captured.gpf "select sum(kind = 'other') || ' ' || sum(kind = 'launch') from api_calls where name = 'cuLaunchKernel'")" "300 100"

# A recorder that comes later: to a graph that was made before.
"$gf" run -- "$program" init loop=3 serve=stop loop=20 > served.txt & served=$!
for attempt in $(seq 100); do
  "$gf" record --kernels --pid $served --window 0 --duration 0.3 -o attached.gpf 2> attached.txt
  grep -q 'kernels are not' attached.txt && break
done
touch stop; wait $served
is "gpufathom run, and a recorder that came: exit code" $? 0
is "it is told why there are no kernels" \
  "$(tr -s ' \n' ' ' < attached.txt | grep -c 'kernels are not recorded: the program makes CUDA graphs')" 1

# A profiler of the program's own has CUPTI between windows only where it is said to be there.
for flag in --own-profiler ""; do
  "$gf" record -q --kernels $flag --window 0.1 --every 3600 -o own.gpf -- \
    "$program" init launch=a*20000 subscribe let-go 2> own.txt
  is "a profiler of the program's own, $flag: exit code" $? 0
  is "CUPTI is taken, $flag" "$(grep -c 'CUPTI is taken' own.txt)" "$([ -z "$flag" ] && echo 1 || echo 0)"
done
[ $failures = 0 ] || { cat err.txt; exit 1; }
