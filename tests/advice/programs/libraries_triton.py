"""The Triton kernels of libraries_kernels.py."""
import triton
import triton.language as tl


@triton.jit
def product(one, two, out, rows, inner, PRECISION: tl.constexpr, TALL: tl.constexpr,
            WIDE: tl.constexpr, DEEP: tl.constexpr):
    """Square blocks of out = one @ two; all sizes are multiples of the blocks."""
    high = tl.program_id(0) * TALL + tl.arange(0, TALL)
    wide = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    columns = tl.num_programs(1) * WIDE
    total = tl.zeros((TALL, WIDE), tl.float32)
    for first in range(0, inner, DEEP):
        deep = first + tl.arange(0, DEEP)
        left = tl.load(one + high[:, None] * inner + deep[None, :])
        right = tl.load(two + deep[:, None] * columns + wide[None, :])
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(out + high[:, None] * columns + wide[None, :], total)


@triton.jit
def gated_body(values, gate, out, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    left = tl.load(values + place, inside).to(tl.float32)
    right = tl.load(gate + place, inside).to(tl.float32)
    tl.store(out + place, left * right * tl.sigmoid(right), inside)


def tuned(by):
    """The gate with a choice of blocks, searched for anew when an argument of `by` changes."""
    sizes = [triton.Config({"BLOCK": size}, num_warps=4) for size in (512, 1024, 2048)]
    return triton.autotune(sizes, key=by, warmup=2, rep=5)(gated_body)


@triton.jit
def row_norm(values, weight, out, width, stride_row, stride_column, BLOCK: tl.constexpr):
    """RMS norm of the rows of a matrix with any strides."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    place = values + row * stride_row + columns * stride_column
    line = tl.load(place, columns < width, 0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(line * line, 0) / width + 1e-6)
    known = tl.load(weight + columns, columns < width, 0).to(tl.float32)
    tl.store(out + row * width + columns, line * scale * known, columns < width)
