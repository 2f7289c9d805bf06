#!/usr/bin/env python3
"""work_operators.py PROGRAM: operations and least bytes of single calls, by formulas of their own.

Each call of an operator, with the inputs that PyTorch records, is a trace with one kernel. `work`
has to give what is worked out here from the mathematics: multiply-adds of the result's elements,
operands read once, the result written once in the type that PyTorch gives it."""
import json
import pathlib
import subprocess
import sys
import tempfile
from math import ceil, floor, prod

BYTES = {"float": 4, "double": 8, "c10::BFloat16": 2, "c10::Float8_e4m3fn": 1, "signed char": 1,
         "long int": 8, "int": 4, "bool": 1, "c10::complex<float>": 8}
BF16, FP8, INT8, INT64 = "c10::BFloat16", "c10::Float8_e4m3fn", "signed char", "long int"


class T:
    """A tensor as an input."""

    def __init__(self, dims, type="float", strides=None):
        self.dims, self.type = dims, type
        self.strides = strides or [prod(dims[i + 1:]) for i in range(len(dims))]

    @property
    def bytes(self):
        return prod(d for d, s in zip(self.dims, self.strides) if s) * BYTES[self.type]


def trace(name, inputs):
    tensors = [isinstance(value, T) for value in inputs]
    args = {"External id": 1,
            "Input Dims": [v.dims if t else [] for v, t in zip(inputs, tensors)],
            "Input Strides": [v.strides if t else [] for v, t in zip(inputs, tensors)],
            "Input type": [v.type if t else "" if v is None else
                           "ScalarList" if isinstance(v, list) else "Scalar" for v, t in zip(inputs, tensors)],
            "Concrete Inputs": ["" if t or v is None else str(v) for v, t in zip(inputs, tensors)]}
    host = {"ph": "X", "pid": 1, "tid": 1}
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
            "traceEvents": [
                {**host, "cat": "cpu_op", "name": name, "ts": 0, "dur": 50, "args": args},
                {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 10, "dur": 5,
                 "args": {"correlation": 1, "External id": 1}},
                {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 900000,
                 "args": {"correlation": 1, "External id": 1, "device": 0, "stream": 7}}]}


CASES = []  # name, inputs, operations of products, other operations, bytes


def case(name, inputs, read, written, products=0, others=None):
    """`read`: tensors; `written`: a tensor or bytes."""
    total = sum(tensor.bytes for tensor in read) + (written.bytes if isinstance(written, T) else written)
    CASES.append((name, inputs, products, others, total))


def unknown(name, inputs):
    CASES.append((name, inputs, None, None, None))


def products():
    a, b, one = T([7, 11], BF16), T([11, 13], BF16), T([])
    case("aten::mm", [a, b], [a, b], T([7, 13], BF16), 2 * 7 * 11 * 13)
    a, b = T([7, 11], "c10::complex<float>"), T([11, 13], "c10::complex<float>")
    case("aten::mm", [a, b], [a, b], T([7, 13], a.type), 8 * 7 * 11 * 13)
    a, b = T([64, 96], INT8), T([96, 32], INT8)
    case("aten::_int_mm", [a, b], [a, b], T([64, 32], "int"), 2 * 64 * 96 * 32)
    a, b, bias = T([64, 96], FP8), T([96, 32], FP8, [1, 96]), T([32], BF16)
    for number, type in (("", BF16), (15, BF16), (6, "float"), (24, FP8)):
        case("aten::_scaled_mm", [a, b, one, one, None, None, number, True], [a, b, one, one],
             T([64, 32], type), 2 * 64 * 96 * 32)
    case("aten::_scaled_mm", [a, b, T([64, 1]), T([1, 32]), bias, None, 15, True],
         [a, b, T([64, 1]), T([1, 32]), bias], T([64, 32], BF16), 2 * 64 * 96 * 32)
    case("aten::_scaled_mm", [a, b, bias, 6, one, one, None, True], [a, b, bias, one, one],
         T([64, 32]), 2 * 64 * 96 * 32)  # as before PyTorch 2.5
    a, b, bias = T([7, 11]), T([11, 13]), T([7, 13], "float", [0, 1])
    case("aten::addmm", [bias, a, b, 1, 1], [bias, a, b], T([7, 13]), 2 * 7 * 11 * 13)
    a, z = T([3, 7, 11]), T([3, 7, 13])
    for b in (T([3, 11, 13]), T([3, 11, 13], "float", [0, 13, 1])):
        case("aten::bmm", [a, b], [a, b], z, 2 * 3 * 7 * 11 * 13)
        case("aten::baddbmm", [z, a, b, 1, 1], [z, a, b], z, 2 * 3 * 7 * 11 * 13)
    matrix, x, y = T([7, 11]), T([11]), T([7])
    case("aten::mv", [matrix, x], [matrix, x], y, 2 * 77)
    case("aten::addmv", [y, matrix, x, 1, 1], [y, matrix, x], y, 2 * 77)
    case("aten::dot", [x, x], [x, x], 4, 22)


def grouped():
    """Four groups; ends is where each of them ends."""
    ends, weights = T([4], "int"), T([4, 64, 32], BF16)
    rows, batches = T([100, 64], BF16), T([4, 10, 64], BF16)
    case("aten::_grouped_mm", [rows, weights, ends, None, None], [rows, weights],
         T([100, 32], BF16), 2 * 100 * 64 * 32)
    case("aten::_grouped_mm", [batches, weights, None, None, None], [batches, weights],
         T([4, 10, 32], BF16), 2 * 4 * 10 * 64 * 32)
    left, right = T([64, 100], BF16), T([100, 32], BF16)  # the weights' gradient
    case("aten::_grouped_mm", [left, right, ends, None, None], [left, right],
         T([4, 64, 32], BF16), 2 * 64 * 100 * 32)
    columns = T([64, 200], BF16)
    case("aten::_grouped_mm", [batches, columns, ends, None, None], [batches, columns],
         T([10, 200], BF16), 2 * 10 * 64 * 200)


def convolution(batch, channels, results, sides, filters, stride, padding, dilation, transposed,
                added, groups, gradients=None):
    axes = range(len(sides))
    if transposed:
        weight = T([channels, results // groups] + filters)
        out = [(sides[i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (filters[i] - 1)
               + added[i] + 1 for i in axes]
    else:
        weight = T([results, channels // groups] + filters)
        out = [(sides[i] + 2 * padding[i] - dilation[i] * (filters[i] - 1) - 1) // stride[i] + 1
               for i in axes]
    x, bias, y = T([batch, channels] + sides), T([results]), T([batch, results] + out)
    operations = (2 * batch * prod(sides if transposed else out) * prod(filters) * channels * results
                  // groups)
    rest = [stride, padding, dilation, transposed, added, groups]
    if gradients is None:
        case("aten::convolution", [x, weight, bias, *rest], [x, weight, bias], y, operations)
        return
    of_input, of_weight, _ = gradients
    case("aten::convolution_backward", [y, x, weight, [results], *rest, gradients],
         [y] + [weight] * of_input + [x] * of_weight,
         of_input * x.bytes + of_weight * weight.bytes, operations * (of_input + of_weight))


def convolutions():
    plane, small = [9, 11], [3, 3]
    convolution(2, 8, 12, plane, small, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    convolution(2, 8, 12, plane, small, [2, 1], [1, 1], [2, 2], False, [0, 0], 4)
    convolution(2, 8, 8, plane, small, [1, 1], [1, 1], [1, 1], False, [0, 0], 8)
    convolution(2, 8, 12, plane, [4, 4], [2, 2], [1, 1], [1, 1], True, [0, 0], 1)
    convolution(2, 8, 12, plane, small, [2, 2], [1, 1], [1, 1], True, [1, 1], 4)
    convolution(2, 4, 6, [5, 9, 11], [3, 3, 3], [1, 1, 2], [1, 1, 1], [1, 1, 1], False, [0, 0, 0], 2)
    convolution(2, 4, 6, [50], [5], [1], [2], [1], False, [0], 1)
    for gradients in ([True, True, True], [True, False, True], [False, True, False]):
        convolution(2, 8, 12, plane, small, [2, 1], [1, 1], [1, 1], False, [0, 0], 4, gradients)
        convolution(2, 8, 12, plane, small, [2, 2], [1, 1], [1, 1], True, [1, 1], 4, gradients)


def attention():
    q, k, v = T([2, 8, 16, 64], BF16), T([2, 2, 24, 64], BF16), T([2, 2, 24, 32], BF16)
    case("aten::_scaled_dot_product_flash_attention", [q, k, v, 0.0, False, False, None], [q, k, v],
         T([2, 8, 16, 32], BF16), 2 * 2 * 8 * 16 * 24 * (64 + 32))
    k, bias = T([2, 8, 24, 64], BF16), T([2, 8, 16, 24], BF16)
    case("aten::_scaled_dot_product_efficient_attention", [q, k, k, bias, True, 0.0, False, None],
         [q, k, k, bias], q, 2 * 2 * 8 * 16 * 24 * 128)
    q, ends = T([1, 160, 8, 64], BF16), T([11], "int")
    case("aten::_efficient_attention_forward", [q, q, q] + [None] * 5 + [0.0, 0, True, None, None],
         [q, q, q], q, 2 * 8 * 160 * 160 * 128)
    # Ten sequences in one batch: their lengths are not recorded.
    unknown("aten::_efficient_attention_forward",
            [q, q, q, None, ends, ends, 16, 16, 0.0, 0, True, None, None])
    unknown("aten::_efficient_attention_backward",
            [q, q, q, q, None, q, ends, ends, 16, 16, T([8, 160]), 0.0, 1, 1, 0, False])


def elementwise():
    half, single, whole, truth = (T([100, 50], type) for type in (BF16, "float", INT64, "bool"))
    for name, inputs, written in (
            ("aten::mul", [half, whole], half), ("aten::mul", [whole, half], half),
            ("aten::add_", [half, single, 1], half), ("aten::add", [half, single, 1], single),
            ("aten::add", [T([100, 1]), T([50]), 1], single), ("aten::mul", [half, T([], "double")], half),
            ("aten::mul", [T([]), half], half), ("aten::where", [truth, half, T([])], half),
            ("aten::masked_fill_", [half, truth, 0], half), ("aten::eq", [whole, whole], truth)):
        case(name, inputs, [x for x in inputs if isinstance(x, T)], written, 0, 5000)


def reductions():
    x, table = T([64, 32, 3, 3]), T([128, 1000], BF16)
    n, m = prod(x.dims), 128000
    for name, inputs, written, each in (
            ("aten::linalg_vector_norm", [2, None, False, None], 1, 2),
            ("aten::linalg_vector_norm", [2.0, [1, 2, 3], True, None], 64, 2),
            ("aten::norm", [2], 1, 2), ("aten::norm", [2, [0], False], 32 * 9, 2),
            ("aten::norm", [2.0, [0], False, 6], 32 * 9, 2),
            ("aten::sum", [[0, 2, 3], False, None], 32, 1), ("aten::sum", [3], 1, 1),
            ("aten::prod", [1, False, None], 64 * 9, 1), ("aten::mean", [[-1], True, None], 64 * 32 * 3, 1)):
        case(name, [x, *inputs], [x], 4 * written, 0, each * n)
    case("aten::argmax", [table, -1, False], [table], 128 * 8, 0, m)
    case("aten::max", [table, -1, False], [table], 128 * (2 + 8), 0, m)
    case("aten::max", [table], [table], 2, 0, m)
    case("aten::any", [table, -1, False], [table], 128, 0, m)
    bits = T([128, 10], "bool")
    case("aten::sum", [bits, [1], False, None], [bits], 128 * 8, 0, 1280)


def pooling():
    x = T([2, 64, 112, 57])
    for over_the_end in (False, True):
        def places(side):
            found = (ceil if over_the_end else floor)((side - 3) / 2) + 1
            return found - (1 if (found - 1) * 2 >= side else 0)
        results = 128 * places(112) * places(57)
        case("aten::max_pool2d_with_indices", [x, [3, 3], [2, 2], [0, 0], [1, 1], over_the_end], [x],
             results * 12, 0, results * 9)
        case("aten::avg_pool2d", [x, [3, 3], [2, 2], [0, 0], over_the_end, True, None], [x],
             results * 4, 0, results * 9)


def main(program):
    for fill in (products, grouped, convolutions, attention, elementwise, reductions, pooling):
        fill()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "call.json"
        for name, inputs, operations, others, total in CASES:
            path.write_text(json.dumps(trace(name, inputs)))
            done = subprocess.run([program, "work", path, "--json"], capture_output=True, text=True)
            answer = json.loads(done.stdout)
            row = answer["operators"][0]
            if total is None:
                said = answer["flops"], row["product_flops"], row["other_flops"], row["bytes"]
                wanted = (None,) * 4
            else:
                said = row["product_flops"], row["bytes"]
                wanted = operations, total
                if others is not None:
                    said, wanted = (*said, row["other_flops"]), (*wanted, others)
            if said != wanted:
                failures += 1
                print(name, [x.dims if isinstance(x, T) else x for x in inputs], said, "and not", wanted)
    print(f"{len(CASES)} calls, {failures} wrong")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
