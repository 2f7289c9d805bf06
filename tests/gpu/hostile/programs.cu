// Programs that use CUDA in ways that break recorders. Each does a fixed amount of work and prints
// one number that depends on all of it, so that a run beneath a recorder can be held against one
// without: programs MODE. Built with
//   nvcc -O2 -std=c++17 -rdc=true -arch=sm_90 programs.cu -o programs -lcudadevrt -lcuda
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kBlocks = 132, kThreads = 256, kCells = kBlocks * kThreads;

void must(cudaError_t code, const char* what, int line) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s, line %d\n", what, cudaGetErrorString(code), line);
  std::exit(99);
}
void must(CUresult code, const char* what, int line) {
  if (code == CUDA_SUCCESS) return;
  const char* text = "?";
  cuGetErrorString(code, &text);
  std::fprintf(stderr, "%s: %s, line %d\n", what, text, line);
  std::exit(98);
}
#define MUST(call) must((call), #call, __LINE__)

__device__ unsigned next(unsigned value) { return value * 1664525u + 1013904223u; }

__global__ void step(unsigned* cells, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = cells[i];
  for (int round = 0; round < rounds; ++round) value = next(value);
  cells[i] = value;
}
__global__ void add(unsigned* cells, unsigned what) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] += what;
}
__global__ void step_together(unsigned* cells, int rounds) {
  const auto grid = cooperative_groups::this_grid();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    const unsigned other = cells[(i + blockDim.x) % kCells];
    grid.sync();
    cells[i] = next(cells[i] ^ other);
    grid.sync();
  }
}
__global__ void launch_children(unsigned* cells) {
  if (threadIdx.x == 0)
    for (int child = 0; child < 4; ++child) step<<<kBlocks, kThreads>>>(cells, 20);
}
__global__ void run_until(volatile int* stop) {
  while (!*stop) __nanosleep(1000);
}
__global__ void count_down(int* left, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, --*left > 0);
}
__global__ void choose(unsigned* cells, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, cells[0] & 1);
}
__device__ cudaGraphExec_t device_graph;
__global__ void launch_graph() { cudaGraphLaunch(device_graph, cudaStreamGraphTailLaunch); }

unsigned* make_cells() {
  unsigned* cells = nullptr;
  MUST(cudaMalloc(&cells, kCells * sizeof *cells));
  MUST(cudaMemset(cells, 0, kCells * sizeof *cells));
  MUST(cudaDeviceSynchronize());  // streams of their own do not wait for it
  return cells;
}
unsigned long long sum_of(const unsigned* cells) {
  std::vector<unsigned> host(kCells);
  MUST(cudaDeviceSynchronize());
  MUST(cudaMemcpy(host.data(), cells, kCells * sizeof *cells, cudaMemcpyDefault));
  unsigned long long sum = 0;
  for (unsigned value : host) sum = sum * 31 + value;
  return sum;
}
cudaStream_t make_stream() {
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

unsigned long long plain(int launches) {
  unsigned* cells = make_cells();
  for (int i = 0; i < launches; ++i) step<<<kBlocks, kThreads>>>(cells, 2000);
  return sum_of(cells);
}

unsigned long long cooperative() {
  unsigned* cells = make_cells();
  int rounds = 20;
  void* arguments[] = {&cells, &rounds};
  for (int i = 0; i < 5000; ++i)
    MUST(cudaLaunchCooperativeKernel((void*)step_together, dim3(kBlocks), dim3(kThreads), arguments,
                                     0, nullptr));
  return sum_of(cells);
}

unsigned long long device_launches() {
  unsigned* cells = make_cells();
  for (int i = 0; i < 3000; ++i) {
    launch_children<<<1, 32>>>(cells);
    if (i % 20 == 19) MUST(cudaDeviceSynchronize());
  }
  return sum_of(cells);
}

unsigned long long persistent() {
  unsigned* cells = make_cells();
  int* stop = nullptr;
  MUST(cudaHostAlloc(&stop, sizeof *stop, 0));
  *stop = 0;
  const cudaStream_t first = make_stream(), second = make_stream();
  step<<<kBlocks / 2, kThreads, 0, second>>>(cells, 5);
  MUST(cudaStreamSynchronize(second));
  run_until<<<4, 32, 0, first>>>(stop);
  for (int i = 0; i < 600; ++i) {
    for (int k = 0; k < 20; ++k) step<<<kBlocks / 2, kThreads, 0, second>>>(cells, 500);
    MUST(cudaStreamSynchronize(second));
    usleep(2000);
  }
  *static_cast<volatile int*>(stop) = 1;
  return sum_of(cells);
}

unsigned long long memory() {
  constexpr std::size_t kBytes = 16 << 20;
  char* host = nullptr;
  MUST(cudaMallocHost(&host, kBytes));
  std::memset(host, 3, kBytes);
  unsigned* cells = make_cells();
  const cudaStream_t stream = make_stream();
  for (int i = 0; i < 500; ++i) {
    char *first, *second;
    MUST(cudaMallocAsync(&first, kBytes, stream));
    MUST(cudaMallocAsync(&second, kBytes, stream));
    MUST(cudaMemcpyAsync(first, host, kBytes, cudaMemcpyHostToDevice, stream));
    MUST(cudaMemcpyAsync(second, first, kBytes, cudaMemcpyDeviceToDevice, stream));
    MUST(cudaMemsetAsync(first, i, kBytes, stream));
    MUST(cudaMemcpyAsync(cells, second, kCells * 4, cudaMemcpyDeviceToDevice, stream));
    step<<<kBlocks, kThreads, 0, stream>>>(cells, i);
    MUST(cudaMemcpyAsync(host, first, kBytes, cudaMemcpyDeviceToHost, stream));
    MUST(cudaFreeAsync(first, stream));
    MUST(cudaFreeAsync(second, stream));
    MUST(cudaStreamSynchronize(stream));
  }
  return sum_of(cells);
}

unsigned long long threads() {
  unsigned* cells = make_cells();
  std::vector<std::thread> all;
  for (int thread = 0; thread < 8; ++thread)
    all.emplace_back([=] {
      const cudaStream_t stream = make_stream();
      for (int i = 0; i < 20000; ++i) {
        step<<<kBlocks / 8, kThreads, 0, stream>>>(cells + thread * (kCells / 8), 100);
        if (i % 50 == 49) MUST(cudaStreamSynchronize(stream));
      }
    });
  for (auto& thread : all) thread.join();
  return sum_of(cells);
}

unsigned long long flood() {
  unsigned* cells = make_cells();
  for (int i = 0; i < 400'000; ++i) add<<<1, 32>>>(cells, i);
  return sum_of(cells);
}

unsigned long long contexts() {
  std::vector<unsigned long long> sums(3);
  std::vector<std::thread> all;
  for (auto& sum : sums)
    all.emplace_back([&sum] {
      CUcontext context;
      CUctxCreateParams parameters{};
      MUST(cuInit(0));
      MUST(cuCtxCreate(&context, &parameters, 0, 0));
      sum = plain(20'000);
      MUST(cuCtxDestroy(context));
    });
  for (auto& thread : all) thread.join();
  return sums[0] + 3 * sums[1] + 5 * sums[2];
}

/// A graph whose body runs `rounds` times a launch.
unsigned long long while_graph(int launches, int rounds) {
  unsigned* cells = make_cells();
  int* left = nullptr;
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
  add<<<kBlocks, kThreads, 0, stream>>>(cells, 7);
  MUST(cudaStreamEndCapture(stream, nullptr));
  cudaGraphExec_t ready;
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < launches; ++i) {
    MUST(cudaMemcpyAsync(left, &rounds, sizeof rounds, cudaMemcpyHostToDevice, stream));
    MUST(cudaGraphLaunch(ready, stream));
    MUST(cudaStreamSynchronize(stream));
  }
  return sum_of(cells);
}

unsigned long long if_graph() {
  unsigned* cells = make_cells();
  const cudaStream_t stream = make_stream();
  cudaGraph_t graph;
  MUST(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  MUST(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
  MUST(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                     cudaStreamCaptureModeGlobal));
  choose<<<1, 1, 0, stream>>>(cells, handle);
  step<<<kBlocks, kThreads, 0, stream>>>(cells, 1);
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* before = nullptr;
  std::size_t count = 0;
  MUST(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &before, nullptr, &count));
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeIf;
  parameters.conditional.size = 1;
  cudaGraphNode_t node;
  MUST(cudaGraphAddNode(&node, graph, before, nullptr, count, &parameters));
  MUST(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                           cudaStreamSetCaptureDependencies));
  MUST(cudaStreamEndCapture(stream, nullptr));
  MUST(cudaStreamBeginCaptureToGraph(stream, parameters.conditional.phGraph_out[0], nullptr,
                                     nullptr, 0, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 20; ++i) add<<<kBlocks, kThreads, 0, stream>>>(cells, 3);
  MUST(cudaStreamEndCapture(stream, nullptr));
  cudaGraphExec_t ready;
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < 20'000; ++i) MUST(cudaGraphLaunch(ready, stream));
  return sum_of(cells);
}

cudaGraph_t capture_steps(unsigned* cells, int kernels, int rounds) {
  const cudaStream_t stream = make_stream();
  cudaGraph_t graph;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kernels; ++i) step<<<kBlocks, kThreads, 0, stream>>>(cells, rounds);
  MUST(cudaStreamEndCapture(stream, &graph));
  return graph;
}

unsigned long long device_launched_graph() {
  unsigned* cells = make_cells();
  cudaGraphExec_t inner, outer;
  MUST(cudaGraphInstantiate(&inner, capture_steps(cells, 5, 10),
                            cudaGraphInstantiateFlagDeviceLaunch));
  const cudaStream_t stream = make_stream();
  MUST(cudaGraphUpload(inner, stream));
  MUST(cudaMemcpyToSymbol(device_graph, &inner, sizeof inner));
  cudaGraph_t graph;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  launch_graph<<<1, 1, 0, stream>>>();
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&outer, graph, cudaGraphInstantiateFlagDeviceLaunch));
  for (int i = 0; i < 5000; ++i) {
    MUST(cudaGraphLaunch(outer, stream));
    MUST(cudaStreamSynchronize(stream));
  }
  return sum_of(cells);
}

/// Parameters of an instantiated graph change while it runs.
unsigned long long updated_graph() {
  unsigned* cells = make_cells();
  const cudaStream_t stream = make_stream();
  const cudaGraph_t first = capture_steps(cells, 10, 5), second = capture_steps(cells, 10, 9);
  cudaGraphExec_t ready;
  MUST(cudaGraphInstantiate(&ready, first, 0));
  for (int i = 0; i < 4000; ++i) {
    cudaGraphExecUpdateResultInfo info{};
    MUST(cudaGraphExecUpdate(ready, i % 2 ? second : first, &info));
    MUST(cudaGraphLaunch(ready, stream));
  }
  return sum_of(cells);
}

/// Graphs are made, run a few times and thrown away, among them one with a loop, late.
unsigned long long many_graphs() {
  unsigned long long sum = 0;
  for (int i = 0; i < 300; ++i) {
    unsigned* cells = make_cells();
    const cudaStream_t stream = make_stream();
    const cudaGraph_t graph = capture_steps(cells, 1 + i % 40, 3);
    cudaGraphExec_t ready;
    MUST(cudaGraphInstantiate(&ready, graph, 0));
    for (int launch = 0; launch < 10; ++launch) MUST(cudaGraphLaunch(ready, stream));
    sum = sum * 31 + sum_of(cells);
    MUST(cudaGraphExecDestroy(ready));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaStreamDestroy(stream));
    MUST(cudaFree(cells));
    if (i == 150) sleep(1);
  }
  return sum + while_graph(220, 1000);
}

/// Graphs without a loop go on while one with a loop is made, and beside it.
unsigned long long mixed_graphs() {
  unsigned* cells = make_cells();
  const cudaStream_t stream = make_stream();
  cudaGraphExec_t ready;
  MUST(cudaGraphInstantiate(&ready, capture_steps(cells, 10, 5), 0));
  unsigned long long sum = 0;
  for (int round = 0; round < 4; ++round) {
    for (int launch = 0; launch < 1500; ++launch) {
      MUST(cudaGraphLaunch(ready, stream));
      if (launch % 10 == 0) MUST(cudaStreamSynchronize(stream));
      usleep(200);
    }
    sum = sum * 31 + while_graph(48, 1000);
  }
  return sum + sum_of(cells);
}

/// One graph, for seconds.
unsigned long long steady_graph() {
  unsigned* cells = make_cells();
  const cudaStream_t stream = make_stream();
  cudaGraphExec_t ready;
  MUST(cudaGraphInstantiate(&ready, capture_steps(cells, 40, 5), 0));
  for (int launch = 0; launch < 4000; ++launch) {
    MUST(cudaGraphLaunch(ready, stream));
    if (launch % 10 == 0) MUST(cudaStreamSynchronize(stream));
    usleep(700);
  }
  return sum_of(cells);
}

unsigned long long green_context() {
  MUST(cuInit(0));
  CUdevResource all{}, part{};
  unsigned groups = 1;
  MUST(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
  MUST(cuDevSmResourceSplitByCount(&part, &groups, &all, nullptr, 0, 16));
  CUdevResourceDesc description;
  MUST(cuDevResourceGenerateDesc(&description, &part, 1));
  CUgreenCtx green;
  CUcontext context;
  MUST(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  MUST(cuCtxFromGreenCtx(&context, green));
  MUST(cuCtxSetCurrent(context));
  unsigned* cells = make_cells();
  CUstream stream;
  MUST(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < 20'000; ++i) step<<<kBlocks, kThreads, 0, stream>>>(cells, 200);
  return sum_of(cells);
}

unsigned long long mapped_memory() {
  MUST(cudaFree(nullptr));
  CUmemAllocationProp kind{};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  std::size_t grain = 0;
  MUST(cuMemGetAllocationGranularity(&grain, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr address;
  MUST(cuMemAddressReserve(&address, grain, 0, 0, 0));
  unsigned long long sum = 0;
  for (int i = 0; i < 300; ++i) {
    CUmemGenericAllocationHandle handle;
    MUST(cuMemCreate(&handle, grain, &kind, 0));
    MUST(cuMemMap(address, grain, 0, handle, 0));
    const CUmemAccessDesc access{kind.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    MUST(cuMemSetAccess(address, grain, &access, 1));
    auto* cells = reinterpret_cast<unsigned*>(address);
    MUST(cudaMemset(cells, i, kCells * 4));
    for (int k = 0; k < 50; ++k) step<<<kBlocks, kThreads>>>(cells, 50);
    sum = sum * 31 + sum_of(cells);
    MUST(cuMemUnmap(address, grain));
    MUST(cuMemRelease(handle));
  }
  return sum;
}

/// Another process works on this one's memory.
unsigned long long shared_memory(const char* self) {
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0) std::exit(97);
  const pid_t child = fork();  // before CUDA is started
  if (child == 0) {
    dup2(down[0], 0);
    dup2(up[1], 1);
    execl(self, self, "ipc-child", nullptr);
    _exit(97);
  }
  unsigned* cells = make_cells();
  MUST(cudaDeviceSynchronize());
  cudaIpcMemHandle_t handle;
  MUST(cudaIpcGetMemHandle(&handle, cells));
  if (write(down[1], &handle, sizeof handle) != sizeof handle) std::exit(97);
  char done = 0;
  if (read(up[0], &done, 1) != 1) std::exit(97);
  for (int i = 0; i < 2000; ++i) step<<<kBlocks, kThreads>>>(cells, 100);
  int status = 0;
  waitpid(child, &status, 0);
  return sum_of(cells) + static_cast<unsigned>(status);
}
int shared_memory_child() {
  cudaIpcMemHandle_t handle;
  if (read(0, &handle, sizeof handle) != sizeof handle) return 97;
  void* cells = nullptr;
  MUST(cudaIpcOpenMemHandle(&cells, handle, cudaIpcMemLazyEnablePeerAccess));
  for (int i = 0; i < 2000; ++i) step<<<kBlocks, kThreads>>>(static_cast<unsigned*>(cells), 100);
  MUST(cudaDeviceSynchronize());
  MUST(cudaIpcCloseMemHandle(cells));
  return write(1, "x", 1) == 1 ? 0 : 97;
}

/// A server that never touches CUDA forks children that do.
unsigned long long fork_server() {
  unsigned long long sum = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<pid_t, int>> children;
    for (int child = 0; child < 3; ++child) {
      int ends[2];
      if (pipe(ends) != 0) std::exit(97);
      const pid_t process = fork();
      if (process == 0) {
        const unsigned long long own = plain(3000 + child);
        const bool written = write(ends[1], &own, sizeof own) == sizeof own;
        child % 2 ? std::exit(written ? 0 : 97) : _exit(written ? 0 : 97);
      }
      children.emplace_back(process, ends[0]);
    }
    for (const auto& [process, end] : children) {
      unsigned long long own = 0;
      int status = 0;
      if (read(end, &own, sizeof own) != sizeof own) std::exit(97);
      waitpid(process, &status, 0);
      sum = sum * 31 + own + static_cast<unsigned>(status);
    }
  }
  return sum;
}

/// Libraries with a runtime of their own each: built from this file with -DAS_LIBRARY.
unsigned long long several_runtimes(const std::string& self) {
  unsigned long long sum = plain(2000);
  for (const char* name : {"libprograms_a.so", "libprograms_b.so"}) {
    void* library = dlopen((self.substr(0, self.rfind('/') + 1) + name).c_str(), RTLD_NOW);
    if (!library) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(97);
    }
    auto work = reinterpret_cast<unsigned long long (*)(int)>(dlsym(library, "work_of_library"));
    for (int i = 0; i < 3; ++i) sum = sum * 31 + work(2000);
  }
  return sum + plain(2000);
}

unsigned long long managed() {
  unsigned* cells = nullptr;
  MUST(cudaMallocManaged(&cells, kCells * sizeof *cells));
  std::memset(cells, 0, kCells * sizeof *cells);
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 20; ++k) step<<<kBlocks, kThreads>>>(cells, 20);
    MUST(cudaDeviceSynchronize());
    for (int cell = 0; cell < kCells; cell += 64) cells[cell] ^= i;
  }
  return sum_of(cells);
}

/// One thread captures while others launch; the graphs are launched by a third. Nothing waits for
/// the device meanwhile: that is not permitted while a stream is captured.
unsigned long long captured_by_threads() {
  std::vector<unsigned*> cells(4);
  for (auto& own : cells) own = make_cells();
  std::vector<std::thread> all;
  for (unsigned* own : cells)
    all.emplace_back([own] {
      const cudaStream_t stream = make_stream();
      for (int i = 0; i < 40; ++i) {
        cudaGraphExec_t ready;
        std::thread maker(
            [&] { MUST(cudaGraphInstantiate(&ready, capture_steps(own, 20, 10), 0)); });
        step<<<kBlocks, kThreads, 0, stream>>>(own, 1);
        maker.join();
        for (int launch = 0; launch < 20; ++launch) MUST(cudaGraphLaunch(ready, stream));
        MUST(cudaStreamSynchronize(stream));
        MUST(cudaGraphExecDestroy(ready));
      }
    });
  for (auto& thread : all) thread.join();
  return sum_of(cells[0]) + 3 * sum_of(cells[1]) + 5 * sum_of(cells[2]) + 7 * sum_of(cells[3]);
}

unsigned long long host_functions() {
  unsigned* cells = make_cells();
  static unsigned long long calls = 0;
  const cudaStream_t stream = make_stream();
  for (int i = 0; i < 5000; ++i) {
    step<<<kBlocks, kThreads, 0, stream>>>(cells, 100);
    MUST(cudaLaunchHostFunc(
        stream, [](void* count) { ++*static_cast<decltype(&calls)>(count); }, &calls));
  }
  return sum_of(cells) + calls;
}

/// Ends as the mode says, after work that is still queued.
void ends(const std::string& mode) {
  unsigned* cells = make_cells();
  for (int i = 0; i < 20'000; ++i) step<<<kBlocks, kThreads>>>(cells, 200);
  if (mode == "code7") std::exit(7);
  if (mode == "abort") std::abort();
  if (mode == "kill") std::raise(SIGKILL);
  if (mode == "_exit") _exit(5);
  if (mode == "segv") *const_cast<volatile int*>(static_cast<int*>(nullptr)) = 1;
  if (mode == "term") std::raise(SIGTERM);
}

}  // namespace

#ifdef AS_LIBRARY
extern "C" unsigned long long work_of_library(int launches) { return plain(launches); }
#else
int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "plain", self = words[0];
  unsigned long long sum = 0;
  if (mode == "plain")
    sum = plain(40'000);
  else if (mode == "cooperative")
    sum = cooperative();
  else if (mode == "device_launches")
    sum = device_launches();
  else if (mode == "persistent")
    sum = persistent();
  else if (mode == "memory")
    sum = memory();
  else if (mode == "threads")
    sum = threads();
  else if (mode == "flood")
    sum = flood();
  else if (mode == "contexts")
    sum = contexts();
  else if (mode == "while_graph")
    sum = while_graph(220, 1000);
  else if (mode == "late_while_graph")
    sum = plain(2000), sleep(2), sum += while_graph(220, 1000);
  else if (mode == "if_graph")
    sum = if_graph();
  else if (mode == "device_graph")
    sum = device_launched_graph();
  else if (mode == "updated_graph")
    sum = updated_graph();
  else if (mode == "many_graphs")
    sum = many_graphs();
  else if (mode == "mixed_graphs")
    sum = mixed_graphs();
  else if (mode == "steady_graph")
    sum = steady_graph();
  else if (mode == "green_context")
    sum = green_context();
  else if (mode == "mapped_memory")
    sum = mapped_memory();
  else if (mode == "shared_memory")
    sum = shared_memory(self.c_str());
  else if (mode == "ipc-child")
    return shared_memory_child();
  else if (mode == "fork_server")
    sum = fork_server();
  else if (mode == "several_runtimes")
    sum = several_runtimes(self);
  else if (mode == "managed")
    sum = managed();
  else if (mode == "captured_by_threads")
    sum = captured_by_threads();
  else if (mode == "host_functions")
    sum = host_functions();
  else if (mode == "replaced")
    execl(self.c_str(), self.c_str(), "plain", nullptr);
  else
    ends(mode);
  std::printf("%s %llu\n", mode.c_str(), sum);
  return 0;
}
#endif
