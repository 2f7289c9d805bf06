#!/usr/bin/env bash
# Recording with kernels: what it sees, what it costs, and ncu's counters of the same step as the truth.
# Usage: kernels.sh GPUFATHOM OUT_DIR
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
gf=$(cd "$(dirname "$1")" && pwd)/$(basename "$1"); out=$2; mkdir -p "$out"; cd "$out"
say() { echo "== $* ($(date +%T))"; }
say doctor; "$gf" doctor
say kernels
"$gf" record --kernels --window 0 -o kernels.gpf --summary kernels.json -- python3 "$here/workload.py" --steps 60 --nvtx > k.json 2> k.err; tail -25 k.err; jq -c '{median_ms,mean_ms}' k.json
"$gf" record --kernels --window 0 --rate 5000 -o fast.gpf --summary fast.json -- python3 "$here/workload.py" --steps 60 --nvtx > kf.json 2>/dev/null; jq -c '[.kernels,.copies,.steps,.notes,.devices[0].samples,.devices[0].lost]' fast.json
say torch.profiler against --kernels
"$gf" record --kernels --window 0 -o both.gpf --summary both.json -- python3 "$here/workload.py" --steps 30 --profile t.json 2>&1 | tail -12; rm -f t.json both.gpf
say overhead by attaching
python3 "$here/attach_detach.py" "$gf" resnet50 5 4 1000 attach_resnet50.json
python3 "$here/attach_detach.py" "$gf" mnist 5 4 1000 attach_mnist.json
say pairs with kernels
for m in resnet50 mnist; do for i in 1 2 3; do
  n=300; [ $m = mnist ] && n=3000
  python3 "$here/workload.py" --model $m --steps $n > none.$m.$i.json
  "$gf" record -q --kernels --window 0 -o x.gpf --summary kern.$m.$i.sum.json -- python3 "$here/workload.py" --model $m --steps $n > kern.$m.$i.json 2>/dev/null
  jq -c '{median_ms,mean_ms}' none.$m.$i.json kern.$m.$i.json | paste -sd' '; ls -la x.gpf | awk '{print $5}'
done; done; rm -f x.gpf
say ncu
timeout 150 ncu --clock-control none --cache-control none --profile-from-start off --csv --page raw --metrics gpu__time_duration.sum,smsp__cycles_active.sum,smsp__cycles_elapsed.sum,sm__cycles_active.avg.pct_of_peak_sustained_elapsed,sm__cycles_elapsed.max,smsp__issue_active.sum,smsp__inst_executed.sum,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,dram__bytes_read.sum,dram__bytes_write.sum,sm__warps_active.avg.pct_of_peak_sustained_elapsed python3 "$here/workload.py" --steps 20 --warmup 10 --sync --ncu 2>/dev/null > ncu.csv; wc ncu.csv; grep -v '^==' ncu.csv | head -3 | cut -c1-300
gzip -f ncu.csv kernels.gpf fast.gpf; tar czf results.tgz ./*.json; rm -f ./*.json k.err; ls -la
say done
