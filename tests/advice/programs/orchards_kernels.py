"""Kernels of CuPy and Triton under torch.profiler: need a GPU."""
import numpy as np
import torch

from libraries_kernels import needs_gpu
from libraries_text import SERVED, SHAPES
from setting import Running, pair

GROWTH = r"""
extern "C" __global__ void grow_double(float* sizes, int count, int seasons) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    float size = sizes[at];
    for (int season = 0; season < seasons; season++)
        size = size * (1.0 + 0.1 / (1.0 + exp(0.3 * (size - 4.5)))) - 0.02 * log(1.0 + size);
    sizes[at] = size;
}

extern "C" __global__ void grow_float(float* sizes, int count, int seasons) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    float size = sizes[at];
    for (int season = 0; season < seasons; season++)
        size = size * (1.0f + 0.1f / (1.0f + expf(0.3f * (size - 4.5f)))) - 0.02f * logf(1.0f + size);
    sizes[at] = size;
}"""

COLOURS = r"""
#define KINDS 64

extern "C" __global__ void commonest_local(const unsigned char* seen, int* found, int fields,
                                           int moments) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= fields) return;
    int counts[KINDS];
    for (int kind = 0; kind < KINDS; kind++) counts[kind] = 0;
    for (int moment = 0; moment < moments; moment++)
        counts[seen[(size_t)moment * fields + at] % KINDS]++;
    int best = 0;
    for (int kind = 1; kind < KINDS; kind++) if (counts[kind] > counts[best]) best = kind;
    found[at] = best;
}

extern "C" __global__ void commonest_shared(const unsigned char* seen, int* found, int fields,
                                            int moments) {
    __shared__ int counts[KINDS][128];
    int at = blockIdx.x * blockDim.x + threadIdx.x, own = threadIdx.x;
    if (at >= fields) return;
    for (int kind = 0; kind < KINDS; kind++) counts[kind][own] = 0;
    for (int moment = 0; moment < moments; moment++)
        counts[seen[(size_t)moment * fields + at] % KINDS][own]++;
    int best = 0;
    for (int kind = 1; kind < KINDS; kind++) if (counts[kind][own] > counts[best][own]) best = kind;
    found[at] = best;
}"""

TIDES = r"""
extern "C" __global__ void tides_from_table(const float* table, const unsigned* places,
                                            float* heights, int count, int size) {
    extern __shared__ float kept[];
    for (int at = threadIdx.x; at < size; at += blockDim.x) kept[at] = table[at];
    __syncthreads();
    int each = (count + gridDim.x - 1) / gridDim.x;
    int first = each * blockIdx.x, last = min(first + each, count);
    for (int at = first + threadIdx.x; at < last; at += blockDim.x) {
        unsigned place = places[at];
        float height = 0.0f;
        for (int wave = 0; wave < 32; wave++) {
            place = place * 1664525u + 1013904223u;
            height += kept[__umulhi(place, size)];
        }
        heights[at] = height;
    }
}"""


@pair("literals_make_it_double", **SERVED)
def literals_make_it_double(setting, mended):
    """A kernel on FP32 has numbers as 0.3 and exp() in it, so that it works in FP64.

    Mended, 0.3f and expf().
    """
    needs_gpu(setting)
    import cupy

    count = 16_000_000
    kernel = cupy.RawKernel(GROWTH, "grow_float" if mended else "grow_double")
    sizes = cupy.random.random_sample(count, dtype=cupy.float32)

    def step():
        for _ in range(4):
            kernel((-(-count // 256),), (256,), (sizes, np.int32(count), np.int32(12)))
        return sizes

    return Running(step, count)


@pair("counts_in_local_memory", **SERVED)
def counts_in_local_memory(setting, mended):
    """Each thread counts 64 kinds in an array of its own, which lies in local memory.

    Mended, in shared memory, a column for each thread.
    """
    needs_gpu(setting)
    import cupy

    fields, moments = 262_144, 512
    kernel = cupy.RawKernel(COLOURS, "commonest_shared" if mended else "commonest_local")
    seen = cupy.random.randint(0, 256, (moments, fields)).astype(cupy.uint8)
    found = cupy.empty(fields, cupy.int32)
    arguments = seen, found, np.int32(fields), np.int32(moments)

    def step():
        for _ in range(2):
            kernel((fields // 128,), (128,), arguments)
        return found

    return Running(step, fields)


@pair("waves_of_another_gpu", **SERVED)
def waves_of_another_gpu(setting, mended):
    """A kernel has 144 blocks, one for each SM of another GPU; twelve run after the others here.

    Mended, as many as this GPU has SMs.
    """
    needs_gpu(setting)
    import cupy

    count, size = 8_000_000, 48 * 1024
    kernel = cupy.RawKernel(TIDES, "tides_from_table")
    kernel.max_dynamic_shared_size_bytes = 4 * size
    blocks = cupy.cuda.Device().attributes["MultiProcessorCount"] if mended else 144
    table = cupy.random.random_sample(size, dtype=cupy.float32)
    places = cupy.random.randint(0, 2**31 - 1, count).astype(cupy.uint32)
    heights = cupy.empty(count, cupy.float32)
    arguments = table, places, heights, np.int32(count), np.int32(size)

    def step():
        for _ in range(4):
            kernel((blocks,), (1024,), arguments, shared_mem=4 * size)
        return heights

    return Running(step, count)


@pair("triton_one_warp", **SERVED)
def triton_one_warp(setting, mended):
    """A Triton norm of rows of 8192 numbers runs with one warp for a row; mended, with eight."""
    needs_gpu(setting)
    import orchards_triton

    rows, wide = 16384, 8192
    values = torch.randn(rows, wide, device=setting.device, dtype=torch.bfloat16)
    gains, out = values[0].clone(), torch.empty_like(values)
    warps = 8 if mended else 1

    def step():
        for _ in range(2):
            orchards_triton.norm_of_row[(rows,)](values, gains, out, wide, BLOCK=wide,
                                                 num_warps=warps)
        return out

    return Running(step, rows)


@pair("triton_masked_blocks_not_skipped", **SERVED | SHAPES)
def triton_masked_blocks_not_skipped(setting, mended):
    """Triton: attention to what is before multiplies what comes after too, and masks it.

    Mended, the loop over keys ends at the block's own places.
    """
    needs_gpu(setting)
    import orchards_triton

    heads, length, size, block = 64, 4096, 64, 64
    how = {"device": setting.device, "dtype": torch.bfloat16}
    queries, keys, values = torch.randn(3, heads, length, size, **how)
    out = torch.empty_like(queries)

    def step():
        orchards_triton.look_back[(length // block, heads)](
            queries, keys, values, out, length, size**-0.5, SKIP=mended, BLOCK=block, SIZE=size,
            num_warps=4)
        return out

    return Running(step, heads)
