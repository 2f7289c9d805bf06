#!/usr/bin/env bash
# One part of a measuring session on a GPU machine: tests/gpu/session.sh PART OUT [SECONDS]
#   advice    the programs with planted faults and their mended twins, one GPU: advice.tar
#   advice2   those of two GPUs: advice2.tar
#   advice_set  the programs of a set of tests/advice/programs (ADVICE_SET), ADVICE_PARTS at a time, each on its own GPU if there are several: advice_set.tar
#   zoo       every program recorded in every way, one GPU (ZOO_GPUS=0,1: two at a time): zoo.tar
#   zoo2      the zoo's programs of two ranks: zoo2.tar
#   attach    a serving loop under `gpufathom run`, attached to and let go again and again: attach.json
#   serving   an inference engine and twelve other programs, recorded, against what they know: serving_show.json, small captures
#   clocks    clocks with and without sampling: clocks.json
#   utilization  a slice of the utilization study (examples/studies/utilization/grid): utilization.json, .state.json
#   energy    calibrate --quick, kernels that no model has seen, eight programs: quick.*, programs.json
#   energy_boards  the same on boards 0 and 1 of a machine of four, while the others are calibrated: boardN.tar, capturesN.tar
#   runtime   the runtime study at the paper's sizes: runtime.json
#   studies   what publications still need of one GPU, in eight minutes: the board's power asleep and idle, the runtime study with
#             spreads and queues, counters of every kernel of ResNet-50's compiled steps: power.json, runtime.json, counted.tar
# OUT gets a few files below 16 MiB each. A part never fails as a whole: what went wrong is in its JSON and its log.
# gpufathom is taken from GPUFATHOM, build/bundle (tests/gpu/bundle build build/bundle) or build.
set -uo pipefail
part=${1:?part} out=${2:?folder} seconds=${3:-600}
mkdir -p "$out"; out=$(cd "$out" && pwd)
cd "$(dirname "$0")/../.." || exit 1
gf=${GPUFATHOM:-}
for found in build/bundle/gpufathom build/gpufathom; do [ -n "$gf" ] || { [ -x "$found" ] && gf=$found; }; done
python=${PYTHON:-python3}
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
export TORCHINDUCTOR_COMPILE_THREADS=${TORCHINDUCTOR_COMPILE_THREADS:-8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
begin=$SECONDS
echo "== $part, $seconds s, $("$gf" --version 2>&1 | head -1) ($(date +%T))"
case $part in
  advice) "$python" tests/advice/programs/run "$work" --budget-seconds "$seconds" 2>&1 | tee "$work/session.log" ;;
  advice2) "$python" tests/advice/programs/run "$work" --ranks 2 --budget-seconds "$seconds" 2>&1 | tee "$work/session.log" ;;
  advice_set) # Each part in a folder of its own, as `run` writes files of the same names; then all in one.
    parts=${ADVICE_PARTS:-1} programs=()
    IFS=, read -ra gpus <<< "${CUDA_VISIBLE_DEVICES:-$(nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null | paste -sd,)}"
    for part_number in $(seq "$parts"); do
      mkdir -p "$work/$part_number"; own=()
      [ "${#gpus[@]}" -gt 1 ] && own=("CUDA_VISIBLE_DEVICES=${gpus[$(((part_number - 1) % ${#gpus[@]}))]}")
      env "${own[@]}" "$python" tests/advice/programs/run "$work/$part_number" --set "${ADVICE_SET:-trades}" --part "$part_number/$parts" \
        --budget-seconds "$seconds" ${ADVICE_MORE:-} > "$work/session.$part_number.log" 2>&1 & programs+=($!)
    done
    wait "${programs[@]}"
    for part_number in $(seq "$parts"); do
      for name in runs.json worker.log; do mv "$work/$part_number/$name" "$work/part$part_number.$name" 2>/dev/null; done
      mv "$work/$part_number"/* "$work/" 2>/dev/null; tail -n 1 "$work/session.$part_number.log"
    done ;;
  zoo) "$python" tests/gpu/zoo/run "$work" ${STUDY_MORE:-} --gpufathom "$gf" --budget-seconds "$seconds" --gpus "${ZOO_GPUS:-0}" ${ZOO_MORE:-} 2>&1 | tee "$work/session.log" ;;
  zoo2) "$python" tests/gpu/zoo/run "$work" ${STUDY_MORE:-} --gpufathom "$gf" --ranks 2 --budget-seconds "$seconds" ${ZOO_MORE:-} 2>&1 | tee "$work/session.log" ;;
  attach) timeout "$seconds" "$python" tests/gpu/attach_cycles.py "$gf" "$work/attach.json" --budget-seconds "$seconds" 2>&1 | tee "$work/session.log" ;;
  serving) "$python" tests/gpu/serving/show.py "$gf" "$work" --budget-seconds "$seconds" ${SERVING_MORE:-} 2>&1 | tee "$work/session.log" ;;
  energy) bench/gpu/energy_quick.sh "$gf" "$work" "$seconds" 2>&1 | tee "$work/session.log" ;;
  energy_boards) bench/gpu/energy_boards.sh "$gf" "$out" "$seconds" ;;
  clocks) timeout "$seconds" "$python" tests/gpu/zoo/clocks "$work" --gpufathom "$gf" 2>&1 | tee "$work/session.log" ;;
  utilization) "$python" examples/studies/utilization/grid "$work" ${STUDY_MORE:-} --gpufathom "$gf" --budget-seconds "$seconds" ;;
  runtime) GPUFATHOM=$gf bench/gpu/runtime_study.sh "$work/captures" --paper --budget-seconds "$seconds" 2>&1 | tee "$work/session.log" ;;
  studies) # A third for the runtime study, the rest for counters; power first, before anything has a context.
    "$python" tests/gpu/idle_power.py "$work/power.json" 2>&1 | tee "$work/session.log"
    GPUFATHOM=$gf bench/gpu/runtime_study.sh "$work/captures" --paper --budget-seconds $((seconds / 4)) 2>&1 | tee -a "$work/session.log"
    left=$((seconds - (SECONDS - begin) - 10))
    "$python" examples/studies/utilization/count "$work/counted" --compiled --models resnet50 --budget-seconds "$left" ${STUDY_MORE:-} 2>&1 | tee -a "$work/session.log" ;;
  *) echo "no part \"$part\"" >&2; exit 2 ;;
esac
case $part in
  advice*) # In pieces where it is too large: cat advice.tar.* | tar x
    (cd "$work" && tar cf all.tar -- *.gz *.json *.log 2>/dev/null)
    if [ "$(stat -c %s "$work/all.tar")" -lt 16000000 ]; then mv "$work/all.tar" "$out/$part.tar"; else split -b 15M -d -a 1 "$work/all.tar" "$out/$part.tar."; fi ;;
  zoo*) # The table and the logs by themselves: they must come back whatever becomes of the captures.
    (cd "$work" && tar czf "$out/$part.table.tgz" zoo.json *.log *.gpf.json 2>/dev/null; mv captures.tar "$out/$part.captures.tar" 2>/dev/null) ;;
  attach) cp "$work/attach.json" "$work/session.log" "$out/" 2>/dev/null ;;
  serving) cp "$work"/serving_show.json "$work"/*.xz "$work"/*.gz "$work/session.log" "$out/" 2>/dev/null ;;
  energy) cp "$work"/quick.* "$work/programs.json" "$work/session.log" "$out/" 2>/dev/null ;;
  clocks) mv "$work/clocks.json" "$out/" 2>/dev/null ;;
  utilization) mv "$work/table.json" "$out/$part.json"; mv "$work/state.json" "$out/$part.state.json" ;;
  studies) cp "$work/power.json" "$work/session.log" "$out/" 2>/dev/null
    cp "$work/captures/study.json" "$out/runtime.json" 2>/dev/null
    (cd "$work/counted" && tar cf "$out/counted.tar" -- *.csv.gz work/*.log 2>/dev/null) ;;
  runtime) mv "$work/captures/study.json" "$out/$part.json" 2>/dev/null; mv "$work/session.log" "$out/$part.log" ;;
esac
ls -l "$out"
echo "== $part took $((SECONDS - begin)) s ($(date +%T))"
