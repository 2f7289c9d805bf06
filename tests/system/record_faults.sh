#!/usr/bin/env bash
# What can go wrong while recording, over the fake driver libraries: every capture must stay readable, nothing may be left
# behind, and the program's own behaviour must pass through. Usage: record_faults.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd)
gf=$build/gpufathom
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
work=$(mktemp -d)
cd "$work"
trap 'rm -rf "$work"' EXIT
failures=0
check() {  # check NAME CONDITION...
  local name=$1; shift
  if "$@"; then echo "ok    $name"; else echo "FAILED $name: $*"; failures=$((failures + 1)); fi
}
sql() { python3 - "$@" <<'PY'
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])  # a killed writer's journal is rolled back here
PY
}
samples() { sql "$1" "select coalesce(sum(samples), 0) from sample_blocks"; }
integrity() { [ "$(sql "$1" 'pragma integrity_check')" = ok ]; }

# The program's streams, arguments and exit code.
out=$(echo input | "$gf" record -q -o a.gpf -- sh -c 'read x; echo "out:$x:$1"; echo err >&2; exit 7' sh 'two words' 2>err.txt); code=$?
check "exit code" [ $code = 7 ]
check "standard streams" [ "$out" = "out:input:two words" ]
check "standard error" [ "$(cat err.txt)" = err ]
check "capture is complete" [ "$(sql a.gpf "select text from strings where id=(select value from _metadata where key=(select id from strings where text='record.complete'))")" = yes ]
"$gf" record -q -o b.gpf -- ./no-such-program; check "command not found" [ $? = 127 ]
check "no capture of nothing" [ ! -e b.gpf ]

# Streams that the caller closed: no message may end in the capture.
"$gf" record -o closed.gpf -- sh -c 'exit 7' <&- >&- 2>&-; check "closed streams: exit code" [ $? = 7 ]
check "closed streams: whole file" integrity closed.gpf

# Two recorders, one file: the second is refused, the first goes on.
"$gf" record -q -o shared.gpf -- sleep 1.5 & recorder=$!
sleep 0.7; "$gf" record -o shared.gpf -- touch second 2> second.txt; check "file of another recorder: refused" [ $? = 1 ]
check "file of another recorder: says so" grep -q 'written by another process' second.txt
check "file of another recorder: the program did not run" [ ! -e second ]
wait $recorder; check "file of another recorder: the first is whole" [ "$(samples shared.gpf)" -ge 1000 ]

# Somebody looks into the capture while it is written, and still when it ends.
"$gf" record -o live.gpf -- sleep 2 2> live.txt & recorder=$!
sleep 1; python3 -c "
import sqlite3, time
d = sqlite3.connect('live.gpf')
d.execute('begin')
assert d.execute('select sum(samples) from sample_blocks').fetchone()[0] > 0
time.sleep(2.5)" & reader=$!
wait $recorder; wait $reader; check "a reader of the capture sees samples" [ $? = 0 ]
check "and costs none" [ "$(samples live.gpf)" -ge 1900 ]
check "nor its end" [ "$(sql live.gpf "select count(*) from metadata where key = 'record.complete'")" = 1 ]

# The child is killed.
"$gf" record -q -o killed.gpf -- sh -c 'kill -9 $$'; check "killed child: 128 + 9" [ $? = 137 ]
check "killed child: whole file" integrity killed.gpf

# The recorder is killed: the program goes on, the file holds all but the last second.
"$gf" record -q -o crash.gpf -- sh -c 'sleep 4; echo survived > survived.txt' & recorder=$!
sleep 2.6; kill -9 $recorder; wait $recorder 2>/dev/null
check "killed recorder: whole file" integrity crash.gpf
check "killed recorder: all but the last second" [ "$(samples crash.gpf)" -ge 1000 ]
check "killed recorder: analysis reads it" sh -c "'$gf' analyze crash.gpf >/dev/null 2>&1; [ \$? -le 1 ]"
sleep 2.2; check "killed recorder: the program went on" [ -e survived.txt ]

# Interrupts and signals from outside reach the program; its answer decides.
# A shell starts background jobs with SIGINT ignored: undone here.
hearing() { exec python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])' "$@"; }
hearing "$gf" record -q -o int.gpf -- sh -c 'trap "echo caught; exit 5" INT TERM; touch hears; for i in $(seq 100); do sleep 0.1; done' > int.txt & recorder=$!
for _ in $(seq 600); do [ -e hears ] && break; sleep 0.1; done  # a busy machine takes its time to start Python
kill -INT $recorder; wait $recorder; check "SIGINT passes through" [ $? = 5 ]
check "SIGINT: the program caught it once" [ "$(cat int.txt)" = caught ]
check "SIGINT: whole file" integrity int.gpf

# Children that fork, exec and outlive their parents; nothing is left, nothing undead.
"$gf" record -q -o fork.gpf -- sh -c '(sh -c "exec sleep 0.3" &) ; sh -c "exec true"; for i in 1 2 3; do sh -c "sleep 0.2" & done; wait; exec sh -c "exit 3"'
check "fork and exec" [ $? = 3 ]
sleep 0.5
# The CPU of children that live between two looks at /proc counts.
"$gf" record -q -o brief.gpf -- sh -c 'for i in 1 2 3 4 5 6 7 8; do python3 -c "
import time
while time.process_time() < 0.25: pass"; done; sleep 1.1'
check "CPU of brief children" [ "$(sql brief.gpf "select sum(value * duration_ns) / 1e9 >= 1.8 from counter_samples where metric = 'host.cpu'")" = 1 ]
check "no undead process" [ "$(ps -o stat= --ppid $$ | grep -c '^Z')" = 0 ]
check "no temporary left" [ -z "$(ls -A | grep -E 'journal|\.gpufathom' || true)" ]

# The disk fills up: the program goes on, the file stays whole.
if mkdir full && mount -t tmpfs -o size=3m tmpfs full 2>/dev/null; then
  "$gf" record -o full/x.gpf -- sh -c 'sleep 1; dd if=/dev/zero of=full/ballast bs=64k 2>/dev/null; sleep 2; exit 6' 2> full.txt; code=$?
  check "disk full: exit code" [ $code = 6 ]
  check "disk full: said so" grep -q 'full' full.txt
  check "disk full: whole file" integrity full/x.gpf
  umount full
else
  echo "skip  disk full (no right to mount)"
fi

# Refusals, each with one clear line and the next best source.
refused() { local fake=$1 expect=$2 source=$3; GPUFATHOM_FAKE=$fake "$gf" record -o r.gpf --summary r.json -- sleep 0.6 2> r.txt; check "$fake: says so" grep -q "$expect" r.txt
  check "$fake: source" [ "$(python3 -c "import json; print(json.load(open('r.json'))['devices'][0]['source'])")" = "$source" ]; }
refused permission=0 "NVreg_RestrictProfilingToAdminUsers" gpm
refused permission=0,gpm=0 "power, clocks and memory only" nvml
refused pm_busy=1 "another profiler uses" gpm
refused pm_old=1 "needs Turing" gpm
refused cuinit=100 "no CUDA device" gpm
refused single_pass=3 "" pm_sampling
check "what does not fit one pass is left out" [ "$(python3 -c "import json; print(sorted(json.load(open('r.json'))['devices'][0]['shares']))")" = "['gpu.busy', 'issue.active', 'sm.active_any']" ]
GPUFATHOM_FAKE=init=9 "$gf" record -q -o n.gpf -- touch ran 2> n.txt; check "no driver: refused" [ $? = 1 ]
check "no driver: the program did not run" [ ! -e ran ]

# The GPU falls off the bus while recording.
GPUFATHOM_FAKE=lost_after=1.2 "$gf" record -o lost.gpf -- sh -c 'sleep 2.5; exit 4' 2> lost.txt; check "lost GPU: exit code" [ $? = 4 ]
check "lost GPU: said so" grep -q 'lost' lost.txt
check "lost GPU: samples before are kept" [ "$(samples lost.gpf)" -ge 500 ]

# Samples that never arrive are counted; the GPU clock is put on the host's.
GPUFATHOM_FAKE=drop_every=7,gpu_clock=123456789012 "$gf" record -q -o drop.gpf --summary drop.json -- sleep 2
check "lost samples are counted" python3 -c "
import json; d = json.load(open('drop.json'))['devices'][0]
assert 0.12 < d['lost'] / (d['samples'] + d['lost']) < 0.17, d"
# A decoder drops what its image has no room for: a recorder that the host held up for a while must come with a larger one.
"$gf" record -q -o held.gpf --summary held.json -- sleep 2.5 & r=$!
sleep 1; kill -STOP $r; sleep 0.12; kill -CONT $r; wait $r
check "a recorder held up loses nothing" python3 -c "
import json; d = json.load(open('held.json'))['devices'][0]
assert d['lost'] == 0 and d['samples'] > 2000, d"
# The GPU's buffer runs over while the recorder is held up for longer: it begins again with a larger one, and the gap is counted.
"$gf" record -q -o over.gpf --summary over.json -- sleep 4.5 & r=$!
sleep 1; kill -STOP $r; sleep 2; kill -CONT $r; wait $r
check "a recorder held up for long goes on and counts what is lost" python3 -c "
import json; d = json.load(open('over.json')); v = d['devices'][0]
assert v['lost'] > 1900 and v['samples'] > 1900 and abs(v['samples'] + v['lost'] - v['span_ns'] * 1e-6) < 60, v
assert not d['notes'], d"
GPUFATHOM_FAKE=sample_bytes=5e4 "$gf" record -q -o over.gpf --summary over.json -- sleep 2
check "a buffer that is too small grows" python3 -c "
import json; d = json.load(open('over.json')); v = d['devices'][0]
assert v['lost'] < 500 and v['samples'] > 1400, v"
check "its overflow is told" [ "$(sql over.gpf "select count from quality where code = 'buffer_overflow'")" -ge 1 ]
# Each GPU takes half a second to be set up, while those before it sample.
GPUFATHOM_FAKE=gpus=4,setup_ms=450 "$gf" record -q -o four.gpf --summary four.json -- sleep 3
check "four GPUs lose nothing while one after the other is set up" python3 -c "
import json; d = json.load(open('four.json'))
assert len(d['devices']) == 4 and not d['notes'], d
assert all(v['lost'] == 0 and v['samples'] > 700 for v in d['devices']), d"
GPUFATHOM_FAKE=sample_bytes=3e7 "$gf" record -o over.gpf --summary over.json -- sleep 2 2> over.txt
check "a buffer that cannot be large enough ends the counters with advice" grep -q 'sample less often' over.txt
"$gf" record -q -o levels.gpf --summary levels.json -- sleep 2
check "levels as the fake GPU has them" python3 -c "
import json; d = json.load(open('levels.json'))['devices'][0]
for metric, value in {'gpu.busy': .75, 'sm.active_any': .6, 'issue.active': .225, 'tensor.active': .225}.items(): assert abs(d['shares'][metric] - value) < .02, (metric, d)
assert abs(d['step_ns'] - 20e6) < .3e6, d
assert abs(d['energy_joules'] - d['energy_integral_joules']) < .03 * d['energy_joules'], d"
# A third of the samples lost: totals are of the time that the others cover, steps as long as they are.
GPUFATHOM_FAKE=drop_every=3 "$gf" record -q -o third.gpf --summary third.json -- sleep 2
check "rates of what arrived" python3 -c "
import json; d = json.load(open('third.json'))['devices'][0]
assert 0.25 < d['lost'] / (d['samples'] + d['lost']) < 0.4, d
assert abs(d['step_ns'] - 20e6) < .3e6, d
assert abs(d['totals']['dram.read'] / d['sampled_ns'] - 1.5) < .05, d
assert d['sampled_ns'] < .75 * d['span_ns'], d"
check "GPU clock on the host clock" python3 -c "
import sqlite3, time, os
start, = sqlite3.connect('drop.gpf').execute('select min(start_ns) from sample_blocks').fetchone()
assert abs(start * 1e-9 - (os.stat('drop.json').st_mtime - 2.2)) < 1, start"

# Eight GPUs, some of them, and MIG.
GPUFATHOM_FAKE=gpus=8 "$gf" record -q -o eight.gpf --summary eight.json --devices 0,6-7 -- sleep 1
check "eight GPUs, three recorded" [ "$(python3 -c "import json; print([d['index'] for d in json.load(open('eight.json'))['devices'] if d['samples'] > 500])")" = "[0, 6, 7]" ]
GPUFATHOM_FAKE=gpus=8 "$gf" record -q -o all.gpf --summary all.json -- sleep 1
check "eight GPUs, all recorded" [ "$(python3 -c "import json; print(sum(d['samples'] > 500 for d in json.load(open('all.json'))['devices']))")" = 8 ]
GPUFATHOM_FAKE=mig=1,permission=0 "$gf" record -q -o mig.gpf --summary mig.json -- sleep 0.5; check "MIG" [ $? = 0 ]

# A driver that hangs: the program's end, its code and signals go through.
date +%s > start; GPUFATHOM_FAKE=hang_after=1 timeout 60 "$gf" record -o hang.gpf -- sh -c 'sleep 3; exit 9' 2> hang.txt; check "hanging driver: exit code" [ $? = 9 ]
check "hanging driver: ends soon after the program" [ $(($(date +%s) - $(cat start))) -lt 25 ]
check "hanging driver: said so" grep -q 'the driver does not answer' hang.txt
check "hanging driver: whole file" integrity hang.gpf
GPUFATHOM_FAKE=hang_after=1 "$gf" record -q -o hang.gpf -- sh -c 'trap "exit 10" TERM; sleep 20 & wait' & r=$!
sleep 3; kill -TERM $r; wait $r; check "hanging driver: SIGTERM reaches the program" [ $? = 10 ]
# Killed as its program was.
python3 -c "
import subprocess, sys
done = subprocess.run(['$gf', 'record', '-q', '-o', 'died.gpf', '--', 'sh', '-c', 'kill -TERM \$\$'])
sys.exit(done.returncode != -15)"; check "a program killed by a signal: so is the recorder" [ $? = 0 ]
# Nobody else's business, and not over an older recording.
"$gf" record -q -o private.gpf -- sh -c true --lr 1; "$gf" record -q --keep-command -o private_all.gpf -- sh -c true --password hunter2; check "readable by its owner alone" [ "$(stat -c %a private.gpf)" = 600 ]
check "the program alone in it" sh -c "! grep -q -- '--lr' private.gpf"
check "no secrets in it" sh -c "! grep -q hunter2 private_all.gpf && grep -q -- '--password \*\*\*' private_all.gpf"
for _ in 1 2 3; do "$gf" record -q -- true; done; check "run.gpf, run-2.gpf, run-3.gpf" [ -e run.gpf -a -e run-2.gpf -a -e run-3.gpf ]

# Kernels of a program that never touches CUDA, and beside another profiler.
"$gf" record --kernels -o k.gpf -- true 2> k.txt; check "no CUDA: ends well" [ $? = 0 ]
check "no CUDA: said so" grep -q 'no kernel was recorded' k.txt
CUDA_INJECTION64_PATH=/other.so "$gf" record --kernels -o k.gpf -- true 2> k.txt; check "another injection: stands aside" grep -q 'another profiler' k.txt
check "no temporary folder left" [ -z "$(ls -A | grep gpufathom- || true)" ]

[ $failures = 0 ] && echo "all well" || { echo "$failures failed"; exit 1; }
