#!/usr/bin/env bash
# Guess: the latency per token of optimum-benchmark is over the gaps between the tokens of one answer, each counted once.
# So it is: the times of all answers since the start of the session are kept in one list, and each answer adds all gaps
# of that list anew: the gaps of the first of ten answers count ten times, and the wait for the first token of
# the next answer counts as a token. Ten answers of 20 tokens have 1090 values, not 190; at 500 ms to the first
# token and 20 ms for each other the mean is 39.8 ms and the p99 500. Steps of a diffusion pipeline likewise.
# Why: a longer benchmark shows slower tokens and a p99 that is the prefill; "decode" beside it is right.
# Versions: optimum-benchmark 0.6.0, transformers 5.24.0, torch 2.13.0, numpy 2.4.6 (CPU). The clock is stood in for; its
# own __init__, which imports every backend, is passed over.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q torch==2.13.0 transformers==5.24.0 numpy==2.4.6 rich==15.0.0
"$tmp/venv/bin/pip" install -q --no-deps optimum-benchmark==0.6.0
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, importlib.util, sys, time, types
root = importlib.util.find_spec("optimum_benchmark").submodule_search_locations[0]
for name, path in (("optimum_benchmark", root), ("optimum_benchmark.trackers", root + "/trackers")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [path]
from optimum_benchmark.trackers.latency import PerStepLatencySessionTrackerPipelineCallback, PerTokenLatencySessionTrackerLogitsProcessor
print(*(f"{name} {importlib.metadata.version(name).partition('+')[0]}" for name in ("optimum-benchmark", "transformers", "torch", "numpy")))
clock = 0.0
time.perf_counter = lambda: clock
for answers in (1, 2, 10, 20):
    tokens = PerTokenLatencySessionTrackerLogitsProcessor("cpu", "pytorch")
    steps = PerStepLatencySessionTrackerPipelineCallback("cpu", "pytorch")
    with tokens.session(), steps.session():
        for _ in range(answers):
            with tokens.track(), steps.track(): # each call of generate, as its scenario does
                for wait in [0.5] + 19 * [0.02]:
                    clock += wait
                    tokens(None, None)
                    steps(None, 0, 0, {})
    of, decode, diffusion = tokens.get_per_token_latency(), tokens.get_decode_latency(), steps.get_step_latency()
    print(f"{answers} answers of 20 tokens: {of.count} values of {answers * 19}, mean {of.mean * 1e3:.1f} ms, p50 {of.p50 * 1e3:.0f},",
          f"p99 {of.p99 * 1e3:.0f}; decode over 19: {decode.mean / 19 * 1e3:.1f}; steps: {diffusion.count} values, mean {diffusion.mean * 1e3:.1f} ms")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
optimum-benchmark 0.6.0 transformers 5.24.0 torch 2.13.0 numpy 2.4.6
1 answers of 20 tokens: 19 values of 19, mean 20.0 ms, p50 20, p99 20; decode over 19: 20.0; steps: 19 values, mean 20.0 ms
2 answers of 20 tokens: 58 values of 38, mean 28.3 ms, p50 20, p99 226; decode over 19: 20.0; steps: 58 values, mean 28.3 ms
10 answers of 20 tokens: 1090 values of 190, mean 39.8 ms, p50 20, p99 500; decode over 19: 20.0; steps: 1090 values, mean 39.8 ms
20 answers of 20 tokens: 4180 values of 380, mean 41.8 ms, p50 20, p99 500; decode over 19: 20.0; steps: 4180 values, mean 41.8 ms
END
