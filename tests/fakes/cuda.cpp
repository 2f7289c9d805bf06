// A libcuda.so.1 for machines without a GPU. Options of GPUFATHOM_FAKE: gpus, cuda (version),
// cuinit (error), kernel_us, node_us (how long a kernel runs, one of a graph), blocking (0/1: a
// launch returns when its kernels have run, as where the queue is full), sms (of a GPU, 0), refuses
// (the entry of a PTX module that does not compile). GPUFATHOM_FAKE_LOG names a file for contexts.
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ran.h"
#include "world.h"

namespace {

void wait_until(std::int64_t end) {
  while (fake::now_ns() < end) {
    if (end - fake::now_ns() < 100'000) continue;
    const timespec t{0, 100'000};
    nanosleep(&t, nullptr);
  }
}

/// A function of the fake CUPTI, when that is loaded.
template <class Function>
Function* in_cupti(const char* name) {
  void* cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  return cupti ? reinterpret_cast<Function*>(dlsym(cupti, name)) : nullptr;
}

/// Nothing but time passes; CUPTI hears of the call and of what it launched: `nodes` kernels, one
/// after the other.
void run(const char* name, std::uint64_t bytes, unsigned grid, std::uint32_t graph = 0,
         unsigned nodes = 1) {
  auto* call = in_cupti<decltype(fake_call)>("fake_call");
  const std::int64_t start = fake::now_ns() + 20'000;
  static const auto alone = static_cast<std::int64_t>(fake::number("kernel_us", 1000)) * 1000;
  static const auto node = static_cast<std::int64_t>(fake::number("node_us", 100) * 1000);
  const std::int64_t each = graph == 0 ? alone : node;
  const std::uint32_t correlation = call ? call(0, 0, graph != 0) : 0;
  static const bool blocking = fake::number("blocking", 0) > 0;
  wait_until(start + (blocking ? each * nodes : 0));
  if (call) call(1, correlation, graph != 0);
  wait_until(start + each * nodes);
  auto* ran = in_cupti<decltype(fake_ran)>("fake_ran");
  auto* said = in_cupti<decltype(fake_called)>("fake_called");
  FakeRun what{name, bytes, 0, grid, graph, 0, correlation, start, start};
  for (unsigned i = 0; ran && i < nodes; ++i) {
    what.node = graph == 0 ? 0 : (std::uint64_t{graph} << 32 | i);
    what.start = start + each * i;
    what.end = what.start + each;
    ran(&what);
  }
  if (said) said();
}

}  // namespace

extern "C" {

/// The first time in a process it loads what CUDA_INJECTION64_PATH names, as the real driver does.
CUresult cuInit(unsigned) {
  static std::atomic<bool> loaded{false};
  const char* injection = std::getenv("CUDA_INJECTION64_PATH");
  if (injection && *injection && !loaded.exchange(true))
    if (void* library = dlopen(injection, RTLD_NOW | RTLD_LOCAL))
      if (auto* start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) start();
  return static_cast<CUresult>(static_cast<int>(fake::number("cuinit", 0)));
}
/// A stream that is captured is number 1.
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream stream, void**, void**) {
  if (stream == reinterpret_cast<CUstream>(1)) {
    auto* call = in_cupti<decltype(fake_call)>("fake_call");
    const std::uint32_t correlation = call ? call(0, 0, 0) : 0;
    if (auto* made = in_cupti<decltype(fake_graph_node)>("fake_graph_node")) made();
    if (call) call(1, correlation, 0);
    return CUDA_SUCCESS;
  }
  run(reinterpret_cast<const char*>(f), 0, x);  // the program's functions are their names
  return CUDA_SUCCESS;
}
/// The program's graphs are numbers of nodes; above 32 bits stands the graph's own number, if
/// not 3.
CUresult cuGraphLaunch(CUgraphExec graph, CUstream) {
  const auto number = reinterpret_cast<std::uintptr_t>(graph);
  const auto own = static_cast<std::uint32_t>(number >> 32);
  run("node", 0, 8, own ? own : 3, static_cast<unsigned>(number));
  return CUDA_SUCCESS;
}
/// A graph that has a name has a conditional node.
CUresult cuGraphInstantiateWithFlags(CUgraphExec*, CUgraph graph, unsigned long long) {
  if (auto* ready = in_cupti<decltype(fake_graph_is_ready)>("fake_graph_is_ready"))
    ready(graph != nullptr);
  if (auto* copies = in_cupti<decltype(fake_graph_copies)>("fake_graph_copies"))
    copies(graph ? 13 : 3);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD(CUdeviceptr, const void*, std::size_t bytes) {
  run("", bytes, 0);
  return CUDA_SUCCESS;
}
/// As NVML's fake writes it: zeros and the GPU's number.
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  std::memset(uuid, 0, sizeof *uuid);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  *version = static_cast<int>(fake::number("cuda", 13000));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = static_cast<int>(fake::number("gpus", 1));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* out, int length, CUdevice device) {
  std::snprintf(out, static_cast<std::size_t>(length), "0000:%02X:00.0", device + 1);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  *value = 0;
  if (which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    *value = static_cast<int>(fake::number("sms", 0));
  return CUDA_SUCCESS;
}

// A program that compiles kernels and launches them itself: modules and functions are the entry's
// name, events the time at which they are recorded.

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
  if (const char* path = std::getenv("GPUFATHOM_FAKE_LOG"))
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "context %d\n", device);
      std::fclose(file);
    }
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
CUresult cuMemAlloc(CUdeviceptr* address, std::size_t) {
  *address = 1 << 20;
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr) { return CUDA_SUCCESS; }
CUresult cuMemAllocHost(void** data, std::size_t bytes) {
  *data = std::malloc(bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* data) {
  std::free(data);
  return CUDA_SUCCESS;
}
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{140} << 30;
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void*, CUdeviceptr, std::size_t) { return CUDA_SUCCESS; }
CUresult cuMemsetD32(CUdeviceptr, unsigned, std::size_t) { return CUDA_SUCCESS; }
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  const std::string text = static_cast<const char*>(image);
  const auto from = text.find(".entry ") + 7;
  const std::string entry = text.substr(from, text.find('(', from) - from);
  if (entry == fake::option("refuses", "")) return CUDA_ERROR_INVALID_PTX;
  *module = reinterpret_cast<CUmodule>(strdup(entry.c_str()));
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  std::free(module);
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char*) {
  *function = reinterpret_cast<CUfunction>(module);
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(new std::int64_t(0));
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  delete reinterpret_cast<std::int64_t*>(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream) {
  *reinterpret_cast<std::int64_t*>(event) = fake::now_ns();
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float* ms, CUevent from, CUevent to) {
  *ms = 1e-6F * static_cast<float>(*reinterpret_cast<std::int64_t*>(to) -
                                   *reinterpret_cast<std::int64_t*>(from));
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult code, const char** name) {
  *name = code == CUDA_ERROR_INVALID_PTX ? "CUDA_ERROR_INVALID_PTX" : "CUDA_ERROR";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "no GPU at all";
  return CUDA_SUCCESS;
}

// By their older names too.
#undef cuDeviceGetUuid
#undef cuEventElapsedTime
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }
CUresult cuEventElapsedTime(float* ms, CUevent from, CUevent to) {
  return cuEventElapsedTime_v2(ms, from, to);
}

}  // extern "C"
