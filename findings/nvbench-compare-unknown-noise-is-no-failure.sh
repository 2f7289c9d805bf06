#!/usr/bin/env bash
# Guess: nvbench-compare-legacy calls a kernel slower if its mean differs by more than the means' error, and its exit status is
# 0 only if none differs.
# So it is: the limit is the smaller standard deviation of single runs, however many there are: of 10000 runs each a mean
# that is 4.9 % slower at 5 % noise is SAME (70 times its error). Noise that is unknown (null, few runs) and also a noise of
# exactly 0 is "????", which is no failure: kernels 10 times and 3 times slower give exit status 0. A faster kernel is a
# failure. The status is the number of failures, of which a shell keeps 8 bits: 256 slower kernels are 0.
# Why: a check in CI passes on the worst regressions and fails on an improvement.
# Versions: cuda-bench 0.3.0 (its script only), tabulate 0.9.0, colorama 0.4.6, jsondiff 2.2.1.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-deps cuda-bench==0.3.0
"$tmp/venv/bin/pip" install -q tabulate==0.9.0 colorama==0.4.6 jsondiff==2.2.1 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import importlib.metadata, json, pathlib, re, subprocess, sys
print("cuda-bench", importlib.metadata.version("cuda-bench"))


def write(path, kernels, microseconds, noise):
    def number(tag, value, kind="float64"):
        return {"tag": tag, "name": tag, "description": "", "data": [{"name": "value", "type": kind, "value": value}]}
    state = {"name": "Device=0", "min_samples": 10, "device": 0, "type_config_index": 0, "axis_values": None, "is_skipped": False, "summaries": [
        number("nv/cold/sample_size", "10000", "int64"), number("nv/cold/time/gpu/mean", repr(microseconds / 1e6)), number("nv/cold/time/gpu/stdev/relative", noise)]}
    benchmarks = [{"name": f"kernel {index}", "index": index, "devices": [0], "axes": [], "states": [state]} for index in range(kernels)]
    pathlib.Path(path).write_text(json.dumps({"meta": {"version": {"json": {"major": 1, "minor": 0, "patch": 0, "string": "1.0.0"}}},
                                              "devices": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "benchmarks": benchmarks}))


for title, kernels, factor, noise in (("2 % slower at noise of 1 %", 1, 1.02, "0.01"), ("4.9 % slower at noise of 5 %", 1, 1.049, "0.05"), ("10 times slower, noise null", 1, 10, None),
                                      ("3 times slower, noise 0", 1, 3, "0"), ("20 % faster at noise of 1 %", 1, 0.8, "0.01"), ("256 kernels twice as slow", 256, 2, "0.01")):
    write("before.json", kernels, 100, noise)
    write("after.json", kernels, 100 * factor, noise)
    out = subprocess.run([sys.executable, "-c", "import sys; from cuda.bench.scripts.nvbench_compare import main; sys.exit(main())", "--no-color", "before.json", "after.json"],
                         capture_output=True, text=True)
    words = sorted(set(re.findall("SAME|SLOW|FAST|[?]{4}", out.stdout)))
    print(f"{title}: {words or out.stderr}, exit status {out.returncode}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
cuda-bench 0.3.0
2 % slower at noise of 1 %: ['SLOW'], exit status 1
4.9 % slower at noise of 5 %: ['SAME'], exit status 0
10 times slower, noise null: ['????'], exit status 0
3 times slower, noise 0: ['????'], exit status 0
20 % faster at noise of 1 %: ['FAST'], exit status 1
256 kernels twice as slow: ['SLOW'], exit status 0
END
