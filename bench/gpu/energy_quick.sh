#!/usr/bin/env bash
# Accuracy of `calibrate --quick` on the board at hand: its seconds, kernels of libraries measured and counted, and eight
# programs recorded. Usage: bench/gpu/energy_quick.sh PROGRAM OUT_DIR [SECONDS] on a machine with PyTorch and ncu.
# Leaves quick.points.jsonl, quick.energy.json, quick.unseen.*, programs.json (with what the calibration took) and quick.log;
# the recorded programs in the file that CAPTURES names. The board is the first of CUDA_VISIBLE_DEVICES. COUNTERS are counted
# instead of the model's, MORE_COUNTERS beside them; GRAPHS=node counts a graph's kernels one by one.
# Parts that fail leave the others; the longest (counting) comes last and ends where the seconds do.
set -uo pipefail
gf=$(cd "$(dirname "$1")" && pwd)/$(basename "$1"); out=$2 seconds=${3:-460}
here=$(cd "$(dirname "$0")" && pwd); population=$here/../../share/energy/NVIDIA-H200.energy.json
mkdir -p "$out"; out=$(cd "$out" && pwd); work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
begin=$SECONDS
board=${CUDA_VISIBLE_DEVICES:-0}; board=${board%%,*}
export CUDA_VISIBLE_DEVICES=$board CUDA_DEVICE_ORDER=PCI_BUS_ID
say() { echo "== $* ($((SECONDS - begin)) s)"; }
left() { echo $((seconds - (SECONDS - begin) - ${1:-0})); }

say calibrate --quick
start=$(date +%s.%N)
timeout 120 "$gf" calibrate --quick --device "$board" --population "$population" --points "$out/quick.points.jsonl" -o "$out/quick.energy.json" >"$out/quick.log" 2>&1
code=$?
end=$(date +%s.%N)
calibrated="{\"seconds\": $(awk "BEGIN {printf \"%.2f\", $end - $start}"), \"exit_code\": $code}"
echo "$calibrated"; tail -n 2 "$out/quick.log"

say programs
CALIBRATED=$calibrated "$here/energy_programs.sh" "$gf" "$out" "$(left 200)" quick="$out/quick.energy.json" population="$population"

say kernels
timeout "$(left 150)" python3 "$here/energy_unseen.py" measure "$work/unseen.jsonl" 0.7 2>>"$out/quick.log"
cp "$work/unseen.jsonl" "$out/quick.unseen.jsonl"; wc -l <"$out/quick.unseen.jsonl"
say counting
metrics=${COUNTERS:-$("$gf" calibrate --list-counters | paste -sd,)${MORE_COUNTERS:+,$MORE_COUNTERS}}
timeout "$(left 2)" ncu --clock-control none --cache-control none --profile-from-start off --graph-profiling "${GRAPHS:-graph}" --csv --page raw --print-units base --metrics "$metrics" \
  python3 "$here/energy_unseen.py" count "$work/names.txt" "$(left 35)" >"$work/unseen.raw" 2>>"$out/quick.log" || { echo "counting failed"; tail -n 3 "$out/quick.log"; }
cp "$work/names.txt" "$out/quick.unseen_names.txt"
grep '^"' "$work/unseen.raw" | gzip -9 >"$out/quick.unseen.ncu.csv.gz"
wc -l <"$out/quick.unseen_names.txt"
say done
"$gf" calibrate --quick --fit-only --population "$population" --points "$out/quick.points.jsonl" --unseen "$out/quick.unseen" 2>&1 | tail -n 4
ls -l "$out"
