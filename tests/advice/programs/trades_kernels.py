"""Kernels of CuPy, Numba and Triton under torch.profiler: need a GPU."""
import ctypes

import numpy as np
import torch

from libraries_kernels import needs_gpu
from libraries_text import SERVED, SHAPES
from setting import Running, pair

WALK = r"""
extern "C" __global__ void walk(float* places, int turns) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float here = places[at];
    for (int turn = 0; turn < turns; turn++) here = fmaf(here, 0.9999f, 1e-4f);
    places[at] = here;
}"""

ROWS = r"""
extern "C" __global__ void sum_rows(const float* values, float* sums, int width) {
    extern __shared__ float kept[];
    const float* row = values + (size_t)blockIdx.x * width;
    float sum = 0;
    for (int at = threadIdx.x; at < width; at += blockDim.x) sum += row[at];
    kept[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) kept[threadIdx.x] += kept[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = kept[0];
}"""

GRAINS = r"""
extern "C" __global__ void grind(const int* kinds, float* sizes, int count, int turns) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    float size = sizes[at];
    switch (kinds[at]) {
    case 0: for (int n = 0; n < turns; n++) size = sinf(size) + 0.5f; break;
    case 1: for (int n = 0; n < turns; n++) size = expf(-size); break;
    case 2: for (int n = 0; n < turns; n++) size = sqrtf(size + 0.5f); break;
    case 3: for (int n = 0; n < turns; n++) size = logf(size + 2.0f); break;
    case 4: for (int n = 0; n < turns; n++) size = 1.0f / (size + 0.7f); break;
    case 5: for (int n = 0; n < turns; n++) size = cosf(size); break;
    case 6: for (int n = 0; n < turns; n++) size = tanhf(size) + 0.3f; break;
    default: for (int n = 0; n < turns; n++) size = rsqrtf(size + 1.0f);
    }
    sizes[at] = size;
}"""


@pair("null_stream_between", **SERVED)
def null_stream_between(setting, mended):
    """Sixteen small kernels on streams that wait for the null stream, on which a counter is kept.

    So they run one after the other; mended, the streams are made with non_blocking=True.
    """
    needs_gpu(setting)
    import cupy

    walk = cupy.RawKernel(WALK, "walk")
    streams = [cupy.cuda.Stream(non_blocking=mended) for _ in range(16)]
    walkers = cupy.random.random_sample((16, 2048), dtype=cupy.float32)
    done = cupy.zeros(1, cupy.int32)
    turns = np.int32(60_000)

    def step():
        ready = cupy.cuda.Stream.null.record()
        for stream, some in zip(streams, walkers):
            stream.wait_event(ready)
            with stream:
                walk((8,), (256,), (some, turns))
            with cupy.cuda.Stream.null:
                done.fill(1)
        for stream in streams:
            cupy.cuda.Stream.null.wait_event(stream.record())
        return walkers

    return Running(step, 16)


@pair("shared_memory_asked_in_full", **SERVED)
def shared_memory_asked_in_full(setting, mended):
    """Each block of 64 threads asks for 200 KB of shared memory, so that an SM holds one.

    Mended, it asks for the 256 bytes that it uses.
    """
    needs_gpu(setting)
    import cupy

    rows, width = 16384, 2048
    kernel = cupy.RawKernel(ROWS, "sum_rows")
    asked = 256 if mended else 200 * 1024
    kernel.max_dynamic_shared_size_bytes = asked
    values = cupy.random.random_sample((rows, width), dtype=cupy.float32)
    sums = cupy.empty(rows, cupy.float32)

    def step():
        kernel((rows,), (64,), (values, sums, np.int32(width)), shared_mem=asked)
        return sums

    return Running(step, rows)


@pair("pages_that_wander", **SERVED | {"active": 3})
def pages_that_wander(setting, mended):
    """The host changes a number in each page of managed memory that the GPU reads in each step.

    So all pages move to and fro; mended, the changed numbers alone are copied.
    """
    needs_gpu(setting)
    import cupy

    count, apart = 4_000_000, 1024  # numbers to a page
    shared = cupy.cuda.malloc_managed(4 * count)
    array = cupy.ndarray(count, cupy.float32, memptr=shared)
    array.fill(0)
    if mended:
        seen = np.zeros(count, np.float32)
    else:
        seen = np.ctypeslib.as_array((ctypes.c_float * count).from_address(shared.ptr))

    def step():
        cupy.cuda.Device().synchronize()
        seen[::apart] += 1
        if mended:
            array[::apart] = cupy.asarray(seen[::apart])
        return cupy.sqrt(array).sum()

    return Running(step, count)


@pair("kinds_mixed_in_warps", **SERVED)
def kinds_mixed_in_warps(setting, mended):
    """Grains of eight kinds lie as they come, so that each warp goes through all eight branches.

    Mended, they are kept sorted by kind.
    """
    needs_gpu(setting)
    import cupy

    count, turns = 2_000_000, 128
    kernel = cupy.RawKernel(GRAINS, "grind")
    kinds = cupy.random.randint(0, 8, count).astype(cupy.int32)
    kinds = cupy.sort(kinds) if mended else kinds
    sizes = cupy.random.random_sample(count, dtype=cupy.float32)
    arguments = kinds, sizes, np.int32(count), np.int32(turns)

    def step():
        kernel((-(-count // 256),), (256,), arguments)
        return sizes

    return Running(step, count)


@pair("arrays_copied_by_numba", **SERVED | {"active": 3})
def arrays_copied_by_numba(setting, mended):
    """Numba gets NumPy's arrays, which it copies up and down at each of six launches.

    Mended, they are on the GPU, and what comes of it is copied down at the end.
    """
    needs_gpu(setting)
    from numba import cuda

    from trades_numba import heat

    count = 1_000_000
    old, new = np.random.rand(count).astype(np.float32), np.zeros(count, np.float32)
    if mended:
        old, new = cuda.to_device(old), cuda.to_device(new)
    both = [old, new]

    def step():
        for _ in range(6):
            heat[-(-count // 256), 256](both[0], both[1])
            both.reverse()
        return both[0].copy_to_host() if mended else both[0]

    return Running(step, count)


@pair("grid_of_the_longest", **SERVED)
def grid_of_the_longest(setting, mended):
    """Triton: texts of some hundred numbers get as many programs as the one of two million.

    Nearly all return at once; mended, the pieces that there are are listed.
    """
    needs_gpu(setting)
    import trades_triton

    texts, wide = setting.pick(1024, 4), 256
    sizes = torch.randint(100, 500, (texts,))
    sizes[0] = setting.pick(2_000_000, 1000)
    starts = sizes.cumsum(0) - sizes
    many = -(-sizes // wide)
    listed = torch.repeat_interleave(torch.arange(texts), many)
    pieces = torch.arange(len(listed)) - (many.cumsum(0) - many)[listed]
    values = torch.randn(int(sizes.sum()), device=setting.device)
    out = torch.empty_like(values)
    longest = int(many.max())
    sizes, starts, listed, pieces = (
        part.to(setting.device, torch.int32) for part in (sizes, starts, listed, pieces))

    def step():
        if mended:
            trades_triton.squash_listed[(len(listed),)](
                values, out, starts, sizes, listed, pieces, WIDE=wide)
        else:
            trades_triton.squash_longest[(longest, texts)](values, out, starts, sizes, WIDE=wide)
        return out

    return Running(step, texts)


@pair("product_by_sums", **SERVED | SHAPES)
def product_by_sums(setting, mended):
    """Triton: products of rows are sums of a block of all their products; mended, tl.dot."""
    needs_gpu(setting)
    import trades_triton

    batch, count, deep = setting.pick(16, 2), setting.pick(2048, 64), 64
    one, two = torch.randn(2, batch, count, deep, device=setting.device, dtype=torch.bfloat16)
    out = torch.empty(batch, count, count, device=setting.device, dtype=torch.bfloat16)
    side = 64 if mended else 16
    grid = (count // side, count // side, batch)

    def step():
        trades_triton.scores[grid](one, two, out, count, BYSUMS=not mended, SIDE=side, DEEP=deep)
        return out

    return Running(step, batch)
