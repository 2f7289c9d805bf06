#!/usr/bin/env bash
# What the program and the library that goes into recorded programs need of the C library: glibc 2.34 (Ubuntu 22.04, RHEL 9) and
# 2.17 (RHEL 7, manylinux2014). Usage: glibc_needs.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
needs() { objdump -T "$1" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -1 | cut -d_ -f2; }
within() { [ "$(printf '%s\n%s\n' "$2" "$3" | sort -V | tail -1)" = "$3" ] && echo "ok    $1: $2" || { echo "FAILED $1 needs glibc $2, more than $3"; exit 1; }; }
if objdump -p "$build/gpufathom" | grep -q 'NEEDED.*lib[a-z]*san'; then echo "skip  built with sanitizers"; exit 77; fi
within program "$(needs "$build/gpufathom")" 2.34 || exit 1
[ -x "$root/.cache/zig/ziglang/zig" ] || { echo "skip  the injected library: zig is not here (./dev setup)"; exit 77; }
within "injected library" "$(needs "$build/libgpufathom_inject.so")" 2.17 || exit 1
size=$(stat -c %s "$build/libgpufathom_inject.so")
[ "$size" -lt 1500000 ] && echo "ok    its size: $size bytes" || { echo "FAILED its size: $size bytes"; exit 1; }
