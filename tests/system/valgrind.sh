#!/usr/bin/env bash
# Reading and analysing touch no memory that is not theirs, as valgrind sees it: a trace, a recording and an XPlane profile.
# Usage: valgrind.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd) examples=$(cd "$(dirname "$0")/../../examples" && pwd)
command -v valgrind >/dev/null || { echo "valgrind is not installed: ./dev setup"; exit 77; }
if grep -q 'GPUFATHOM_SANITIZE[A-Z_]*:BOOL=ON' "$build/CMakeCache.txt"; then echo "sanitizers and valgrind exclude each other"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$examples/jax_mlp.tgz" -C "$work"
failed=0
for capture in "$examples/lenet_inf_b1.json.gz" "$examples/mnist_recorded.gpf" "$work"/plugins/profile/*/*.xplane.pb; do
  # 9 is no exit code of the program's own.
  if valgrind --error-exitcode=9 -q "$build/gpufathom" analyze "$capture" >"$work/said" && grep -q GPU "$work/said"; then
    echo "ok    $(basename "$capture")"
  else
    echo "FAILED $(basename "$capture")"
    failed=1
  fi
done
exit $failed
