#!/usr/bin/env bash
# The intervals of the energy model on boards left out, worked out from the raw points of six boards. Usage: energy_boards.sh BUILD_DIR.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python3 "$here/energy_boards.py" "$1/gpufathom" "$here/../../docs/results/energy"
