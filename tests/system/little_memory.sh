#!/usr/bin/env bash
# With less memory than an answer needs, every verb says what, where and what to do, and ends with 1; nothing is left half written.
# Usage: little_memory.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
gf=$build/gpufathom
if grep -q 'GPUFATHOM_SANITIZE[A-Z_]*:BOOL=ON' "$build/CMakeCache.txt"; then echo "sanitizers reserve memory of their own"; exit 77; fi
work=$(mktemp -d)
cd "$work"
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
zcat "$root/examples/resnet50_amp_eager_b64.json.gz" > trace.json
"$gf" import trace.json -o run.gpf > /dev/null
least=$(bash -c "ulimit -v 200000; '$gf' --version" > /dev/null 2>&1 && echo 40000 || echo 200000)
"$gf" query run.gpf 'select count(*) from kernels' > kernels
short=0 code=0
attempt() {  # KILOBYTES WORDS
  local kilobytes=$1
  code=0
  shift
  bash -c "ulimit -v $kilobytes; exec \"\$@\"" sh "$gf" "$@" > out 2> err || code=$?
  [ $code -le 1 ] || fail "$* with $kilobytes kB ends with $code: $(head -c 300 err)"
  if [ $code = 1 ]; then
    short=$((short + 1))
    # The loader and the system speak before the program can.
    grep -q 'memory' err || fail "$* with $kilobytes kB does not say that memory ran out: $(head -c 300 err)"
    grep -q 'terminate called\|std::' err && fail "$*: a raw message: $(head -c 300 err)"
  fi
  ls .*.part 2> /dev/null && fail "$* leaves a part of a file"
}
for kilobytes in $(seq "$least" 9000 $((least + 110000))); do
  attempt "$kilobytes" analyze trace.json --format json -o answer.json
  attempt "$kilobytes" analyze run.gpf -o answer.html
  attempt "$kilobytes" query trace.json 'select count(*) from kernels'
  attempt "$kilobytes" export trace.json --perfetto -o answer.pftrace
  rm -f made.gpf
  attempt "$kilobytes" import trace.json -o made.gpf
  # With the answer of analyze or, where that finds too little memory, without.
  if [ $code = 0 ]; then
    "$gf" query made.gpf 'select count(*) from kernels' 2>&1 > out | grep . && fail "an import with $kilobytes kB is not whole"
    cmp -s out kernels || fail "an import with $kilobytes kB lacks kernels"
  elif [ -e made.gpf ]; then
    fail "an import with $kilobytes kB failed and left a file"
  fi
done
[ $short -gt 0 ] || fail "there was always enough memory: this test tests nothing"
echo "$short answers found too little memory"
[ $failures = 0 ] || exit 1
