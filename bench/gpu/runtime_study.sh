#!/usr/bin/env bash
# Records the captures of the runtime study on a machine with a GPU: bench/gpu/runtime_study.sh [FOLDER, default $OUT] [ARGUMENT ...]
# The arguments go to `gpu_study.py record` (--paper, --budget-seconds 100). The captures are small; `examples/studies/runtime/gpu_study.py check
# FOLDER` compares and judges them, here when gpufathom is there (GPUFATHOM, build/bundle or build).
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-${OUT:-.cache/runtime_study_gpu}}
[ $# -gt 0 ] && shift
export XLA_PYTHON_CLIENT_PREALLOCATE=false
failed=0 frameworks=()
case " $* " in *" --paper "*) frameworks=(--paper --frameworks torch jax jax-cpu) ;; esac
python3 examples/studies/runtime/gpu_study.py record "$out" "$@" "${frameworks[@]}" || failed=1
du -sh "$out"
for gf in "${GPUFATHOM:-}" build/bundle/gpufathom build/gpufathom; do
  [ -x "$gf" ] || continue
  python3 examples/studies/runtime/gpu_study.py check "$out" --gpufathom "$gf" "${frameworks[@]}" || failed=1
  break
done
exit $failed
