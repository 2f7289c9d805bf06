// About 40 000 kernels a second, whose rate the program itself says for every tenth of a second:
// paced WAY SECONDS; WAY is `gpu` (kernels of 20 us, one after the other: the GPU limits), `host`
// (20 us of arithmetic before each launch of a small kernel: the host limits) or `graph` (graphs of
// 64 kernels of 20 us). Each line: nanoseconds since 1970, kernels since the line before.
// paced WAY turns [HOST_ROUNDS ROUNDS]: prints "ready" and what it found 20 us to be, or takes what
// another one found; then for each line of its input, a number of kernels in steps of 64, runs them
// and prints the nanoseconds that passed and those of its thread.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define TRY(call)                                                       \
  if (cudaError_t error = (call); error != cudaSuccess) {               \
    std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
    std::exit(1);                                                       \
  }

__global__ void cycles(float* out, int rounds) {
  float value = out[threadIdx.x];
  for (int i = 0; i < rounds; ++i) value = value * 0.999f + 0.1f;
  out[threadIdx.x] = value;
}

static long long now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static unsigned host_work(unsigned value, int rounds) {
  for (int i = 0; i < rounds; ++i) value = value * 1664525u + 1013904223u;
  return value;
}

int main(int arguments, char** words) {
  const char* way = arguments > 1 ? words[1] : "gpu";
  const bool turns = arguments > 2 && !std::strcmp(words[2], "turns");
  const double seconds = arguments > 2 ? std::atof(words[2]) : 5;
  const bool host = !std::strcmp(way, "host"), graph = !std::strcmp(way, "graph");
  float* data = nullptr;
  TRY(cudaMalloc(&data, 4096));
  TRY(cudaMemset(data, 0, 4096));
  cudaStream_t stream;
  TRY(cudaStreamCreate(&stream));

  // The meaning of 20 us here: on the GPU in rounds of the kernel, on the host in rounds of
  // arithmetic.
  cudaEvent_t begin, end;
  TRY(cudaEventCreate(&begin));
  TRY(cudaEventCreate(&end));
  float ms = 0;
  for (int i = 0; i < 2; ++i) {
    TRY(cudaEventRecord(begin, stream));
    for (int j = 0; j < 50; ++j) cycles<<<32, 256, 0, stream>>>(data, 100000);
    TRY(cudaEventRecord(end, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaEventElapsedTime(&ms, begin, end));
  }
  int rounds = host ? 300 : static_cast<int>(100000 * 0.020 / (ms / 50));
  volatile unsigned sink = 1;
  long long fastest = 1ll << 60;  // of five: the first may run at a lower clock
  for (int i = 0; i < 5; ++i) {
    const long long from = now(CLOCK_MONOTONIC);
    sink = host_work(sink, 10000000);
    const long long took = now(CLOCK_MONOTONIC) - from;
    if (took < fastest) fastest = took;
  }
  int host_rounds = static_cast<int>(10000000 * 20e3 / static_cast<double>(fastest));
  if (turns && arguments > 4) {
    host_rounds = std::atoi(words[3]);
    rounds = std::atoi(words[4]);
  }

  cudaGraphExec_t ready = nullptr;
  if (graph) {
    cudaGraph_t made;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int j = 0; j < 64; ++j) cycles<<<32, 256, 0, stream>>>(data, rounds);
    TRY(cudaStreamEndCapture(stream, &made));
    TRY(cudaGraphInstantiate(&ready, made, 0));
  }

  const int batch = 64;  // kernels between two looks at the clock
  cudaEvent_t done[8];   // so many batches are under way at most
  for (auto& event : done) TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const auto run_batch = [&](long long number) {
    if (number >= 8) TRY(cudaEventSynchronize(done[number % 8]));
    if (graph) {
      TRY(cudaGraphLaunch(ready, stream));
    } else {
      for (int j = 0; j < batch; ++j) {
        if (host) sink = host_work(sink, host_rounds);
        cycles<<<32, 256, 0, stream>>>(data, rounds);
      }
    }
    TRY(cudaEventRecord(done[number % 8], stream));
  };
  if (turns)
    std::printf("ready %d %d\n", host_rounds, rounds);
  else
    std::puts("ready");
  std::fflush(stdout);
  long long wanted = 0;
  while (turns && std::scanf("%lld", &wanted) == 1) {
    const long long from = now(CLOCK_MONOTONIC), used = now(CLOCK_THREAD_CPUTIME_ID);
    for (long long number = 0; number * batch < wanted; ++number) run_batch(number);
    TRY(cudaStreamSynchronize(stream));
    std::printf("%lld %lld\n", now(CLOCK_MONOTONIC) - from, now(CLOCK_THREAD_CPUTIME_ID) - used);
    std::fflush(stdout);
  }
  if (turns) return 0;
  const long long start = now(CLOCK_MONOTONIC);
  long long line = now(CLOCK_REALTIME), count = 0;
  for (long long number = 0; now(CLOCK_MONOTONIC) - start < seconds * 1e9; ++number) {
    run_batch(number);
    count += batch;
    const long long at = now(CLOCK_REALTIME);
    if (at - line >= 100000000) {
      std::printf("%lld %lld\n", at, count);
      std::fflush(stdout);
      line = at;
      count = 0;
    }
  }
  TRY(cudaStreamSynchronize(stream));
  return 0;
}
