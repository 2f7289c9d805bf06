// Programs of one kind of GPU work each, for tests/gpu/kinds/run: programs MODE SECONDS [LOG].
// Each prints {"kernels", "hidden", "copies"}: launches by construction, and kernels that the
// device launched by itself. LOG gets a line a batch: when it began and ended (ns since 1970) and
// its launches; between the two the GPU ran just these. Built with
//   nvcc -O2 -std=c++17 -rdc=true -arch=native programs.cu -o programs -lcudadevrt -lcuda
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kBlocks = 132 * 8, kThreads = 256, kCells = kBlocks * kThreads, kBatch = 20;

void must(int code, const char* what, int line) {
  if (code == 0) return;
  std::fprintf(stderr, "%s: error %d, line %d\n", what, code, line);
  std::exit(99);
}
#define MUST(call) must(static_cast<int>(call), #call, __LINE__)

__global__ void work(float* cells, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = cells[i];
  for (int round = 0; round < rounds; ++round) value = value * 0.999f + 0.1f;
  cells[i] = value;
}
__global__ void launch_children(float* cells) {
  if (threadIdx.x == 0)
    for (int child = 0; child < 4; ++child) work<<<kBlocks, kThreads>>>(cells, 2000);
}
__global__ void run_until(volatile int* stop) {
  while (!*stop) __nanosleep(1000);
}
__global__ void count_down(int* left, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, --*left > 0);
}

long long now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

std::atomic<long long> kernels{0}, hidden{0}, copies{0};
long long until = 0;
FILE* log_file = nullptr;

float* make_cells() {
  float* cells = nullptr;
  MUST(cudaMalloc(&cells, kCells * sizeof *cells));
  MUST(cudaMemset(cells, 0, kCells * sizeof *cells));
  MUST(cudaDeviceSynchronize());
  return cells;
}
cudaStream_t make_stream() {
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

/// Batches of `launch`, which returns its kernels, until the time is over; one at least.
template <class Launch>
void batches(const Launch& launch, int pause_us = 0) {
  do {
    const long long begin = now();
    const int launched = launch();
    MUST(cudaDeviceSynchronize());
    kernels += launched;
    if (log_file) std::fprintf(log_file, "%lld %lld %d\n", begin, now(), launched);
    if (pause_us > 0) usleep(pause_us);
  } while (now() < until);
}

void plain(int rounds = 5000, int pause_us = 0, int blocks = kBlocks) {
  float* cells = make_cells();
  batches(
      [&] {
        for (int i = 0; i < kBatch; ++i) work<<<blocks, kThreads>>>(cells, rounds);
        return kBatch;
      },
      pause_us);
}

cudaGraphExec_t make_graph(float* cells) {
  const cudaStream_t stream = make_stream();
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kBatch; ++i) work<<<kBlocks, kThreads, 0, stream>>>(cells, 2000);
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  return ready;
}

void graphs() {
  const cudaStream_t stream = make_stream();
  const cudaGraphExec_t ready = make_graph(make_cells());
  batches([&] {
    MUST(cudaGraphLaunch(ready, stream));
    return kBatch;
  });
}

/// A graph with a loop of ten rounds of two kernels.
void loop_graphs() {
  float* cells = make_cells();
  int *left, rounds = 10;
  MUST(cudaMalloc(&left, sizeof *left));
  cudaGraph_t graph;
  MUST(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  MUST(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t node;
  MUST(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
  const cudaStream_t stream = make_stream();
  MUST(cudaStreamBeginCaptureToGraph(stream, parameters.conditional.phGraph_out[0], nullptr,
                                     nullptr, 0, cudaStreamCaptureModeGlobal));
  count_down<<<1, 1, 0, stream>>>(left, handle);
  work<<<kBlocks, kThreads, 0, stream>>>(cells, 2000);
  MUST(cudaStreamEndCapture(stream, nullptr));
  cudaGraphExec_t ready;
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  batches([&] {
    MUST(cudaMemcpyAsync(left, &rounds, sizeof rounds, cudaMemcpyHostToDevice, stream));
    MUST(cudaGraphLaunch(ready, stream));
    ++copies;
    return 2 * rounds;
  });
}

void device_launches() {
  float* cells = make_cells();
  batches([&] {
    for (int i = 0; i < kBatch; ++i) launch_children<<<1, 32>>>(cells);
    hidden += 4 * kBatch;
    return kBatch;
  });
}

void in_contexts(void (*run)()) {
  std::vector<std::thread> all;
  MUST(cuInit(0));
  for (int number = 0; number < 3; ++number)
    all.emplace_back([=] {
      CUcontext context;
      CUctxCreateParams parameters{};
      MUST(cuCtxCreate(&context, &parameters, 0, 0));
      run();
    });
  for (auto& thread : all) thread.join();
}
void contexts() {
  in_contexts([] { plain(1000); });
}
/// Three contexts take turns, and what most of them run is hidden: launched by the device.
void context_launches() { in_contexts(device_launches); }

void threads() {
  std::vector<std::thread> all;
  float* cells = make_cells();
  for (int number = 0; number < 8; ++number)
    all.emplace_back([=] {
      const cudaStream_t stream = make_stream();
      while (now() < until) {
        for (int i = 0; i < kBatch; ++i)
          work<<<kBlocks / 8, kThreads, 0, stream>>>(cells + number * (kCells / 8), 2000);
        MUST(cudaStreamSynchronize(stream));
        kernels += kBatch;
      }
    });
  for (auto& thread : all) thread.join();
}

/// One kernel runs to the end, beside small ones.
void persistent() {
  float* cells = make_cells();
  int* stop = nullptr;
  MUST(cudaHostAlloc(&stop, sizeof *stop, 0));
  *stop = 0;
  const cudaStream_t first = make_stream(), second = make_stream();
  work<<<kBlocks / 8, kThreads, 0, second>>>(cells, 5);
  MUST(cudaStreamSynchronize(second));
  run_until<<<4, 32, 0, first>>>(stop);
  kernels += 2;
  while (now() < until) {
    for (int i = 0; i < kBatch; ++i) work<<<kBlocks / 8, kThreads, 0, second>>>(cells, 5000);
    MUST(cudaStreamSynchronize(second));
    kernels += kBatch;
    usleep(2000);
  }
  *static_cast<volatile int*>(stop) = 1;
  MUST(cudaDeviceSynchronize());
}

void copying() {
  constexpr std::size_t kBytes = 64 << 20;
  char *host, *device;
  MUST(cudaMallocHost(&host, kBytes));
  MUST(cudaMalloc(&device, kBytes));
  float* cells = make_cells();
  batches([&] {
    MUST(cudaMemcpyAsync(device, host, kBytes, cudaMemcpyHostToDevice));
    MUST(cudaMemcpyAsync(host, device, kBytes, cudaMemcpyDeviceToHost));
    copies += 2;
    work<<<kBlocks, kThreads>>>(cells, 100);
    return 1;
  });
}

/// Two processes besides the first, which has no CUDA.
void children() {
  void* room = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = new (room) std::atomic<long long>(0);
  log_file = nullptr;
  for (int child = 0; child < 2; ++child)
    if (fork() == 0) {
      plain(2000);
      *shared += kernels;
      std::exit(0);
    }
  int well = 0, status = 0;
  while (wait(&status) > 0) well += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  kernels = shared->load();
  if (well != 2) std::exit(99);
}

/// Graphs without a loop are there before one with it.
void loop_after_graphs() {
  const long long half = (until - now()) / 2;
  until -= half;
  graphs();
  until += half;
  loop_graphs();
}

struct Mode {
  const char* name;
  void (*run)();
};
constexpr Mode kModes[] = {
    {"plain", [] { plain(); }},
    {"late", [] { plain(); }},
    {"code7", [] { plain(); }},
    {"abort", [] { plain(); }},
    {"kill", [] { plain(); }},
    {"_exit", [] { plain(); }},
    {"segv", [] { plain(); }},
    {"pauses", [] { plain(5000, 20'000); }},
    {"flood", [] { plain(1, 0, 1); }},
    {"idle", [] { usleep(static_cast<unsigned>((until - now()) / 1000)); }},
    {"graphs", graphs},
    {"loop_graphs", loop_graphs},
    {"late_loop", loop_after_graphs},
    {"device_launches", device_launches},
    {"contexts", contexts},
    {"context_launches", context_launches},
    {"threads", threads},
    {"persistent", persistent},
    {"copies", copying},
    {"children", children},
};

void end_as(const std::string& mode) {
  if (mode == "code7") std::exit(7);
  if (mode == "abort") std::abort();
  if (mode == "kill") raise(SIGKILL);
  if (mode == "_exit") _exit(5);
  if (mode == "segv") raise(SIGSEGV);
}

}  // namespace

int main(int arguments, char** words) {
  const std::string mode = arguments > 1 ? words[1] : "plain";
  const double seconds = arguments > 2 ? std::atof(words[2]) : 2;
  if (arguments > 3) log_file = std::fopen(words[3], "w");
  if (mode != "children" && mode.find("context") != 0)
    MUST(cudaFree(nullptr));              // CUDA starts, no work
  if (mode == "late") usleep(4'500'000);  // as a program that loads its weights
  until = now() + static_cast<long long>(seconds * 1e9);
  for (const Mode& each : kModes)
    if (mode == each.name) each.run();
  std::printf("{\"kernels\": %lld, \"hidden\": %lld, \"copies\": %lld}\n", kernels.load(),
              hidden.load(), copies.load());
  std::fflush(stdout);
  if (log_file) std::fclose(log_file);
  end_as(mode);
  return 0;
}
