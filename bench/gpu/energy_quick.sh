#!/usr/bin/env bash
# Accuracy of `calibrate --quick` on the board at hand: its seconds, kernels of libraries measured and counted, and eight
# programs recorded. Usage: bench/gpu/energy_quick.sh PROGRAM OUT_DIR [SECONDS] on a machine with PyTorch and ncu.
# Leaves quick.points.jsonl, quick.energy.json, quick.unseen.*, programs.json (with what the calibration took) and quick.log.
# Parts that fail leave the others; the longest (counting) comes last and ends where the seconds do.
set -uo pipefail
gf=$(cd "$(dirname "$1")" && pwd)/$(basename "$1"); out=$2 seconds=${3:-460}
here=$(cd "$(dirname "$0")" && pwd); population=$here/../../share/energy/NVIDIA-H200.energy.json
mkdir -p "$out"; out=$(cd "$out" && pwd); work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
begin=$SECONDS
say() { echo "== $* ($((SECONDS - begin)) s)"; }
left() { echo $((seconds - (SECONDS - begin) - ${1:-0})); }

say calibrate --quick
start=$(date +%s.%N)
timeout 120 "$gf" calibrate --quick --population "$population" --points "$out/quick.points.jsonl" -o "$out/quick.energy.json" >"$out/quick.log" 2>&1
code=$?
end=$(date +%s.%N)
calibrated="{\"seconds\": $(awk "BEGIN {printf \"%.2f\", $end - $start}"), \"exit_code\": $code}"
echo "$calibrated"; tail -n 2 "$out/quick.log"

say programs
for name in decode prefill train_fp32 train_bf16 recommender convolution graph sparse; do
  [ "$(left 200)" -gt 20 ] || break
  timeout 40 "$gf" record -q --kernels --window 0 --metrics energy -o "$work/$name.gpf" --summary "$work/$name.summary.json" -- \
    python3 "$here/energy_programs.py" "$name" 4 >"$work/$name.run" 2>"$work/$name.err" || { echo "$name failed"; tail -n 2 "$work/$name.err"; continue; }
  for model in quick population; do
    file=$out/quick.energy.json; [ $model = quick ] || file=$population
    "$gf" energy "$work/$name.gpf" --model "$file" --window steps --rows 12 --format json -o "$work/$name.$model.json" 2>>"$work/$name.err"
  done
done
python3 - "$work" "$out/programs.json" "$calibrated" <<'P'
import glob, json, os, sys
work, out, calibrated = sys.argv[1:]
rows = []
for path in sorted(glob.glob(work + "/*.run")):
    name = os.path.basename(path)[:-4]
    row = {"name": name}
    try:
        row["run"] = json.loads(open(path).read().strip().splitlines()[-1])
    except (ValueError, IndexError):
        continue
    for model in ("quick", "population"):
        try:
            device = json.load(open(f"{work}/{name}.{model}.json"))["energy"]["devices"][0]
        except (OSError, KeyError, IndexError, ValueError):
            continue
        row[model] = {key: device.get(key) for key in ("nj", "span_ns", "mean_watts", "sm_mhz", "celsius", "coverage", "predicted_low_nj", "predicted_high_nj", "parts", "step", "warnings")}
    rows.append(row)
json.dump({"calibrate_quick": json.loads(calibrated), "programs": rows}, open(out, "w"))
print(len(rows), "programs")
P

say kernels
timeout "$(left 150)" python3 "$here/energy_unseen.py" measure "$work/unseen.jsonl" 0.7 2>>"$out/quick.log"
cp "$work/unseen.jsonl" "$out/quick.unseen.jsonl"; wc -l <"$out/quick.unseen.jsonl"
say counting
metrics=$("$gf" calibrate --list-counters | paste -sd,)
timeout "$(left 2)" ncu --clock-control none --cache-control none --profile-from-start off --graph-profiling graph --csv --page raw --print-units base --metrics "$metrics" \
  python3 "$here/energy_unseen.py" count "$work/names.txt" "$(left 35)" >"$work/unseen.raw" 2>>"$out/quick.log" || { echo "counting failed"; tail -n 3 "$out/quick.log"; }
cp "$work/names.txt" "$out/quick.unseen_names.txt"
grep '^"' "$work/unseen.raw" | gzip -9 >"$out/quick.unseen.ncu.csv.gz"
wc -l <"$out/quick.unseen_names.txt"
say done
"$gf" calibrate --quick --fit-only --population "$population" --points "$out/quick.points.jsonl" --unseen "$out/quick.unseen" 2>&1 | tail -n 4
ls -l "$out"
