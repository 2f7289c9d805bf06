#!/usr/bin/env bash
# Agreement of sources, the metric microbenchmark, faults for real. Usage: agree.sh GPUFATHOM OUT_DIR
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
gf=$(cd "$(dirname "$1")" && pwd)/$(basename "$1"); out=$2; mkdir -p "$out"; cd "$out"
say() { echo "== $* ($(date +%T))"; }
say exit code with kernels
"$gf" record -q --kernels --window 2 -o w.gpf --summary w.json -- python3 "$here/workload.py" --steps 60 --nvtx > w.run.json; echo "exit $?"; jq -c '[.exit_code,.kernels,.steps,.notes]' w.json; rm -f w.gpf
say pm against gpm, 30 s
python3 "$here/workload.py" --seconds 48 > load.json & load=$!
sleep 11
"$gf" record -q --duration 30 -o pm.gpf --summary pm.json & pm=$!
sleep 2; "$gf" monitor --interval 1 --count 25 --format csv > gpm.csv; wait $pm
jq -c '[.recorder_cpu_seconds,.duration_ns,.recorder_memory_bytes,.recorder_private_bytes,.file_bytes,.devices[0].lost,.devices[0].step_ns,.devices[0].step_confidence,.devices[0].energy_joules,.devices[0].energy_integral_joules,.devices[0].shares]' pm.json
python3 - <<'PY'
import csv, sqlite3
rows = list(csv.DictReader(open('gpm.csv')))
print({k: round(sum(float(r[k]) for r in rows) / len(rows), 4) for k in ('gpu.busy', 'sm.active_any', 'sm.occupancy', 'tensor.active', 'dram.active')})
print(sqlite3.connect('pm.gpf').execute("select value from metadata where key like 'record.cpu%'").fetchall())
PY
wait $load; jq -c '{median_ms,mean_ms}' load.json; rm -f pm.gpf
say kernels at 5 kHz
"$gf" record -q --kernels --window 0 --rate 5000 -o solve.gpf --summary solve.json -- python3 "$here/workload.py" --steps 200 --nvtx > solve.run.json; jq -c '[.exit_code,.kernels,.devices[0].samples,.devices[0].lost]' solve.json; gzip -f solve.gpf
say microbenchmark
nvcc -O2 -arch=sm_90 -o micro "$here/micro.cu" && for g in 1x1 1x1024 128x1024 1024x1024 131072x32; do
  ./micro $g 5 & m=$!; sleep 1.6; "$gf" record -q --duration 2.5 -o m.gpf --summary micro.$g.json; python3 - $g <<'PY'
import json, sqlite3, sys
d = json.load(open(f'micro.{sys.argv[1]}.json'))['devices'][0]
smi = sqlite3.connect('m.gpf').execute("select avg(value) from counter_samples where metric='monitor.gpu'").fetchone()[0]
d['nvidia_smi_utilization'] = smi
json.dump(d, open(f'micro.{sys.argv[1]}.json', 'w'))
print(sys.argv[1], 'nvidia-smi', smi, {k: round(d['shares'].get(k, -1), 4) for k in ('gpu.busy', 'sm.active_any', 'sm.occupancy', 'issue.active', 'tensor.active')})
PY
  wait $m; done
say faults
"$gf" record -q -o k.gpf -- python3 "$here/workload.py" --steps 100 > /dev/null & r=$!; sleep 9; kill -9 $r; wait $r 2>/dev/null; python3 -c "
import sqlite3; c = sqlite3.connect('k.gpf'); print(c.execute('pragma integrity_check').fetchone(), c.execute('select sum(samples) from sample_blocks').fetchone())"
sleep 6; "$gf" record -q -o k2.gpf --summary k2.json -- bash -c 'kill -9 $$'; echo "exit $?"; jq -c '.devices[0].source' k2.json
rm -f *.gpf micro; tar czf results.tgz ./*.json ./*.csv; rm -f ./*.json ./*.csv; ls
say done
