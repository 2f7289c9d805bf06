#!/usr/bin/env bash
# `cmake --install` into a prefix that has an interpreter of its own: a C program finds the library by find_package and by
# pkg-config, that interpreter imports the package, the program finds its energy models and the library for recorded
# programs, and the man page is there, after the whole tree was moved, too; /usr gets Debian's folders; configuring needs
# no network. Usage: package.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
export PATH=/usr/bin:/bin:$PATH
python3 -c 'import ensurepip, venv' 2>/dev/null || { echo "no python3-venv: ./dev setup installs it"; exit 77; }
grep -q 'GPUFATHOM_SANITIZE[A-Z_]*:BOOL=ON' "$build/CMakeCache.txt" && { echo "a library with sanitizers loads into no other program"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
check() {  # check NAME COMMAND...
  local name=$1; shift
  if "$@" >said 2>&1; then echo "ok    $name"; else echo "FAILED $name"; tail -20 said; failures=$((failures + 1)); fi
}
python3 -m venv --without-pip made
check "it installs" cmake --install "$build" --prefix "$work/made" --strip
mv made prefix  # the interpreter's folder moves with it
prefix=$work/prefix version=$(sed -n 's/^project(gpufathom VERSION \([^ ]*\).*/\1/p' "$root/CMakeLists.txt")

mkdir program
cat >program/main.c <<'C'
#include <gpufathom.h>
#include <stdio.h>
int main(int count, char** words) {
  gpufathom_capture* capture = NULL;
  char *json = NULL, *error = NULL;
  gpufathom_options options = {sizeof options, "steps"};
  if (count < 2 || gpufathom_open(words[1], &capture, &error) ||
      gpufathom_report(capture, &options, GPUFATHOM_JSON, &json, &error))
    return fprintf(stderr, "%s\n", error ? error : "no file"), 1;
  printf("%s %.12s\n", gpufathom_version(), json);
  gpufathom_free(json);
  gpufathom_close(capture);
  return 0;
}
C
cat >program/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.25)
project(program C)
find_package(gpufathom VERSION CONFIG REQUIRED)
add_executable(program main.c)
target_link_libraries(program gpufathom::gpufathom)
C
trace=$root/examples/lenet_train_b64.json.gz
sed -i "s/VERSION CONFIG/$version CONFIG/" program/CMakeLists.txt
answers() { [ "$("$@" "$trace")" = "$version {\"schema\":\"g" ] || { "$@" "$trace"; return 1; }; }
check "find_package finds it" cmake -S program -B built -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
check "a program is built with it" cmake --build built
check "and answers" answers built/program
sed -i "s/$version/999.0/" program/CMakeLists.txt
refuses() { ! cmake -S program -B other -DCMAKE_PREFIX_PATH="$prefix" && grep -q "version: $version" said; }
check "another version is refused" refuses
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name gpufathom.pc)")
check "pkg-config knows its version" [ "$(pkg-config --modversion gpufathom)" = "$version" ]
# shellcheck disable=SC2046
check "pkg-config finds it" cc -Wall -Werror -o by_hand program/main.c $(pkg-config --cflags --libs gpufathom) -Wl,-rpath,"$(pkg-config --variable=prefix gpufathom)/lib"
check "and that program answers" answers ./by_hand

python() { (cd / && env -u PYTHONPATH -u GPUFATHOM_BUILD "$prefix/bin/python3" "$@"); }
check "the prefix's interpreter imports it" python -c "
import gpufathom, sys
from gpufathom import _places
assert gpufathom.open('$trace').levels()
for place in gpufathom.__file__, _places.program(), _places.library():
    assert place.startswith('$prefix/'), place
answer = gpufathom.open('$root/examples/resnet50_fp32_eager_b64.json.gz').analysis.energy.model
assert 'NVIDIA-H200' in str(answer), answer"
check "python -m gpufathom" python -m gpufathom --version
check "the man page" grep -q gpufathom "$prefix/share/man/man1/gpufathom.1"
models() { "$prefix/bin/gpufathom" analyze "$root/examples/resnet50_fp32_eager_b64.json.gz" --format json | jq -e '.energy.model | tostring | test("NVIDIA-H200")'; }
check "the program finds its energy models" models
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
check "and the library for recorded programs" "$prefix/bin/gpufathom" record -q --kernels --window 0 -o run.gpf -- "$build/fakes/program" init launch=gemm*5
kernels() { [ "$("$prefix/bin/gpufathom" query run.gpf "select count(*) from kernels" --format csv | tail -1)" = 5 ]; }
check "which records its kernels" kernels

if [ -e /etc/debian_version ] && [ -x /usr/bin/python3 ]; then
  DESTDIR=$work/staged check "it installs into /usr of Debian" cmake --install "$build" --prefix /usr
  check "where Debian's Python looks" [ -e "$work/staged/usr/lib/python3/dist-packages/gpufathom/__init__.py" ]
fi
if unshare -rn true 2>/dev/null; then
  headers=$(sed -n 's/^GPUFATHOM_CUDA_HEADERS:[A-Z]*=//p' "$build/CMakeCache.txt")
  check "configuring needs no network" unshare -rn cmake -S "$root" -B configured -DGPUFATHOM_TESTS=OFF \
    -DGPUFATHOM_CUDA_HEADERS="$(realpath "$headers")" -DCMAKE_INSTALL_LIBDIR=lib64
  check "libraries elsewhere are found from the program" grep -q 'kProgramToLibrary = "../lib64"' configured/generated/core/version.h
fi
exit $((failures > 0))
