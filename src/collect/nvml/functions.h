// The entry points of NVML that the program uses, as pointers found at run time. A call whose entry
// point the driver does not have answers NVML_ERROR_FUNCTION_NOT_FOUND.
#pragma once

#include <nvml.h>

#include "collect/library.h"

namespace gf {

#define GF_NVML_FUNCTIONS(X)                   \
  X(nvmlInit_v2)                               \
  X(nvmlShutdown)                              \
  X(nvmlErrorString)                           \
  X(nvmlSystemGetDriverVersion)                \
  X(nvmlSystemGetNVMLVersion)                  \
  X(nvmlSystemGetCudaDriverVersion_v2)         \
  X(nvmlDeviceGetCount_v2)                     \
  X(nvmlDeviceGetHandleByIndex_v2)             \
  X(nvmlDeviceGetName)                         \
  X(nvmlDeviceGetUUID)                         \
  X(nvmlDeviceGetPciInfo_v3)                   \
  X(nvmlDeviceGetCudaComputeCapability)        \
  X(nvmlDeviceGetMaxClockInfo)                 \
  X(nvmlDeviceGetEnforcedPowerLimit)           \
  X(nvmlDeviceGetFieldValues)                  \
  X(nvmlDeviceGetPowerUsage)                   \
  X(nvmlDeviceGetTotalEnergyConsumption)       \
  X(nvmlDeviceGetClockInfo)                    \
  X(nvmlDeviceGetTemperature)                  \
  X(nvmlDeviceGetCurrentClocksEventReasons)    \
  X(nvmlDeviceGetCurrentClocksThrottleReasons) \
  X(nvmlDeviceGetMemoryInfo_v2)                \
  X(nvmlDeviceGetMemoryInfo)                   \
  X(nvmlDeviceGetUtilizationRates)             \
  X(nvmlDeviceGetComputeRunningProcesses_v3)   \
  X(nvmlDeviceGetMigMode)                      \
  X(nvmlDeviceGetMaxMigDeviceCount)            \
  X(nvmlDeviceGetMigDeviceHandleByIndex)       \
  X(nvmlDeviceGetGpuInstanceId)                \
  X(nvmlDeviceGetComputeInstanceId)            \
  X(nvmlDeviceGetAttributes_v2)                \
  X(nvmlDeviceGetEncoderUtilization)           \
  X(nvmlDeviceGetDecoderUtilization)           \
  X(nvmlDeviceGetPcieReplayCounter)            \
  X(nvmlDeviceGetRemappedRows)                 \
  X(nvmlDeviceRegisterEvents)                  \
  X(nvmlEventSetCreate)                        \
  X(nvmlEventSetFree)                          \
  X(nvmlEventSetWait_v2)                       \
  X(nvmlGpmQueryDeviceSupport)                 \
  X(nvmlGpmSampleAlloc)                        \
  X(nvmlGpmSampleFree)                         \
  X(nvmlGpmSampleGet)                          \
  X(nvmlGpmMigSampleGet)                       \
  X(nvmlGpmMetricsGet)                         \
  X(nvmlDeviceSetGpuLockedClocks)              \
  X(nvmlDeviceResetGpuLockedClocks)

struct NvmlFunctions {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define X(name) decltype(&::name) name = nullptr;
  GF_NVML_FUNCTIONS(X)
#undef X
  explicit NvmlFunctions(const Library& library) {
#define X(entry) entry = reinterpret_cast<decltype(&::entry)>(library.symbol(#entry));
    GF_NVML_FUNCTIONS(X)
#undef X
  }
#pragma GCC diagnostic pop
};

/// f(args...), or NVML_ERROR_FUNCTION_NOT_FOUND when the driver lacks it.
template <class... P, class... A>
nvmlReturn_t nvml_call(nvmlReturn_t (*f)(P...), A... args) {
  if (f) return f(args...);
  return NVML_ERROR_FUNCTION_NOT_FOUND;
}

}  // namespace gf
