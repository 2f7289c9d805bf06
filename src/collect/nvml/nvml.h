// The entry points of NVML that the program uses, as pointers found at run time. A call whose entry
// point the driver does not have answers NVML_ERROR_FUNCTION_NOT_FOUND.
// NVIDIA's management library: which GPUs there are, and what their sensors say. Facts about its
// calls that shape this code: the energy counter costs about 4 ms a read, instant power 7 us; both
// change every 100 ms; average power is over one second; nvmlDeviceGetPcieThroughput blocks for 20
// ms, so PCIe traffic comes from the byte counters.
// Opening the driver where a driver that hangs must not hang the program.
// Holds a GPU's SM clock at one frequency for as long as it lives, for those who may: needs root or
// the driver's leave. Nothing else in the program changes a clock.
#pragma once

#include <nvml.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collect/library.h"
#include "core/error.h"
#include "core/time.h"

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
  return f ? f(args...) : NVML_ERROR_FUNCTION_NOT_FOUND;
}

}  // namespace gf

struct nvmlDevice_st;

namespace gf {

struct NvmlFunctions;

/// One MIG compute instance of a GPU.
struct MigInstance {
  nvmlDevice_st* handle = nullptr;
  unsigned gpu_instance = 0, compute_instance = 0;
  std::string name, uuid;
  std::int64_t memory_bytes = -1;
  int sm_count = -1;
};

struct GpuInfo {
  nvmlDevice_st* handle = nullptr;
  unsigned index = 0;  // NVML's order, which is nvidia-smi's
  std::string name, uuid, pci_bus;
  int compute_major = -1, compute_minor = -1;
  std::int64_t memory_bytes = -1;
  double max_sm_clock_mhz = -1, max_memory_clock_mhz = -1, power_limit_watts = -1;
  bool mig = false;  // MIG mode is on
  bool gpm = false;  // GPM metrics are supported
  std::vector<MigInstance> instances;
};

struct GpuProcess {
  std::int64_t pid = -1;
  std::string name;  // from /proc, empty when the process is out of sight (another container)
  std::int64_t memory_bytes = -1;  // -1: not available
};

/// The groups to read; a recorder reads cheap values often and dear ones seldom.
struct GpuReadingGroups {
  bool power = true;   // instant, average, memory scope: about 10 us
  bool energy = true;  // about 4 ms
  bool state =
      true;  // clocks, temperature, throttle reasons, utilization, memory, PCIe and NVLink bytes
  bool processes = true;  // per-process memory and names
};

/// Every value may be missing: empty is "no data".
struct GpuReading {
  Nanos time_ns = 0;  // host clock, nanoseconds since 1970
  std::optional<double> power_instant_watts, power_average_watts, power_memory_watts;
  std::optional<double> energy_joules;  // since the driver was loaded
  std::optional<double> sm_clock_mhz, memory_clock_mhz, temperature_celsius;
  std::optional<double> utilization_gpu, utilization_memory;  // nvidia-smi's shares of time, 0..1
  std::optional<std::uint64_t> throttle_reasons;              // NVML's bit mask
  std::optional<std::int64_t> memory_used_bytes, memory_total_bytes;
  std::optional<std::uint64_t> pcie_tx_bytes,
      pcie_rx_bytes;  // since driver load, 64-bit (wraps of the driver's 32-bit counts repaired)
  std::optional<std::uint64_t> nvlink_tx_bytes,
      nvlink_rx_bytes;  // since driver load, all links, data without overhead
  std::optional<std::vector<GpuProcess>> processes;
  bool lost = false;  // the GPU fell off the bus
};

class Nvml {
 public:
  /// Loads and starts the library. Errors: no driver, or one that does not answer, with what to do.
  static Result<Nvml> open();
  ~Nvml();
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;

  const std::string& driver_version() const { return driver_version_; }
  const std::string& cuda_version() const {
    return cuda_version_;
  }  // "13.0", the newest that the driver serves
  const std::vector<GpuInfo>& gpus() const { return gpus_; }
  const NvmlFunctions& functions() const { return *functions_; }

  /// Threads may read side by side, each its own GPU.
  GpuReading read(const GpuInfo& gpu, const GpuReadingGroups& groups = {});
  /// Memory and processes of one MIG instance; the rest is per GPU and stays empty.
  GpuReading read(const MigInstance& instance);

 private:
  Nvml() = default;
  void list_gpus();
  void read_links(const GpuInfo& gpu, GpuReading& reading);
  std::unique_ptr<NvmlFunctions> functions_;
  std::string driver_version_, cuda_version_;
  std::vector<GpuInfo> gpus_;
  /// A count of the driver that wraps, as one that does not.
  struct WrappingCount {
    std::uint64_t last = 0, total = 0;
    bool seen = false;
    std::uint64_t advance(std::uint64_t now);
  };
  std::vector<WrappingCount> pcie_;  // two a GPU, by its index
};

/// Short words for the bits of a throttle mask ("sw_power_cap"), without the idle bit.
std::vector<std::string> throttle_words(std::uint64_t mask);

}  // namespace gf

namespace gf {

/// Nvml::open() with a deadline. Gives up after half a minute, and at once when `wake_fd` (a
/// signalfd, say; -1: none) can be read.
Result<std::shared_ptr<Nvml>> open_nvml(int wake_fd = -1);

/// The error of a driver that has not answered for `limit`, asked for `what`.
Error no_answer(Nanos limit, const std::string& what);

}  // namespace gf

namespace gf {

class ClockLock {
 public:
  /// Errors: no permission, a clock that the board does not have.
  static Result<ClockLock> hold(const Nvml& nvml, const GpuInfo& gpu, unsigned mhz);
  ClockLock(ClockLock&& other) noexcept : nvml_(other.nvml_), gpu_(other.gpu_) {
    other.nvml_ = nullptr;
  }
  ClockLock& operator=(ClockLock&&) = delete;
  ~ClockLock();  // gives the clock back to the driver

 private:
  ClockLock(const Nvml& nvml, nvmlDevice_st* gpu) : nvml_(&nvml), gpu_(gpu) {}
  const Nvml* nvml_;
  nvmlDevice_st* gpu_;
};

// The metrics of the catalog that a reading of NVML gives: one table for the recorder and the
// monitor.

struct ReadingMetric {
  const char* id;  // of the metric catalog
  bool counter;    // grows from the driver's start on; else a value of the moment
  std::optional<double> (*of)(const GpuReading&);  // in the catalog's unit; empty: no data
};
std::span<const ReadingMetric> reading_metrics();

}  // namespace gf
