#!/usr/bin/env bash
# A driver that hangs, and the verbs that must not hang with it: doctor, record, overhead, calibrate. They say so in good time, and a
# signal ends them at once. Usage: driver_hangs.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd)
gf=$build/gpufathom
export GPUFATHOM_LIBRARY_PATH=$build/fakes
work=$(mktemp -d)
cd "$work"
trap 'rm -rf "$work"' EXIT
failures=0
check() {  # check NAME CONDITION...
  local name=$1; shift
  if "$@"; then echo "ok    $name"; else echo "FAILED $name: $*"; failures=$((failures + 1)); fi
}
hearing() { exec python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])' "$@"; }
says() { tr -s ' \n' ' ' < "$1" | grep -q "$2"; }  # whatever the width of its lines
# The exit code of a command that runs already, and how many seconds it took from now.
ends() { local start=$SECONDS; timeout "$2" tail --pid="$1" -f /dev/null || kill -9 "$1"; wait "$1"; code=$? took=$((SECONDS - start)); }

# All at once: each waits half a minute for the driver.
GPUFATHOM_FAKE=hang_after=0 "$gf" doctor > doctor.txt 2> doctor.err & doctor=$!
GPUFATHOM_FAKE=hang_after=0 "$gf" record -o opened.gpf -- touch started 2> record.txt & record=$!
GPUFATHOM_FAKE=hang_after=0 "$gf" overhead --rounds 1 --only none -- true > overhead.txt 2> overhead.err & overhead=$!
# The driver hangs in the middle: what it said until then is told.
GPUFATHOM_FAKE=gpus=8,hang_after=0.4 "$gf" doctor > later.txt 2> later.err & later=$!
GPUFATHOM_FAKE=processes=0,utilization=0,hang_after=1.5 "$gf" overhead --rounds 1 --only none -- sleep 2.5 > midway.txt 2> midway.err & midway=$!

# Signals end what waits.
for verb in "record -o signal.gpf -- touch never" "calibrate --points points.jsonl" doctor; do
  for signal in INT TERM; do
    GPUFATHOM_FAKE=hang_after=0 hearing "$gf" $verb > signal.txt 2>&1 & pid=$!
    until [ "$(cat /proc/$pid/comm)" = gpufathom ]; do sleep 0.1; done
    sleep 0.7; kill -$signal $pid; ends $pid 10
    check "${verb%% *}: SIG$signal ends it at once" [ $took -le 3 ] && check "${verb%% *}: not as if all were well" [ $code != 0 ]
  done
done
check "a program that was not started is not started later" [ ! -e never ]

ends $midway 60; check "overhead: a driver that hangs midway costs the GPU's memory alone" [ $code = 0 ]
check "overhead: the time is there" grep -q 'none' midway.txt
ends $doctor 60; check "doctor ends" [ $code = 1 ]
check "doctor says so" says doctor.txt 'the NVIDIA driver has not answered for 20 s, asked for its GPUs'
check "doctor: no verb works" [ "$(grep -c 'needs a driver that answers' doctor.txt)" = 4 ]
ends $later 90; check "doctor ends, midway" [ $code = 1 ]
check "doctor says so, midway" says later.txt 'the NVIDIA driver has not answered'
ends $record 60; check "record ends" [ $code = 1 ]
check "record says so" grep -q 'the NVIDIA driver has not answered for 30 s' record.txt
check "record: no capture, no program" [ ! -e opened.gpf ] && check "record: the program did not run" [ ! -e started ]
ends $overhead 60; check "overhead works without the GPU's memory" [ $code = 0 ]
[ $failures = 0 ] || exit 1
