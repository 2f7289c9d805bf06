"""CuPy: four raw kernels and one product a step. cupy_kernels.py --seconds S"""
import clock
import cupy

SOURCE = """
extern "C" __global__ void damp(const float* from, float* to, int count, float factor) {
  int place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place < count) to[place] = from[place] * factor + 0.1f * to[place];
}
"""


def main():
    options = clock.arguments()
    damp = cupy.RawKernel(SOURCE, "damp")
    count = 1 << 24
    field = cupy.random.rand(count, dtype=cupy.float32)
    other = cupy.zeros_like(field)
    blocks = (count + 255) // 256

    def step():
        for _ in range(2):
            damp((blocks,), (256,), (field, other, cupy.int32(count), cupy.float32(0.9)))
            damp((blocks,), (256,), (other, field, cupy.int32(count), cupy.float32(0.9)))

    for _ in range(3):
        step()
    cupy.cuda.Device().synchronize()
    clock.say(clock.loop("cupy_kernels", step, cupy.cuda.Device().synchronize, options.seconds, 4,
                         cupy=cupy.__version__))


if __name__ == "__main__":
    main()
