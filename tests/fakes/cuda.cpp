// A libcuda.so.1 for machines without a GPU. Options of GPUFATHOM_FAKE: gpus, cuda (version),
// cuinit (error).
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "ran.h"
#include "world.h"

namespace {

/// Nothing but time passes; then CUPTI hears of it, when it is loaded.
void run(const char* name, std::uint64_t bytes, unsigned grid) {
  const std::int64_t called = fake::now_ns(), start = called + 20'000, end = start + 1'000'000;
  while (fake::now_ns() < end) {
    const timespec t{0, 100'000};
    nanosleep(&t, nullptr);
  }
  const FakeRun what{name, bytes, 0, grid, called, start, end};
  if (void* cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD))
    if (auto* ran = reinterpret_cast<decltype(&fake_ran)>(dlsym(cupti, "fake_ran"))) ran(&what);
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
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void**, void**) {
  run(reinterpret_cast<const char*>(f), 0, x);  // the program's functions are their names
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
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) {
  *value = 0;
  return CUDA_SUCCESS;
}

}  // extern "C"
