#!/usr/bin/env bash
# On a real terminal: `record` under job control, and names that would give the terminal orders. Usage: terminal.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
work=$(mktemp -d)
cd "$work"
trap 'rm -rf "$work"' EXIT
python3 "$root/tests/system/job_control.py" "$build/gpufathom"
python3 "$root/tests/system/no_orders.py" "$build/gpufathom" "$root/tests/hostile"
python3 "$root/tests/system/monitor_keys.py" "$build/gpufathom"
