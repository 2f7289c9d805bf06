#!/usr/bin/env bash
# First facts about recording on a machine: what works, what it costs, where it ends. Usage: first_light.sh GPUFATHOM OUT_DIR
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
gf=$(cd "$(dirname "$1")" && pwd)/$(basename "$1"); out=$2; mkdir -p "$out"; cd "$out"
w() { python3 "$here/workload.py" "$@"; }
say() { echo "== $* ($(date +%T))"; }
say monitor; "$gf" monitor --once; "$gf" monitor --once --format json > monitor.json
say idle; "$gf" record --duration 4 -o idle.gpf --summary idle.json
say resnet50 pairs
for i in 1 2 3; do
  w --steps 300 > none.$i.json
  "$gf" record -q -o rec.gpf --summary rec.$i.sum.json -- python3 "$here/workload.py" --steps 300 > rec.$i.json
  jq -c '{median_ms,mean_ms}' none.$i.json rec.$i.json | paste -sd' '
done
"$gf" record -o last.gpf -- python3 "$here/workload.py" --seconds 4 > last.json
sqlite3 last.gpf 'select key,value from metadata' 2>/dev/null || python3 -c "
import sqlite3
for r in sqlite3.connect('last.gpf').execute('select key,value from metadata'): print(r)"
say rates
w --seconds 45 > load.json & load=$!
sleep 8
for r in 1000 2000 5000 10000 20000; do "$gf" record -q --rate $r --duration 4 -o r.gpf --summary rate.$r.json; jq -c '[.devices[0].source,.devices[0].samples,.devices[0].lost,.recorder_cpu_seconds,.recorder_memory_bytes,.file_bytes]' rate.$r.json; done
say gpm beside pm
"$gf" record -q --duration 4 -o both.gpf --summary both.json & sleep 1.5; "$gf" monitor --count 1 --interval 2; wait %2; jq -c .devices[0].shares both.json
say two recorders
"$gf" record -q --duration 5 -o a.gpf --summary a.json & sleep 2.5; "$gf" record --duration 2 -o b.gpf 2>&1 | head -20; wait %3
"$gf" record --source gpm --duration 3 -o g.gpf 2>&1 | head -14
kill $load; wait $load 2>/dev/null
say torch.profiler inside
"$gf" record -o prof.gpf -- python3 "$here/workload.py" --steps 60 --profile trace.json > prof.json; jq -c '{median_ms}' prof.json; ls -la trace.json; rm -f trace.json
rm -f *.gpf; tar czf results.tgz ./*.json; rm -f ./*.json
say done
