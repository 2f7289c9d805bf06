#!/usr/bin/env bash
# The time of an answer grows little faster than its input, in every dimension that an input has, regular data and random: a small version of
# `./dev bench growth`. Four times the input may take 8 times as long, where a quadratic program takes 16. Usage: growth.sh BUILD_DIR
# tests/slow/growth.sh counts instructions and is stricter.
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
grow() { python3 "$root/bench/growth.py" --program "$build/gpufathom" --attempts 9 --across 8 "$@"; }
grow --part 0.2 --but random_ --answers analyze,page,perfetto
grow --part 0.25 --only random_ --answers analyze
