#!/usr/bin/env bash
# Instructions of an answer grow with an exponent of at most 1.2 in every dimension of random data, whatever else the machine does.
# Usage: growth.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
python3 "$root/bench/growth.py" --program "$build/gpufathom" --only random_spans --part 0.03 --instructions --answers whatif
exec python3 "$root/bench/growth.py" --program "$build/gpufathom" --only random_ --part 0.05 --instructions --answers analyze
