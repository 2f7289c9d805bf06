// A CUDA program without any framework: a graph of twelve kernels, launched again and again.
//   graphs SECONDS
// Marks its steps with the NVTX range gpufathom.step, says "ready", and prints one line of JSON at
// the end, as clock.py does.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kKernels = 12, kGroup = 50, kCount = 1 << 22;

__global__ void relax(const float* from, float* to, int count) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place > 0 && place < count - 1)
    to[place] = 0.25f * from[place - 1] + 0.5f * from[place] + 0.25f * from[place + 1];
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

long long now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

cudaGraphExec_t record(cudaStream_t stream, float* field, float* other) {
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin capture");
  for (int i = 0; i < kKernels; ++i) {
    // clang-format off
    relax<<<kCount / 256, 256, 0, stream>>>(i % 2 ? other : field, i % 2 ? field : other, kCount);
    // clang-format on
  }
  check(cudaStreamEndCapture(stream, &graph), "end capture");
  check(cudaGraphInstantiate(&ready, graph, 0), "instantiate");
  return ready;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 4;
  if (argc > 1) seconds = std::atof(argv[1]);
  float *field, *other;
  cudaStream_t stream;
  check(cudaMalloc(&field, kCount * sizeof(float)), "allocate");
  check(cudaMalloc(&other, kCount * sizeof(float)), "allocate");
  check(cudaMemset(field, 1, kCount * sizeof(float)), "set");
  check(cudaStreamCreate(&stream), "stream");
  const cudaGraphExec_t graph = record(stream, field, other);
  for (int i = 0; i < 20; ++i) check(cudaGraphLaunch(graph, stream), "launch");
  check(cudaStreamSynchronize(stream), "wait");
  std::printf("ready\n");
  std::fflush(stdout);
  const long long start = now_ns();
  std::vector<long long> ends;
  while (ends.empty() || static_cast<double>(ends.back() - start) < seconds * 1e9) {
    for (int i = 0; i < kGroup; ++i) {
      nvtxRangePushA("gpufathom.step");
      check(cudaGraphLaunch(graph, stream), "launch");
      nvtxRangePop();
    }
    check(cudaStreamSynchronize(stream), "wait");
    ends.push_back(now_ns());
  }
  std::vector<double> times;
  for (std::size_t i = 0; i < ends.size(); ++i)
    times.push_back(static_cast<double>(ends[i] - (i ? ends[i - 1] : start)) * 1e-6 / kGroup);
  const double mean =
      static_cast<double>(ends.back() - start) * 1e-6 / static_cast<double>(ends.size() * kGroup);
  std::sort(times.begin(), times.end());
  std::printf(
      "{\"program\": \"cuda_graphs\", \"start_ns\": %lld, \"end_ns\": %lld, \"group\": %d, "
      "\"steps\": %zu, \"median_step_ms\": %.6f, \"mean_step_ms\": %.6f, "
      "\"kernels_per_step\": %d, \"energy_joules\": null, \"ends_ns\": [",
      start, ends.back(), kGroup, ends.size() * kGroup, times[times.size() / 2], mean, kKernels);
  for (std::size_t i = 0; i < ends.size(); ++i) std::printf("%s%lld", i ? ", " : "", ends[i]);
  std::printf("]}\n");
}
