#!/usr/bin/env bash
# Stands in for bench/gpu/workload.py on a machine without a GPU: takes its words, launches on the fake driver (FAKE_PROGRAM).
words=(init)
while [ $# -gt 0 ]; do
  case $1 in
    --steps) for _ in $(seq "$2"); do words+=(push=gpufathom.step "launch=gemm*5" copy pop); done; shift ;;
    --seconds) words+=("launch=work*$(awk "BEGIN { print int($2 * 1000) }")ms"); shift ;;
  esac
  shift
done
exec "$FAKE_PROGRAM" "${words[@]}"
