"""Kernels of one's own, by Triton and as CUDA by CuPy: needs a GPU."""
import torch

from setting import Running, pair

FEW = {"measured": 30, "active": 3, "marks": False}


def needs_gpu(setting):
    if not setting.cuda:
        raise RuntimeError("a kernel of one's own needs a GPU")


@pair("triton_few_programs", **FEW)
def triton_few_programs(setting, mended):
    """Eight programs walk over all rows; mended, a program for each row."""
    needs_gpu(setting)
    import triton_kernels

    rows, width = 16384, 2048
    values = torch.randn(rows, width, device=setting.device)
    result = torch.empty_like(values)
    programs = rows if mended else 8

    def step():
        triton_kernels.softmax_rows[(programs,)](values, result, rows, width, BLOCK=2048)
        return result

    return Running(step, rows)


@pair("triton_by_columns", **FEW)
def triton_by_columns(setting, mended):
    """Each program adds up a column, so that loads are far apart; mended, 64 columns wide."""
    needs_gpu(setting)
    import triton_kernels

    rows, width = 8192, 8192
    values = torch.randn(rows, width, device=setting.device)
    sums = torch.zeros(width, device=setting.device)
    wide = 64 if mended else 1

    def step():
        grid = (width // wide, 8)
        sums.zero_()
        triton_kernels.sum_columns[grid](values, sums, rows, width, WIDE=wide, TALL=64)
        return sums

    return Running(step, rows)


CUDA = r"""
extern "C" __global__ void total(const float* values, float* sums, long long count) {
  __shared__ float shared[1024];
  float sum = 0;
  long long stride = (long long)blockDim.x * gridDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += stride)
    sum += values[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sums, shared[0]);
}
extern "C" __global__ void smooth(const float* from, float* to, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = 0.25f * from[max(i - 1, 0)] + 0.5f * from[i]
                       + 0.25f * from[min(i + 1, count - 1)];
}
"""


@pair("cuda_one_block", **FEW)
def cuda_one_block(setting, mended):
    """A sum by one block; mended, by a thousand."""
    needs_gpu(setting)
    import cupy

    kernel = cupy.RawKernel(CUDA, "total")
    values = cupy.random.random(32_000_000, dtype=cupy.float32)
    sums = cupy.zeros(1, cupy.float32)

    def step():
        kernel((1024 if mended else 1,), (1024,), (values, sums, values.size))

    return Running(step, 1)


@pair("cuda_allocates", **FEW)
def cuda_allocates(setting, mended):
    """Each smoothing pass has its cudaMalloc and cudaFree; mended, two buffers change roles."""
    needs_gpu(setting)
    import cupy

    kernel = cupy.RawKernel(CUDA, "smooth")
    count, runtime = 4_000_000, cupy.cuda.runtime
    buffers = [cupy.random.random(count, dtype=cupy.float32) for _ in range(2)]
    pool = cupy.cuda.MemoryPool()

    def step():
        one, other = buffers
        for _ in range(20):
            if mended:
                kernel((count // 256,), (256,), (one, other, count))
                one, other = other, one
                continue
            fresh = runtime.malloc(4 * count)
            memory = cupy.cuda.UnownedMemory(fresh, 4 * count, pool)
            target = cupy.ndarray(count, cupy.float32, cupy.cuda.MemoryPointer(memory, 0))
            kernel((count // 256,), (256,), (one, target, count))
            one[:] = target
            runtime.free(fresh)

    return Running(step, 20)
