#!/usr/bin/env bash
# The energy model on several boards of one machine at once, a process tree each: energy_boards.sh PROGRAM OUT_DIR [SECONDS].
# Boards 0 and 1 are strangers: energy_quick.sh; a call counts the same on both, so that board 1 counts kinds of instructions.
# The others are calibrated, with the kernels of energy_unseen.py measured; the first of them has its microbenchmarks counted,
# the next measures kernels again under the sampler. Microbenchmarks that no board has run yet come by themselves, so that one
# which the chip refuses takes none of the others with it.
# Leaves OUT_DIR/boardN.tar (as far as it got, every half minute) and capturesN.tar (recorded programs).
# Needs PyTorch, pynvml and ncu. BOARDS: UUIDs, default all of NVML's.
set -uo pipefail
gf=$(cd "$(dirname "$1")" && pwd)/$(basename "$1"); out=$2 seconds=${3:-560}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"; out=$(cd "$out" && pwd); work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
begin=$SECONDS
left() { echo $((seconds - (SECONDS - begin) - ${1:-0})); }
boards=${BOARDS:-$(python3 -c '
import pynvml as nv
nv.nvmlInit()
print(*(nv.nvmlDeviceGetUUID(nv.nvmlDeviceGetHandleByIndex(i)) for i in range(nv.nvmlDeviceGetCount())))')}
# What no board has run before 30 November 2026.
new=mma_int8,wgmma_int8,mma_fp64,mma_fp64_small,l2_add_fp32,l2_add_int,l2_add_scattered
# Chases move addresses: they tell levels and curves, which are known, and are not in the joint fit.
chases=shared_load,l1_load,l2_load,dram_load,l1_load_div,l2_load_div,dram_load_div
# What may become a term: requests that miss L2 (rows of DRAM), atomic requests, the way between partitions, the multiply-add
# pipe's half that takes integers. Eight passes with the rest.
l2=lts__t_requests_srcunit_tex_op_
export MORE_COUNTERS=${l2}read_lookup_miss.sum,${l2}write_lookup_miss.sum,lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum,lts__t_sectors_srcunit_ltcfabric.sum,${l2}red.sum,${l2}atom.sum,dram__cycles_active_read.sum,dram__cycles_active_write.sum,smsp__thread_inst_executed_pipe_fmaheavy_pred_on.sum
# Kinds of instructions: counted by themselves, since that changes the kernel's code.
kinds=$(printf 'smsp__sass_thread_inst_executed_op_%s_pred_on.sum,' conversion integer bit ffma fadd)smsp__sass_thread_inst_executed_op_fmul_pred_on.sum

say() { echo "== $* ($((SECONDS - begin)) s)"; }

# within RESERVE COMMAND...: the command in the seconds left but for the reserve, if there are any to speak of.
within() {
  local limit; limit=$(left "$1"); shift
  [ "$limit" -lt 20 ] || timeout "$limit" "$@"
}

# count NAME METRICS: the counters of all microbenchmarks.
count() {
  within 10 ncu --clock-control none --cache-control none -k regex:^bench_ --csv --page raw --print-units base --metrics "$2" \
    env -u CUDA_VISIBLE_DEVICES "$gf" calibrate --device "$board" --launch-once >"$to/$1.raw" 2>"$to/$1.err" || tail -n 3 "$to/$1.err" "$to/$1.raw"
  grep '^"' "$to/$1.raw" | gzip -9 >"$to/$1.ncu.csv.gz"; rm -f "$to/$1.raw"
  say "$1"
}

calibrated() {
  within 10 "$gf" calibrate --device "$board" --points "$to/new.points.jsonl" --repeats 3 --seconds 0.8 --only "$new" >/dev/null
  say new
  within 10 "$gf" calibrate --device "$board" --points "$to/known.points.jsonl" --repeats 2 --seconds 0.8 --skip "$new,$chases" --seed "$number" >/dev/null
  say known
  [ "$number" != 2 ] || count kernels "$metrics,$MORE_COUNTERS"
  within 10 python3 "$here/energy_unseen.py" measure "$to/unseen.jsonl" 0.7
  say kernels measured
  CAPTURES=$out/captures$number.tar "$here/energy_programs.sh" "$gf" "$to" "$(left 20)" population="$here/../../share/energy/NVIDIA-H200.energy.json"
  say programs
  [ "$number" != 2 ] || { count kinds "$kinds"; return; }
  # The same kernels while they are sampled: what sampling costs, and what it counts.
  within 25 "$gf" record -q --devices "$board" --metrics energy -o "$TMPDIR/sampled.gpf" -- \
    python3 "$here/energy_unseen.py" measure "$to/unseen_sampled.jsonl" 0.7
  python3 -c 'import lzma, sys; packed = lzma.compress(open(sys.argv[1], "rb").read(), preset=1); len(packed) < 12e6 and open(sys.argv[2], "wb").write(packed)' \
    "$TMPDIR/sampled.gpf" "$to/sampled.gpf.xz"
  say kernels sampled
}

metrics=$("$gf" calibrate --list-counters | paste -sd,)
number=0 running=()
for board in $boards; do
  to=$work/board$number
  mkdir -p "$to" "$work/tmp$number"
  # Nsight Compute keeps a lock in TMPDIR.
  export CUDA_VISIBLE_DEVICES=$board CUDA_DEVICE_ORDER=PCI_BUS_ID TMPDIR=$work/tmp$number TRITON_CACHE_DIR=$work/tmp$number/triton
  (
    trap - EXIT
    case $number in
      0) CAPTURES=$out/captures0.tar "$here/energy_quick.sh" "$gf" "$to" "$(left 5)" ;;
      1) CAPTURES=$out/captures1.tar COUNTERS=$kinds GRAPHS=node "$here/energy_quick.sh" "$gf" "$to" "$(left 5)" ;;
      *) calibrated ;;
    esac
  ) >"$to/session.log" 2>&1 &
  running+=($!)
  number=$((number + 1))
done
export TMPDIR=$work
keep() {
  for folder in "$work"/board*; do
    tar cf "$work/next.tar" -C "$folder" --exclude '*.raw' . 2>/dev/null; mv "$work/next.tar" "$out/$(basename "$folder").tar"
  done
}
while [ "$(left)" -gt 0 ] && [ -n "$(jobs -rp)" ]; do
  for _ in $(seq 30); do [ -n "$(jobs -rp)" ] && [ "$(left)" -gt 0 ] && sleep 1; done
  keep
done
[ -z "$(jobs -rp)" ] || { echo "cut: $(jobs -rp | wc -l) boards still at work"; kill "${running[@]}" 2>/dev/null; }
keep
ls -l "$out"
for folder in "$work"/board*; do echo "-- $(basename "$folder")"; grep -a '^==' "$folder/session.log" | tail -n 20; tail -n 4 "$folder/session.log"; done
