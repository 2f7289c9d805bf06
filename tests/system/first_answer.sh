#!/usr/bin/env bash
# The program that `./dev demo` has first gives the program's own answer. Usage: first_answer.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd) examples=$(cd "$(dirname "$0")/../../examples" && pwd)
first=$build/gpufathom_first_answer
[ -x "$first" ] || { echo "not of this build: a release that compiles folders together has it"; exit 77; }
trace=$examples/resnet50_amp_eager_b64.json.gz counters=$examples/resnet50_amp_eager_b64.ncu.csv.gz
diff <("$first" "$trace" "$counters") <("$build/gpufathom" analyze "$trace" --counters "$counters") || exit 1
[ -z "$("$first" "$trace" "$trace" 2>/dev/null)" ] || { echo "a trace passes as a report"; exit 1; }
