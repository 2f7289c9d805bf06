"""Kernels of CuPy and Triton under torch.profiler: need a GPU."""
import numpy as np
import torch

from libraries_kernels import needs_gpu
from libraries_text import SERVED, SHAPES
from setting import Running, pair

BEDS = r"""
struct Bed { float place, speed, force, rest[13]; };

extern "C" __global__ void move_structs(Bed* beds, int count, float turn) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    float speed = beds[at].speed;
    beds[at].place = beds[at].place + turn * speed;
}

extern "C" __global__ void move_arrays(float* places, const float* speeds, int count, float turn) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    places[at] = places[at] + turn * speeds[at];
}"""


@pair("fields_of_structs", **SERVED)
def fields_of_structs(setting, mended):
    """A kernel uses two of the sixteen numbers of each of 16 million structs that lie in a row.

    Mended, each kind of number has an array.
    """
    needs_gpu(setting)
    import cupy

    count = 16_000_000
    kernel = cupy.RawKernel(BEDS, "move_arrays" if mended else "move_structs")
    turn, grid = np.float32(1e-3), (-(-count // 256),)
    if mended:
        places, speeds = cupy.zeros(count, cupy.float32), cupy.ones(count, cupy.float32)
        arguments = places, speeds, np.int32(count), turn
    else:
        beds = cupy.ones((count, 16), cupy.float32)
        arguments = beds, np.int32(count), turn

    def step():
        for _ in range(8):
            kernel(grid, (256,), arguments)
        return arguments[0]

    return Running(step, count)


@pair("sums_by_atomics", **SERVED | SHAPES)
def sums_by_atomics(setting, mended):
    """Triton: a program for each four rows adds its 64 sums to those of all by atomic additions.

    Mended, a program adds 1024 rows first.
    """
    needs_gpu(setting)
    import wards_triton

    rows, wide = 1_048_576, 64
    each, inner = (1024, 64) if mended else (4, 4)
    values = torch.randn(rows, wide, device=setting.device, dtype=torch.bfloat16)
    sums = torch.zeros(wide, device=setting.device)

    def step():
        for _ in range(4):
            sums.zero_()
            wards_triton.add_up[(rows // each,)](values, sums, rows, each, ROWS=inner, WIDE=wide)
        return sums

    return Running(step, rows)
