#!/usr/bin/env bash
# Guess: HolisticTraceAnalysis' summary of memory bandwidth is over the copies of a kind: as many as there are, with
# a mean that is near bytes over time, and none above the fastest.
# So it is: it is over the points at which the sum of running copies changes, whatever their time: 99 copies of 10 us
# at 1.3 GB/s and one of 10 ms at 25 have a mean of 1.5, not 22.9. The sum is in floating point: after two
# copies that overlap, at 10.7 and 10.9 GB/s, it does not come back to 0 but to 2e-15, and every gap from there
# on is a point above 0: 102 copies are 204, of half the bandwidth. Back to back copies on one stream count
# as both at once: 12.3 has a maximum of 24.6.
# Why: the summary says that PCIe is slow where it is not, or as fast as two links.
# Versions: HolisticTraceAnalysis 0.5.0, pandas 2.3.3, numpy 2.3.5.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q HolisticTraceAnalysis==0.5.0 pandas==2.3.3 numpy==2.3.5
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/out" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, json, numpy, os, pandas
from hta.trace_analysis import TraceAnalysis
print("seen: HolisticTraceAnalysis", importlib.metadata.version("HolisticTraceAnalysis"), "pandas", pandas.__version__, "numpy", numpy.__version__)


def summary(folder, copies):
    """As PyTorch's profiler writes them: the call and the copy, with its bytes and its bandwidth."""
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "pid": 1, "tid": 1, "ts": 0, "dur": 100000, "args": {"External id": 1}}]
    for number, (start, length, stream, rate) in enumerate(copies, 1):
        args = {"device": 0, "context": 1, "stream": stream, "correlation": number, "bytes": int(rate * length * 1000),
                "memory bandwidth (GB/s)": rate}
        events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 1, "ts": start - 5, "dur": 2,
                    "args": {"correlation": number, "cbid": 41}},
                   {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": stream, "ts": start, "dur": length,
                    "args": args}]
    os.mkdir(folder)
    with open(f"{folder}/rank-0.json", "w") as out:
        json.dump({"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": events}, out)
    analysis = TraceAnalysis(trace_files={0: f"{folder}/rank-0.json"}, trace_dir=folder)
    return analysis.get_memory_bw_summary(ranks=[0])["memory_bw_gbps"].iloc[0]


def show(title, copies):
    of = summary(title, copies)
    true = sum(length * rate for _, length, _, rate in copies) / sum(length for _, length, _, rate in copies)
    print(f"seen: {title}: {len(copies)} copies, {true:.1f} GB/s; summary {of['count']:.0f}, mean {of['mean']:.1f}, min {of['min']:.1f}")


apart = [(1000 + 200 * index, 100, 7, 12.3) for index in range(100)]
show("apart", apart)
show("short and long", [(1000 + 200 * index, 10, 7, 1.3) for index in range(99)] + [(50000, 10000, 7, 25.0)])
show("two overlap, then apart", [(100, 100, 7, 10.7), (150, 100, 20, 10.9)] + apart)
# The order of equal times, and with it the mean, is the processor's.
of = summary("back to back", [(1000 + 100 * index, 100, 7, 12.3) for index in range(100)])
print(f"seen: back to back: max {of['max']:.1f}, mean above {12.3}: {of['mean'] > 12.5}")
PY
grep '^seen: ' "$tmp/out" >"$tmp/seen"
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
seen: HolisticTraceAnalysis 0.5.0 pandas 2.3.3 numpy 2.3.5
seen: apart: 100 copies, 12.3 GB/s; summary 100, mean 12.3, min 12.3
seen: short and long: 100 copies, 22.9 GB/s; summary 100, mean 1.5, min 1.3
seen: two overlap, then apart: 102 copies, 12.3 GB/s; summary 204, mean 6.2, min 0.0
seen: back to back: max 24.6, mean above 12.3: True
END
