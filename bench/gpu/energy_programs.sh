#!/usr/bin/env bash
# Eight recorded programs and their energy by models: energy_programs.sh PROGRAM OUT_DIR SECONDS NAME=MODEL...
# Leaves programs.json; the recordings in the file that CAPTURES names, as many as 12 MB hold. The board is the first of
# CUDA_VISIBLE_DEVICES. No program begins with fewer than twenty of the seconds left.
set -uo pipefail
gf=$(cd "$(dirname "$1")" && pwd)/$(basename "$1"); out=$2 seconds=$3; shift 3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
begin=$SECONDS board=${CUDA_VISIBLE_DEVICES:-0}; board=${board%%,*}
export CUDA_VISIBLE_DEVICES=$board CUDA_DEVICE_ORDER=PCI_BUS_ID
for name in decode prefill train_fp32 train_bf16 recommender convolution graph sparse; do
  [ $((seconds - (SECONDS - begin))) -gt 20 ] || break
  timeout 40 "$gf" record -q --devices "$board" --kernels --window 0 --metrics energy -o "$work/$name.gpf" --summary "$work/$name.summary.json" -- \
    python3 "$here/energy_programs.py" "$name" 4 >"$work/$name.run" 2>"$work/$name.err" || { echo "$name failed"; tail -n 2 "$work/$name.err"; continue; }
  for model in "$@"; do
    "$gf" energy "$work/$name.gpf" --model "${model#*=}" --window steps --rows 12 --format json -o "$work/$name.${model%%=*}.json" 2>>"$work/$name.err" || tail -n 1 "$work/$name.err"
  done
done
python3 - "$work" "$out/programs.json" "${CALIBRATED:-null}" "${@%%=*}" <<'P'
import glob, json, os, sys
work, out, calibrated, *models = sys.argv[1:]
rows = []
for path in sorted(glob.glob(work + "/*.run")):
    name = os.path.basename(path)[:-4]
    row = {"name": name}
    try:
        row["run"] = json.loads(open(path).read().strip().splitlines()[-1])
    except (ValueError, IndexError):
        continue
    for model in models:
        try:
            device = json.load(open(f"{work}/{name}.{model}.json"))["energy"]["devices"][0]
        except (OSError, KeyError, IndexError, ValueError):
            continue
        row[model] = {key: device.get(key) for key in ("nj", "span_ns", "mean_watts", "sm_mhz", "celsius", "coverage", "predicted_low_nj", "predicted_high_nj", "parts", "counts", "step", "warnings")}
    rows.append(row)
json.dump({"calibrate_quick": json.loads(calibrated), "programs": rows}, open(out, "w"))
print(len(rows), "programs")
P
[ -n "${CAPTURES:-}" ] || exit 0
mkdir -p "$work/kept"
python3 -c '
import concurrent.futures, lzma, sys
def pack(path):
    open(path + ".xz", "wb").write(lzma.compress(open(path, "rb").read(), preset=1))
with concurrent.futures.ProcessPoolExecutor(8) as pool:
    list(pool.map(pack, sys.argv[1:]))' "$work"/*.gpf
for name in $(ls -Sr "$work"/*.gpf.xz 2>/dev/null); do
  [ "$(cat "$work"/kept/*.xz "$name" 2>/dev/null | wc -c)" -gt 12000000 ] || mv "$name" "$work/kept/"
done
tar cf "$CAPTURES" -C "$work/kept" . ; ls -l "$CAPTURES"
