// The entry points of CUPTI's PM sampling and of the CUDA driver that the sampler uses, as pointers
// found at run time.
// Paths of CUPTI: several copies exist on a usual machine (toolkit, PyTorch's wheel, Nsight
// Compute).
// CUPTI and the CUDA driver, found and started at run time.
#pragma once

#include <cuda.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collect/library.h"
#include "collect/nvml/nvml.h"

namespace gf {

#define GF_CUPTI_FUNCTIONS(X)                  \
  X(cuptiProfilerInitialize)                   \
  X(cuptiProfilerDeviceSupported)              \
  X(cuptiDeviceGetChipName)                    \
  X(cuptiProfilerHostInitialize)               \
  X(cuptiProfilerHostDeinitialize)             \
  X(cuptiProfilerHostConfigAddMetrics)         \
  X(cuptiProfilerHostGetConfigImageSize)       \
  X(cuptiProfilerHostGetConfigImage)           \
  X(cuptiProfilerHostGetNumOfPasses)           \
  X(cuptiProfilerHostGetMetricProperties)      \
  X(cuptiProfilerHostEvaluateToGpuValues)      \
  X(cuptiPmSamplingGetCounterAvailability)     \
  X(cuptiPmSamplingEnable)                     \
  X(cuptiPmSamplingDisable)                    \
  X(cuptiPmSamplingSetConfig)                  \
  X(cuptiPmSamplingStart)                      \
  X(cuptiPmSamplingStop)                       \
  X(cuptiPmSamplingDecodeData)                 \
  X(cuptiPmSamplingGetCounterDataSize)         \
  X(cuptiPmSamplingCounterDataImageInitialize) \
  X(cuptiPmSamplingGetCounterDataInfo)         \
  X(cuptiPmSamplingCounterDataGetSampleInfo)
#define GF_DRIVER_FUNCTIONS(X) \
  X(cuInit)                    \
  X(cuDriverGetVersion)        \
  X(cuDeviceGetCount)          \
  X(cuDeviceGet)               \
  X(cuDeviceGetPCIBusId)       \
  X(cuDeviceGetAttribute)

struct CuptiFunctions {
#define X(name) decltype(&::name) name = nullptr;
  GF_CUPTI_FUNCTIONS(X)
#undef X
  CUptiResult (*cuptiGetVersion)(std::uint32_t*) = nullptr;
  CUptiResult (*cuptiGetResultString)(CUptiResult, const char**) = nullptr;
  /// The name of the first entry point that the library lacks, null when all are there.
  const char* load(const Library& library);
  std::string text(CUptiResult code) const;
};

struct DriverFunctions {
#define X(name) decltype(&::name) name = nullptr;
  GF_DRIVER_FUNCTIONS(X)
#undef X
  const char* load(const Library& library);
};

/// A CUPTI parameter struct with its size set.
#define GF_CUPTI_PARAMS(type, name) \
  type##_Params name{};             \
  name.structSize = type##_Params_STRUCT_SIZE

/// CUPTI and the CUDA driver, started once a process.
class Cupti {
 public:
  /// Errors: no driver, no libcupti, one too old for PM sampling (CUDA 12.6 is the first).
  static Result<std::shared_ptr<Cupti>> open();
  const CuptiFunctions& functions() const { return cupti_; }
  const DriverFunctions& driver() const { return driver_; }
  std::uint32_t version() const { return version_; }         // such as 130001
  int driver_cuda_version() const { return cuda_version_; }  // such as 13000
  const std::string& path() const { return path_; }
  /// CUDA's number of the GPU with this PCI address, or an error.
  Result<int> cuda_index(const GpuInfo& gpu) const;

 private:
  CuptiFunctions cupti_;
  DriverFunctions driver_;
  std::uint32_t version_ = 0;
  int cuda_version_ = 0;
  std::string path_;
};

}  // namespace gf
