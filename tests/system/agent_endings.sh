#!/usr/bin/env bash
# Programs that end in every way there is, alone and under `record --kernels` over the fake driver: exit code, output and
# files must be the same (tests/fakes/endings.cpp). Prints the table of docs/security.md. Usage: agent_endings.sh BUILD_DIR [NAME ...]
exec python3 "$(dirname "$0")/agent_endings.py" "$@"
