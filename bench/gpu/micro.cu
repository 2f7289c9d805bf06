// One kernel, launched again and again: how much of the GPU it uses depends on its grid alone.
// micro GRIDxBLOCK SECONDS
#include <chrono>
#include <cstdio>
#include <cstdlib>
__global__ void spin(float* out, int count) {
  float value = threadIdx.x;
  for (int i = 0; i < count; ++i) value = value * 1.0001f + 0.5f;
  if (value == 12345.0f) *out = value;
}
int main(int, char** arguments) {
  int grid = 1, block = 1;
  std::sscanf(arguments[1], "%dx%d", &grid, &block);
  float* out;
  cudaMalloc(&out, 4);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(arguments[2]));
  while (std::chrono::steady_clock::now() < end) {
    // clang-format off
    for (int i = 0; i < 20; ++i) spin<<<grid, block>>>(out, 100000);
    // clang-format on
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  }
  return 0;
}
