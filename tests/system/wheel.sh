#!/usr/bin/env bash
# The wheel that ./dev wheel made, installed into an environment of its own: the same answers as the build's program, the
# energy model and the injected library found, nothing needed that manylinux_2_26 does not promise. Usage: wheel.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
wheel=$(ls "$build"/wheel/gpufathom-*_x86_64.whl 2>/dev/null | head -1)
[ -n "$wheel" ] || { echo "no wheel: ./dev wheel makes it"; exit 77; }
[ "$wheel" -nt "$build/libgf_cli.a" ] || { echo "the wheel is older than the program: ./dev wheel makes it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
check() {  # check NAME CONDITION...
  local name=$1; shift
  if "$@"; then echo "ok    $name"; else echo "FAILED $name: $*"; failures=$((failures + 1)); fi
}
newest() { objdump -T "$@" | grep -oE "GLIBC_[0-9.]+" | sort -uV | tail -1; }
no_newer() { [ "$(printf '%s\n' "$(newest "$1")" "GLIBC_$2" | sort -V | tail -1)" = "GLIBC_$2" ]; }

check "it is at most 7.6 MB" [ "$(stat -c %s "$wheel")" -le 7600000 ]
check "its tag is kept" grep -q manylinux_2_26_x86_64 <<<"$("$root/.cache/wheel/bin/auditwheel" show "$wheel")"
python3 -m venv venv
check "it installs alone" venv/bin/pip install -q --disable-pip-version-check --no-index --no-deps "$wheel"
package=$(echo venv/lib/python3*/site-packages/gpufathom)
for library in fmt zstd isal simdjson sqlite3 boost1.74 eigen3 expected; do
  check "it holds the notice of $library" grep -qi copyright "$package/_native/share/gpufathom/notices/lib$library-dev.txt"
done
check "the program wants glibc 2.26 at most" no_newer "$package/_native/bin/gpufathom" 2.26
check "so does the library" no_newer "$package/_native/lib/libgpufathom.so" 2.26
if [ -x "$root/.cache/zig/ziglang/zig" ]; then
  check "the injected library wants glibc 2.17 at most" no_newer "$package/_native/lib/gpufathom/libgpufathom_inject.so" 2.17
fi
system=$(ldd "$package/_native/bin/gpufathom" "$package/_native/lib/libgpufathom.so" | awk '$3 ~ /^\/(usr\/)?lib/ {print $1}' | sort -u | tr '\n' ' ')
check "of the system they take what every one has" [ "$system" = "libc.so.6 libdl.so.2 libgcc_s.so.1 libm.so.6 libpthread.so.0 libstdc++.so.6 libz.so.1 " ]

trace=$root/examples/lenet_train_b64.json.gz
answer() { "$@" analyze "$trace" --format json | jq "del(.energy.model)"; }
same() { diff <(answer "$@") <(answer "$build/gpufathom") >/dev/null; }
check "gpufathom analyze" same venv/bin/gpufathom
check "python -m gpufathom analyze" same venv/bin/python -m gpufathom
check "its exit code" [ "$(venv/bin/gpufathom analyze nowhere.json 2>/dev/null; echo $?)" = 1 ]
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
venv/bin/gpufathom record -q --kernels --window 0 -o run.gpf -- "$build/fakes/program" init launch=gemm*5
check "the injected library is found" [ "$(venv/bin/gpufathom query run.gpf "select count(*) from kernels" --format csv | tail -1)" = 5 ]
models=$package/_native/share/gpufathom/energy
check "it has the measurements that reproduce compares with" test -s "$package/_native/share/gpufathom/results/utilization_h200.json"
check "the energy models are there" diff -q "$root/share/energy/NVIDIA-H200.energy.json" "$models/NVIDIA-H200.energy.json"
check "so are runs that they are made of" [ "$(find "$models/boards" -name '*.gz' | wc -l)" -eq 5 ]
exit $((failures > 0))
