#!/usr/bin/env bash
# The time of an answer grows little faster than its input, in every dimension that regular data has: a small version of
# `./dev bench growth`. Four times the input may take 8 times as long, where a quadratic program takes 16. Usage: growth.sh BUILD_DIR
# Random data is tests/slow/growth.sh's: its bound of 4^1.2 on instructions finds as small a quadratic part in a fifth of the events.
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
grow() { python3 "$root/bench/growth.py" --program "$build/gpufathom" --attempts 9 --across 8 "$@"; }
grow --part 0.2 --but random_ --answers analyze,page,perfetto
