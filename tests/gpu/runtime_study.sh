#!/usr/bin/env bash
# Records the captures of the runtime study on a machine with a GPU: tests/gpu/runtime_study.sh [FOLDER, default $OUT]
# They are small; `examples/studies/runtime/gpu_study.py check FOLDER` compares and judges them, here when gpufathom is built.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-${OUT:-.cache/runtime_study_gpu}}
export XLA_PYTHON_CLIENT_PREALLOCATE=false
failed=0
python3 examples/studies/runtime/gpu_study.py record "$out" || failed=1
du -sh "$out"
if [ -x build/gpufathom ]; then python3 examples/studies/runtime/gpu_study.py check "$out" || failed=1; fi
exit $failed
