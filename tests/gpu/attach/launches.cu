// One kernel again and again, without a framework: launches SECONDS HOW. HOW is where the threads
// spend their time: wait (in a wait for what they launched), queue (in a launch, as the queue is
// full), short (in no call for long), threads (two threads, both in calls all the time).
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

__global__ void halve(float* values, int count) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place < count) values[place] = 0.5f * values[place] + 1;
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

void loop(float* values, double seconds, const std::string& how) {
  constexpr int kGroup = 50;
  const int count = how == "short" ? 32 : 1 << 20;
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
         seconds) {
    // clang-format off
    for (int i = 0; i < kGroup; ++i) halve<<<(count + 255) / 256, 256, 0, stream>>>(values, count);
    // clang-format on
    check(cudaGetLastError());
    if (how == "wait" || how == "threads") check(cudaStreamSynchronize(stream));
    if (how == "short") std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  check(cudaStreamSynchronize(stream));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  float* values;
  check(cudaMalloc(&values, sizeof(float) << 20));
  const std::string how = argv[2];
  std::vector<std::thread> others;
  if (how == "threads") others.emplace_back(loop, values, std::atof(argv[1]), how);
  loop(values, std::atof(argv[1]), how);
  for (auto& other : others) other.join();
}
