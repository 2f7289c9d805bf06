#!/usr/bin/env bash
# The time of an answer grows little faster than its input, in every dimension that an input has: a small version of
# `./dev bench growth`. Four times the input may take 8 times as long, where a quadratic program takes 16. Usage: growth.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
exec python3 "$root/bench/growth.py" --program "$build/gpufathom" --part 0.2 --attempts 9 --across 8 --answers analyze,page,perfetto
