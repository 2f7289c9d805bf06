#!/usr/bin/env bash
# Guess: the MACs of onnx-tool are multiply-adds, as other counters have them: a layer's do not depend on how the
# exporter writes it, a transposed convolution has those of the convolution that it transposes.
# So it is: an exponential is 32 MACs, a tanh 76, an erf 0. A softmax takes 36 an element, 22 % of the MACs of
# attention over 512 tokens. One GELU is 34 an element as a node (opset 20), 7 as torch writes it for older opsets, and
# 114 by tanh. A transposed convolution counts for each output the weights of one input channel, as if they were those
# of one output: 2 times the truth from 256 to 128 channels, 0.19 of it in a decoder's last layer, 4 times in a
# depthwise layer.
# Why: two exports of one model differ in MACs, and a utilization from them counts work that no tensor core does.
# Versions: onnx-tool 1.0.1, onnx 1.20.0, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q onnx-tool==1.0.1 onnx==1.20.0 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import importlib.metadata, numpy as np, onnx, onnx_tool
from onnx import TensorProto, helper, numpy_helper
print("onnx-tool", importlib.metadata.version("onnx-tool"), "onnx", onnx.__version__)


def macs(nodes, inputs, outputs, weights):
    def values(shapes):
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    model = helper.make_model(helper.make_graph(
        [helper.make_node(kind, source.split(), [out], name=out, **how) for kind, source, out, how in nodes], "model", values(inputs),
        values(outputs), [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in weights.items()]),
        opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    graph = onnx_tool.Model(model).graph
    graph.shape_infer(None)
    graph.profile()
    return graph.macs[0], {node.name: node.macs[0] for node in graph.nodemap.values()}


HEADS, TOKENS, WIDTH = 12, 512, 64
tall, wide = [1, HEADS, TOKENS, WIDTH], [1, HEADS, WIDTH, TOKENS]
total, parts = macs([("MatMul", "q k", "scores", {}), ("Mul", "scores scale", "scaled", {}), ("Softmax", "scaled", "share", {}), ("MatMul", "share v", "y", {})],
                    {"q": tall, "k": wide, "v": tall}, {"y": tall}, {"scale": 0.125})
print(f"attention: {total / 1e6:.1f} million, the two products {(parts['scores'] + parts['y']) / 1e6:.1f}, softmax {parts['share'] / 1e6:.1f}")
half, root, cube, slope = {"half": 0.5, "one": 1}, {"root": 2**0.5}, {"three": 3, "little": 0.044715}, {"slope": (2 / np.pi)**0.5}
ways = {"one node": ([("Gelu", "x", "y", {})], {}),
        "by erf": ([("Div", "x root", "a", {}), ("Erf", "a", "b", {}), ("Add", "b one", "c", {}), ("Mul", "x c", "d", {}), ("Mul", "d half", "y", {})], half | root),
        "by tanh": ([("Pow", "x three", "a", {}), ("Mul", "a little", "b", {}), ("Add", "x b", "c", {}), ("Mul", "c slope", "d", {}), ("Tanh", "d", "e", {}),
                     ("Add", "e one", "f", {}), ("Mul", "x f", "g", {}), ("Mul", "g half", "y", {})], half | cube | slope)}
shape = [TOKENS, 3072]
print("GELU, MACs an element:", {way: round(macs(nodes, {"x": shape}, {"y": shape}, weights)[0] / TOKENS / 3072, 1) for way, (nodes, weights) in ways.items()})
for kind in "Conv", "ConvTranspose":
    for few, many, kernel, groups in (128, 256, 2, 1), (3, 64, 4, 1), (64, 64, 4, 64):
        small, large = [1, many, 16, 16], [1, few, 32, 32]
        pads = [(kernel - 2) // 2] * 4
        (source, target), weight = ((large, small), (many, few // groups)) if kind == "Conv" else ((small, large), (many, few // groups))
        total, _ = macs([(kind, "x w", "y", {"kernel_shape": [kernel, kernel], "strides": [2, 2], "pads": pads, "group": groups})],
                        {"x": source}, {"y": target}, {"w": np.zeros([*weight, kernel, kernel])})
        print(f"{kind} of {source[1]} to {target[1]} channels, stride 2, {groups} groups: {total / (many * 16 * 16 * few // groups * kernel**2):.2f} of the true MACs")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
onnx-tool 1.0.1 onnx 1.20.0
attention: 519.0 million, the two products 402.7, softmax 113.2
GELU, MACs an element: {'one node': 34.0, 'by erf': 7.0, 'by tanh': 114.0}
Conv of 128 to 256 channels, stride 2, 1 groups: 1.00 of the true MACs
Conv of 3 to 64 channels, stride 2, 1 groups: 1.00 of the true MACs
Conv of 64 to 64 channels, stride 2, 64 groups: 1.00 of the true MACs
ConvTranspose of 256 to 128 channels, stride 2, 1 groups: 2.00 of the true MACs
ConvTranspose of 64 to 3 channels, stride 2, 1 groups: 0.19 of the true MACs
ConvTranspose of 64 to 64 channels, stride 2, 64 groups: 4.00 of the true MACs
END
