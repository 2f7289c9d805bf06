#!/usr/bin/env bash
# Guess: the provider beside each node in the table of ONNX Runtime's own reader of profiles is the one in the profile,
# and the variance of its benchmark is in ms squared, as all beside it is in ms.
# So it is: only CPU, CUDA and DML are known; a node of any other (TensorRT, MIGraphX, CoreML) gets that of the node
# before it: the engine that has 98 per cent of the time is "CPU" after one copy on the CPU and "CUDA" after
# a node on CUDA; the groups by provider below are right. The variance is in s squared times 1000: a standard
# deviation of 5 ms is 0.03, one of 2 ms 0.00.
# Why: the table is read to find the nodes that fell back to the CPU; a variance of 0.00 looks like a quiet machine.
# Versions: onnxruntime 1.31.1, numpy 2.4.6. torch and transformers, which the benchmark imports, are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q onnxruntime==1.31.1 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, sys
from unittest.mock import MagicMock
import numpy
sys.modules["torch"] = sys.modules["transformers"] = MagicMock()
from onnxruntime.transformers.benchmark_helper import get_latency_result
from onnxruntime.transformers.profile_result_processor import group_node_results, parse_node_results
print("onnxruntime", importlib.metadata.version("onnxruntime"), "numpy", numpy.__version__)


def node(name, op, provider, microseconds):
    return {"cat": "Node", "pid": 1, "tid": 1, "ph": "X", "ts": 0, "dur": microseconds, "name": f"{name}_kernel_time",
            "args": {"op_name": op, "provider": f"{provider}ExecutionProvider", "node_index": "0"}}


def rows(lines, heading, columns):
    at = next(number for number, line in enumerate(lines) if heading in line)
    for line in lines[at + 3:]:
        if not line:
            break
        cells = [cell.strip() for cell in line.split("\t")]
        yield ", ".join(cells[column] for column in columns)


for first in (node("Cast_0", "Cast", "CPU", 20), node("Gather_0", "Gather", "CUDA", 20)):
    profile = [first, node("TRTKernel_graph_1", "TRTKernel_graph_1", "Tensorrt", 980)]
    print("after", first["args"]["provider"] + ":", *rows(parse_node_results(profile), "Top expensive nodes", (1, 4, 5)), sep="  ")
    print("by provider:", *rows(group_node_results(profile), "Grouped by provider", (0, 4, 5)), sep="  ")
for spread in (0.002, 0.005):
    latencies = [0.020 - spread, 0.020 + spread] * 50
    of = get_latency_result(latencies, 1)
    print(f"mean {of['average_latency_ms']} ms, p99 {of['latency_99_percentile']} ms, deviation {numpy.std(latencies) * 1000:.0f} ms:",
          f"variance {numpy.var(numpy.array(latencies) * 1000):.0f} ms2, written as", of["latency_variance"])
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
onnxruntime 1.31.1 numpy 2.4.6
after  CPUExecutionProvider:  98.00, CPU, TRTKernel_graph_1  2.00, CPU, Cast_0
by provider:  980, Tensorrt, TRTKernel_graph_1  20, CPU, Cast
after  CUDAExecutionProvider:  98.00, CUDA, TRTKernel_graph_1  2.00, CUDA, Gather_0
by provider:  980, Tensorrt, TRTKernel_graph_1  20, CUDA, Gather
mean 20.00 ms, p99 22.00 ms, deviation 2 ms: variance 4 ms2, written as 0.00
mean 20.00 ms, p99 25.00 ms, deviation 5 ms: variance 25 ms2, written as 0.03
END
