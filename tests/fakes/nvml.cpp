// A libnvidia-ml.so.1 for machines without a GPU. Options of GPUFATHOM_FAKE: gpus, gpm (0/1), mig
// (0/1), init (NVML error of nvmlInit), driver, cuda, lost_after, memory_scope (0/1), pid (of the
// process that holds memory), processes (0: none does), utilization (percent, 91), xid (a code that
// GPU 0 reports once, xid_after seconds after the first call), events (0: the driver tells of no
// events), remap_failed (0/1), sensor (1: as an H100's: the energy counter moves every 100 ms and a
// read of it takes 3.5 ms, and GPM says success and 0.0 of samples that are closer than 100 ms),
// hang_after, hang_gpu, hang_for (see world.h).
#include <nvml.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "world.h"

struct nvmlDevice_st {
  unsigned index;
  int instance;  // -1: the whole GPU
};
struct nvmlEventSet_st {
  nvmlDevice_t device = nullptr;
  bool told = false;
};
struct nvmlGpmSample_st {
  std::int64_t time_ns;
};

namespace {

constexpr unsigned kMost = 16, kInstances = 2;
nvmlDevice_st devices[kMost * (1 + kInstances)];

unsigned gpus() { return static_cast<unsigned>(fake::number("gpus", 1)); }
bool mig() { return fake::number("mig", 0) != 0; }

nvmlReturn_t copy(const std::string& text, char* out, unsigned length) {
  if (text.size() + 1 > length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

nvmlReturn_t number_out(nvmlDevice_t device, unsigned* out, unsigned value) {
  fake::hang_here(device->index);
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  *out = value;
  return NVML_SUCCESS;
}

constexpr std::int64_t kRefresh = 100'000'000;
constexpr useconds_t kEnergyRead = 3500;
bool as_a_board() { return fake::number("sensor", 0) != 0; }

std::atomic<int> in_gpm{0};
struct AloneInGpm {
  AloneInGpm() {
    if (in_gpm++ != 0) {
      std::fputs("fake NVML: two threads in GPM\n", stderr);
      std::abort();
    }
    usleep(2000);  // long enough for another thread to come
  }
  ~AloneInGpm() { --in_gpm; }
};

}  // namespace

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  fake::age_s();
  fake::hang_here(0);
  return static_cast<nvmlReturn_t>(static_cast<int>(fake::number("init", 0)));
}
/// Clocks may be held (GPUFATHOM_FAKE=clocks=1) and are noted in the file that GPUFATHOM_FAKE_LOG
/// names.
void note(const char* what, unsigned mhz) {
  if (const char* path = std::getenv("GPUFATHOM_FAKE_LOG"))
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "%s %u\n", what, mhz);
      std::fclose(file);
    }
}
nvmlReturn_t nvmlDeviceSetGpuLockedClocks(nvmlDevice_t, unsigned low, unsigned) {
  if (fake::number("clocks", 0) == 0) return NVML_ERROR_NO_PERMISSION;
  note("hold", low);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t) {
  note("give back", 0);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }
const char* nvmlErrorString(nvmlReturn_t code) {
  switch (code) {
    case NVML_SUCCESS:
      return "Success";
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
      return "Driver/library version mismatch";
    case NVML_ERROR_GPU_IS_LOST:
      return "GPU is lost";
    case NVML_ERROR_NO_PERMISSION:
      return "Insufficient Permissions";
    default:
      return "Unknown Error";
  }
}
nvmlReturn_t nvmlSystemGetDriverVersion(char* out, unsigned length) {
  return copy(fake::option("driver", "580.159.04"), out, length);
}
nvmlReturn_t nvmlSystemGetNVMLVersion(char* out, unsigned length) {
  return copy("13.580.159.04", out, length);
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = static_cast<int>(fake::number("cuda", 13000));
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpus();
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  if (index >= gpus() || index >= kMost) return NVML_ERROR_INVALID_ARGUMENT;
  devices[index] = {index, -1};
  *device = &devices[index];
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* out, unsigned length) {
  return copy(device->instance < 0 ? "NVIDIA H200" : "NVIDIA H200 MIG 3g.71gb", out, length);
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* out, unsigned length) {
  char text[64];
  if (device->instance < 0)
    std::snprintf(text, sizeof text, "GPU-00000000-0000-0000-0000-%012u", device->index);
  else
    std::snprintf(text, sizeof text, "MIG-00000000-0000-0000-%04d-%012u", device->instance,
                  device->index);
  return copy(text, out, length);
}
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  std::memset(pci, 0, sizeof *pci);
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", device->index + 1);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* out) {
  return number_out(device, out, type == NVML_CLOCK_MEM ? 3201 : 1980);
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* out) {
  return number_out(device, out, type == NVML_CLOCK_MEM ? 3201 : 1965);
}
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* out) {
  return number_out(device, out, 700000);
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t,
                                      unsigned* out) {
  return number_out(device, out, 40 + device->index);
}
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* out) {
  fake::hang_here(device->index);
  *out = nvmlClocksEventReasonSwPowerCap;
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* out) {
  return number_out(device, out, static_cast<unsigned>(fake::power_watts(fake::now_ns()) * 1e3));
}
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* out) {
  fake::hang_here(device->index);
  std::int64_t now = fake::now_ns();
  if (as_a_board()) {
    now -= now % kRefresh;
    usleep(kEnergyRead);
    note("energy", 0);
  }
  *out = static_cast<unsigned long long>(fake::energy_joules(now) * 1e3);
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* out) {
  fake::hang_here(device->index);
  *out = {static_cast<unsigned>(fake::number("utilization", 91)), 30};
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  fake::hang_here(device->index);
  if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  memory->total = (device->instance < 0 ? 140ull : 70ull) << 30;
  memory->used = (device->instance < 0 ? 12ull : 5ull) << 30;
  memory->free = memory->total - memory->used;
  memory->reserved = 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                                     nvmlProcessInfo_t* rows) {
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  if (fake::number("processes", 1) == 0) {
    *count = 0;
    return NVML_SUCCESS;
  }
  if (*count < 1) return NVML_ERROR_INSUFFICIENT_SIZE;
  *count = 1;
  rows[0] = {static_cast<unsigned>(fake::number("pid", 1)), 11ull << 30, 0xFFFFFFFFu, 0xFFFFFFFFu};
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  fake::hang_here(device->index);
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  const std::int64_t now = fake::now_ns();
  for (int i = 0; i < count; ++i) {
    auto& value = values[i];
    value.timestamp = now / 1000;
    value.nvmlReturn = NVML_SUCCESS;
    value.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    switch (value.fieldId) {
      case NVML_FI_DEV_POWER_INSTANT:
        value.value.uiVal = static_cast<unsigned>(fake::power_watts(now) * 1e3);
        if (value.scopeId != 0) value.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
        break;
      case NVML_FI_DEV_POWER_AVERAGE:
        if (value.scopeId == 2) {
          value.value.uiVal = 50200;
        } else {
          value.value.uiVal = 300000;
        }
        if (value.scopeId == 1 || (value.scopeId == 2 && fake::number("memory_scope", 1) == 0))
          value.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
        break;
      case NVML_FI_DEV_MEMORY_TEMP:
        value.value.uiVal = 55 + device->index;
        break;
      case NVML_FI_DEV_PCIE_COUNT_TX_BYTES:  // wraps as the real 32-bit count does: 1 GB/s
        value.value.uiVal = static_cast<unsigned>(now & 0xFFFFFFFF);
        break;
      case NVML_FI_DEV_PCIE_COUNT_RX_BYTES:
        value.value.uiVal = static_cast<unsigned>((now * 2) & 0xFFFFFFFF);
        break;
      case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX:
      case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX:
        value.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        value.value.ullVal = 1000;
        break;
      default:
        value.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    }
  }
  return NVML_SUCCESS;
}

// Health.
nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned* percent,
                                             unsigned* period_us) {
  *period_us = 167000;
  return number_out(device, percent, 20);
}
nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned* percent,
                                             unsigned* period_us) {
  *period_us = 167000;
  return number_out(device, percent, 5);
}
nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned* out) {
  return number_out(device, out, 3);
}
nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned* correctable,
                                       unsigned* uncorrectable, unsigned* pending,
                                       unsigned* failed) {
  *correctable = 2;
  *pending = 0;
  *failed = static_cast<unsigned>(fake::number("remap_failed", 0));
  return number_out(device, uncorrectable, 1);
}
nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  *set = new nvmlEventSet_st{};
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  delete set;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
                                      nvmlEventSet_t set) {
  if (fake::number("events", 1) == 0 || types != nvmlEventTypeXidCriticalError)
    return NVML_ERROR_NOT_SUPPORTED;
  set->device = device;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* event, unsigned) {
  const auto code = static_cast<unsigned long long>(fake::number("xid", 0));
  const bool due = code != 0 && fake::age_s() >= fake::number("xid_after", 0);
  if (!due || set->told || !set->device || set->device->index != 0) return NVML_ERROR_TIMEOUT;
  set->told = true;
  *event = {set->device, nvmlEventTypeXidCriticalError, code, 0xFFFFFFFFu, 0xFFFFFFFFu};
  return NVML_SUCCESS;
}

// Multi-instance GPU: two instances a GPU.
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t, unsigned* current, unsigned* pending) {
  *current = *pending = mig() ? NVML_DEVICE_MIG_ENABLE : NVML_DEVICE_MIG_DISABLE;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t, unsigned* count) {
  *count = 0;
  if (mig()) *count = 7;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t parent, unsigned index,
                                                 nvmlDevice_t* out) {
  if (!mig() || index >= kInstances) return NVML_ERROR_NOT_FOUND;
  auto& device = devices[kMost + parent->index * kInstances + index];
  device = {parent->index, static_cast<int>(index)};
  *out = &device;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned* id) {
  *id = static_cast<unsigned>(device->instance) + 1;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t, unsigned* id) {
  *id = 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t, nvmlDeviceAttributes_t* left) {
  std::memset(left, 0, sizeof *left);
  left->multiprocessorCount = 60;
  left->memorySizeMB = 70 << 10;
  return NVML_SUCCESS;
}

// GPM: the averages of the 20 ms steps. As the real one it does not bear two threads at a time,
// which here ends the program for certain. The request is longer than this header's struct, as a
// newer driver's is.
nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t, nvmlGpmSupport_t* out) {
  out->isSupportedDevice = fake::number("gpm", 1) != 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* sample) {
  const AloneInGpm alone;
  *sample = new nvmlGpmSample_st{0};
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
  const AloneInGpm alone;
  delete sample;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
  const AloneInGpm alone;
  fake::hang_here(device->index);
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  if (mig()) return NVML_ERROR_NOT_SUPPORTED;
  sample->time_ns = fake::now_ns();
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned, nvmlGpmSample_t sample) {
  const AloneInGpm alone;
  fake::hang_here(device->index);
  if (!mig()) return NVML_ERROR_NOT_SUPPORTED;
  sample->time_ns = fake::now_ns();
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* query) {
  const AloneInGpm alone;
  if (query->sample1->time_ns >= query->sample2->time_ns) return NVML_ERROR_INVALID_ARGUMENT;
  constexpr unsigned newer_driver_most = NVML_GPM_METRIC_MAX + 60;
  for (unsigned i = query->numMetrics; i < newer_driver_most; ++i)
    std::memset(&query->metrics[i], 0, sizeof query->metrics[i]);
  const bool too_close = query->sample2->time_ns - query->sample1->time_ns < kRefresh;
  for (unsigned i = 0; i < query->numMetrics; ++i) {
    auto& metric = query->metrics[i];
    metric.nvmlReturn = NVML_SUCCESS;
    if (as_a_board() && too_close) {
      metric.value = 0;
      continue;
    }
    switch (metric.metricId) {
      case 1:
        metric.value = 75;
        break;
      case 2:
        metric.value = 60;
        break;
      case 3:
        metric.value = 30;
        break;
      case 5:
        metric.value = 25;
        break;
      case 7:
        metric.value = 25;
        break;
      case 10:
        metric.value = 40;
        break;
      case 12:
        metric.value = 12;
        break;
      case 20:
        metric.value = 100;
        break;
      case 21:
        metric.value = 200;
        break;
      case 60:
      case 61:
        metric.value = 0;
        break;
      default:
        metric.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    }
  }
  return NVML_SUCCESS;
}

}  // extern "C"
