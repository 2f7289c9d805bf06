#!/usr/bin/env bash
# The scripts that want a GPU, without one: each parses, and the test of recording runs to its end over the fake driver libraries.
# What it measures there is no truth, so that only what the fakes can promise is asked for. Usage: gpu_scripts.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE= FAKE_PROGRAM=$build/fakes/program
export GPU_LOAD=$root/tests/fakes/load.sh GPU_PACE=0.2 PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
check() {  # check NAME CONDITION...
  local name=$1; shift
  if "$@"; then echo "ok    $name"; else echo "FAILED $name: $*"; failures=$((failures + 1)); fi
}
is() { check "$1" [ "$2" = "$3" ]; }

"$root/tests/gpu/test_record" "$build/gpufathom" "$work/record" >"$work/record.log" 2>&1 &
python=() bash=()
while read -r file; do
  first=$(head -1 "$file")
  case $file:$first in
    *.py:* | *python3) python+=("$file") ;;
    *bash) bash+=("$file") ;;
  esac
done < <(find "$root/tests/gpu" "$root/bench/gpu" -type f ! -name '*.pyc')
check "there are scripts in Python" [ ${#python[@]} -gt 20 ]
check "and in bash" [ ${#bash[@]} -gt 8 ]
check "those in Python parse" python3 -c 'import ast, sys; [ast.parse(open(name).read(), name) for name in sys.argv[1:]]' "${python[@]}"
for file in "${bash[@]}"; do check "${file#"$root/"} parses" bash -n "$file"; done

wait
saw() { jq --arg name "$1" '[.[] | select(.name | startswith($name)) | .ok] | length > 0 and all' "$work/record/record.json"; }
for name in "the program's exit code" "recording with kernels ends well" "it sees kernels, copies and steps" \
  "hardware counters are sampled" "what was written before a kill -9 is whole"; do
  is "test_record: $name" "$(saw "$name")" true
done
is "test_record: every part ran to its end" "$(jq '[.[] | select(.name | endswith("runs to its end"))] | length' "$work/record/record.json")" 0
[ $failures = 0 ] || tail -20 "$work/record.log"
exit $failures
