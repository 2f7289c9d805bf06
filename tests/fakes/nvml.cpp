// A libnvidia-ml.so.1 for machines without a GPU. Options of GPUFATHOM_FAKE: gpus, gpm (0/1), mig
// (0/1), init (NVML error of nvmlInit), driver, cuda, lost_after, memory_scope (0/1), pid (of the
// process that holds memory), hang_after, hang_gpu, hang_for (see world.h).
#include <nvml.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "world.h"

struct nvmlDevice_st {
  unsigned index;
  int instance;  // -1: the whole GPU
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

nvmlReturn_t number_out(nvmlDevice_t d, unsigned* out, unsigned value) {
  fake::hang_here(d->index);
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  *out = value;
  return NVML_SUCCESS;
}

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
    if (std::FILE* f = std::fopen(path, "a")) std::fprintf(f, "%s %u\n", what, mhz), std::fclose(f);
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
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t d, char* out, unsigned length) {
  return copy(d->instance < 0 ? "NVIDIA H200" : "NVIDIA H200 MIG 3g.71gb", out, length);
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t d, char* out, unsigned length) {
  char text[64];
  if (d->instance < 0)
    std::snprintf(text, sizeof text, "GPU-00000000-0000-0000-0000-%012u", d->index);
  else
    std::snprintf(text, sizeof text, "MIG-00000000-0000-0000-%04d-%012u", d->instance, d->index);
  return copy(text, out, length);
}
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t d, nvmlPciInfo_t* pci) {
  std::memset(pci, 0, sizeof *pci);
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", d->index + 1);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t d, nvmlClockType_t type, unsigned* out) {
  return number_out(d, out, type == NVML_CLOCK_MEM ? 3201 : 1980);
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t d, nvmlClockType_t type, unsigned* out) {
  return number_out(d, out, type == NVML_CLOCK_MEM ? 3201 : 1965);
}
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t d, unsigned* out) {
  return number_out(d, out, 700000);
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t d, nvmlTemperatureSensors_t, unsigned* out) {
  return number_out(d, out, 40 + d->index);
}
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t d, unsigned long long* out) {
  fake::hang_here(d->index);
  *out = nvmlClocksEventReasonSwPowerCap;
  return fake::lost() ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned* out) {
  return number_out(d, out, static_cast<unsigned>(fake::power_watts(fake::now_ns()) * 1e3));
}
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t d, unsigned long long* out) {
  fake::hang_here(d->index);
  *out = static_cast<unsigned long long>(fake::energy_joules(fake::now_ns()) * 1e3);
  return fake::lost() ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t d, nvmlUtilization_t* out) {
  fake::hang_here(d->index);
  *out = {91, 30};
  return fake::lost() ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t d, nvmlMemory_v2_t* m) {
  fake::hang_here(d->index);
  if (m->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  m->total = (d->instance < 0 ? 140ull : 70ull) << 30;
  m->used = (d->instance < 0 ? 12ull : 5ull) << 30;
  m->free = m->total - m->used;
  m->reserved = 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                                     nvmlProcessInfo_t* rows) {
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  if (*count < 1) return NVML_ERROR_INSUFFICIENT_SIZE;
  *count = 1;
  rows[0] = {static_cast<unsigned>(fake::number("pid", 1)), 11ull << 30, 0xFFFFFFFFu, 0xFFFFFFFFu};
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t d, int count, nvmlFieldValue_t* values) {
  fake::hang_here(d->index);
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  const std::int64_t now = fake::now_ns();
  for (int i = 0; i < count; ++i) {
    auto& v = values[i];
    v.timestamp = now / 1000;
    v.nvmlReturn = NVML_SUCCESS;
    v.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    switch (v.fieldId) {
      case NVML_FI_DEV_POWER_INSTANT:
        v.value.uiVal = static_cast<unsigned>(fake::power_watts(now) * 1e3);
        if (v.scopeId != 0) v.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
        break;
      case NVML_FI_DEV_POWER_AVERAGE:
        v.value.uiVal = v.scopeId == 2 ? 50200 : 300000;
        if (v.scopeId == 1 || (v.scopeId == 2 && fake::number("memory_scope", 1) == 0))
          v.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
        break;
      case NVML_FI_DEV_PCIE_COUNT_TX_BYTES:  // wraps as the real 32-bit count does: 1 GB/s
        v.value.uiVal = static_cast<unsigned>(now & 0xFFFFFFFF);
        break;
      case NVML_FI_DEV_PCIE_COUNT_RX_BYTES:
        v.value.uiVal = static_cast<unsigned>((now * 2) & 0xFFFFFFFF);
        break;
      case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX:
      case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX:
        v.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        v.value.ullVal = 1000;
        break;
      default:
        v.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    }
  }
  return NVML_SUCCESS;
}

// Multi-instance GPU: two instances a GPU.
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t, unsigned* current, unsigned* pending) {
  *current = *pending = mig() ? NVML_DEVICE_MIG_ENABLE : NVML_DEVICE_MIG_DISABLE;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t, unsigned* count) {
  *count = mig() ? 7 : 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t parent, unsigned index,
                                                 nvmlDevice_t* out) {
  if (!mig() || index >= kInstances) return NVML_ERROR_NOT_FOUND;
  auto& d = devices[kMost + parent->index * kInstances + index];
  d = {parent->index, static_cast<int>(index)};
  *out = &d;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t d, unsigned* id) {
  *id = static_cast<unsigned>(d->instance) + 1;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t, unsigned* id) {
  *id = 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t, nvmlDeviceAttributes_t* a) {
  std::memset(a, 0, sizeof *a);
  a->multiprocessorCount = 60;
  a->memorySizeMB = 70 << 10;
  return NVML_SUCCESS;
}

// GPM: the averages of the 20 ms steps. The request is longer than this header's struct, as a newer
// driver's is.
nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t, nvmlGpmSupport_t* out) {
  out->isSupportedDevice = fake::number("gpm", 1) != 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* sample) {
  *sample = new nvmlGpmSample_st{0};
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
  delete sample;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t d, nvmlGpmSample_t sample) {
  fake::hang_here(d->index);
  if (fake::lost()) return NVML_ERROR_GPU_IS_LOST;
  if (mig()) return NVML_ERROR_NOT_SUPPORTED;
  sample->time_ns = fake::now_ns();
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t d, unsigned, nvmlGpmSample_t sample) {
  fake::hang_here(d->index);
  if (!mig()) return NVML_ERROR_NOT_SUPPORTED;
  sample->time_ns = fake::now_ns();
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* q) {
  if (q->sample1->time_ns >= q->sample2->time_ns) return NVML_ERROR_INVALID_ARGUMENT;
  constexpr unsigned newer_driver_most = NVML_GPM_METRIC_MAX + 60;
  for (unsigned i = q->numMetrics; i < newer_driver_most; ++i)
    std::memset(&q->metrics[i], 0, sizeof q->metrics[i]);
  for (unsigned i = 0; i < q->numMetrics; ++i) {
    auto& m = q->metrics[i];
    m.nvmlReturn = NVML_SUCCESS;
    switch (m.metricId) {
      case 1:
        m.value = 75;
        break;
      case 2:
        m.value = 60;
        break;
      case 3:
        m.value = 30;
        break;
      case 5:
        m.value = 25;
        break;
      case 7:
        m.value = 25;
        break;
      case 10:
        m.value = 40;
        break;
      case 12:
        m.value = 12;
        break;
      case 20:
        m.value = 100;
        break;
      case 21:
        m.value = 200;
        break;
      case 60:
      case 61:
        m.value = 0;
        break;
      default:
        m.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    }
  }
  return NVML_SUCCESS;
}

}  // extern "C"
