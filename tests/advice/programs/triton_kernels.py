"""The Triton kernels of fields_kernels.py."""
import triton
import triton.language as tl


@triton.jit
def softmax_rows(values, result, rows, width, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        line = tl.load(values + row * width + columns, columns < width, -float("inf"))
        power = tl.exp(line - tl.max(line, 0))
        tl.store(result + row * width + columns, power / tl.sum(power, 0), columns < width)


@triton.jit
def sum_columns(values, sums, rows, width, WIDE: tl.constexpr, TALL: tl.constexpr):
    columns = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    share = rows // tl.num_programs(1)
    first = tl.program_id(1) * share
    total = tl.zeros((WIDE,), tl.float32)
    for top in range(first, first + share, TALL):
        lines = top + tl.arange(0, TALL)
        total += tl.sum(tl.load(values + lines[:, None] * width + columns[None, :]), 0)
    tl.atomic_add(sums + columns, total)
