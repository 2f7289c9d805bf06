#!/usr/bin/env bash
# Half an hour of the live path on a machine with two GPUs, in parts that may be commands of their own, one after the other:
#   two_gpus.sh start WORK [PLAN]     the flight recorder begins over both GPUs, and the jobs of flight.py's PLAN on GPU 1
#   two_gpus.sh measure WORK          on GPU 0, some six minutes: energy's counters while programs start, contexts that take turns, what
#                                     tracing costs where the host is the limit; both GPUs are monitored from within this on
#   two_gpus.sh counters WORK         from now on the monitors also take the counters of GPU 0
#   two_gpus.sh collect WORK OUT      what is known until now: OUT/live.tar.gz
#   two_gpus.sh finish WORK OUT S     waits for the jobs, S seconds at most, ends everything, and OUT also gets the moments' captures
# WORK is a folder that does not exist: it gets a copy of gpufathom (GPUFATHOM, build/bundle or build) and of the scripts, so that the
# tree may change meanwhile. GPU 0's counters are free for others throughout: the flight recorder takes GPM there.
set -uo pipefail
part=${1:?part} work=${2:?folder}
tree=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
say() { echo "== $* ($(date +%T))"; }
behind() {  # NAME COMMAND...: goes on after this script
  local name=$1; shift
  setsid nohup "$@" > "$work/out/$name.log" 2>&1 < /dev/null &
  echo $! > "$work/$name.pid"
}
end() {  # NAME SECONDS: SIGTERM, and so long to end well
  local pid; pid=$(cat "$work/$1.pid" 2>/dev/null) || return 0
  kill -TERM "$pid" 2>/dev/null
  for _ in $(seq "$2"); do kill -0 "$pid" 2>/dev/null || return 0; sleep 1; done
  echo "$1 did not end"
}
monitors() {  # NAME OPTIONS
  local name=$1; shift
  behind "$name" "$python" "$work/tests/gpu/monitor_all_sources.py" "$gf" "$work/out/$name.json" --seconds 3600 "$@"
}
kinds() {  # NAME OPTIONS: what is wrong is in its table
  local name=$1; shift
  "$work/tests/gpu/kinds/run" "$gf" "$work/out/$name.json" --programs "$work" --devices 0 "$@" > "$work/out/$name.log" 2>&1
  tail -1 "$work/out/$name.log"
}
gf=$work/bundle/gpufathom
case $part in
  start)
    mkdir "$work" && mkdir "$work/out" || exit 1
    from=${GPUFATHOM:-}
    for found in build/bundle/gpufathom build/gpufathom; do [ -n "$from" ] || { [ -x "$tree/$found" ] && from=$tree/$found; }; done
    mkdir -p "$work/bundle" "$work/tests" "$work/bench"
    find "$(dirname "$from")" -maxdepth 1 -type f -name '*.so*' -exec cp -t "$work/bundle" "$from" {} + && cp -r "$tree/tests/gpu" "$work/tests/" && cp -r "$tree/bench/gpu" "$work/bench/" || exit 1
    say "start, $("$gf" --version 2>&1 | head -1)"
    behind flight "$python" "$work/tests/gpu/flight.py" "$gf" "$work/out/flight.json" --gpus 1 --watch 0,1 --no-counters 0 \
      --plan "${3:-train:560,serve:640:40,planted}" --keep "$work/flight" ;;
  measure)
    say "measure"
    nvcc -O2 -std=c++17 -rdc=true -arch=native "$work/tests/gpu/kinds/programs.cu" -lcudadevrt -lcuda -o "$work/programs" || exit 1
    export CUDA_VISIBLE_DEVICES=0
    sleep 8 # the flight recorder has begun, and GPU 0's counters are free
    kinds energy --only energy --repeat 2 --budget-seconds 110
    (unset CUDA_VISIBLE_DEVICES; monitors monitors --counters none)
    say "contexts"
    kinds contexts --only "two processes" "three contexts" "contexts whose" "beside" --repeat 2 --budget-seconds 60
    say "turns"
    "$python" "$work/bench/gpu/live_cost.py" "$gf" "$work/out/turns.json" --parts turns --devices 0 > "$work/out/turns.log" 2>&1
    say "energy beside monitors"
    kinds energy_monitored --only energy --budget-seconds 50
    say "measured" ;;
  counters)
    end monitors 30
    monitors monitors_counters --counters 0 --after "$work/out/monitors.json" ;;
  collect) ;;
  finish)
    pid=$(cat "$work/flight.pid")
    for _ in $(seq "${4:-60}"); do kill -0 "$pid" 2>/dev/null || break; sleep 1; done
    say "finish"
    end flight 60
    end monitors 5; end monitors_counters 30
    cd "$work/flight" || exit 1
    size=0 kept=() # the oldest first, as far as they fit
    for capture in *.gpf; do
      size=$((size + $(stat -c %s "$capture")))
      [ "$size" -gt 14000000 ] || kept+=("$capture")
    done
    tar cf "$3/moments.tar" "${kept[@]}" ;;
  *) echo "no part \"$part\"" >&2; exit 2 ;;
esac
if [ "$part" = collect ] || [ "$part" = finish ]; then
  cp "$work/flight/moments.jsonl" "$work/flight/said" "$work/out/" 2>/dev/null
  tar czf "$3/live.tar.gz" -C "$work" out && ls -l "$3"
fi
