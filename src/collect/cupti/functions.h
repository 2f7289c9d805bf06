// The entry points of CUPTI's PM sampling and of the CUDA driver that the sampler uses, as pointers
// found at run time.
#pragma once

#include <cuda.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "collect/library.h"

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

}  // namespace gf
