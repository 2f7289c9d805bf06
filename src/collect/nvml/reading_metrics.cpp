#include <algorithm>

#include "collect/nvml/nvml.h"
#include "collect/record/process_tree.h"
#include "core/time.h"
#include "model/metrics.h"

namespace gf {

namespace {

/// The value of `member` of a reading, times `kScale`, as a number.
template <auto member, int kScale = 1>
std::optional<double> value(const GpuReading& reading) {
  const auto& held = reading.*member;
  if (!held) return {};
  return static_cast<double>(*held) * kScale;
}

constexpr int kMega = 1'000'000;
constexpr ReadingMetric kReadingMetrics[] = {
    {"power.module"_metric, false, value<&GpuReading::power_instant_watts>},
    {"power.average"_metric, false, value<&GpuReading::power_average_watts>},
    {"power.memory"_metric, false, value<&GpuReading::power_memory_watts>},
    {"energy.module"_metric, true, value<&GpuReading::energy_joules>},
    {"clock.sm"_metric, false, value<&GpuReading::sm_clock_mhz, kMega>},
    {"clock.memory"_metric, false, value<&GpuReading::memory_clock_mhz, kMega>},
    {"temperature.gpu"_metric, false, value<&GpuReading::temperature_celsius>},
    {"clock.limits"_metric, false, value<&GpuReading::throttle_reasons>},
    {"monitor.gpu"_metric, false, value<&GpuReading::utilization_gpu>},
    {"monitor.memory"_metric, false, value<&GpuReading::utilization_memory>},
    {"memory.used"_metric, false, value<&GpuReading::memory_used_bytes>},
    {"memory.total"_metric, false, value<&GpuReading::memory_total_bytes>},
    {"pcie.tx"_metric, true, value<&GpuReading::pcie_tx_bytes>},
    {"pcie.rx"_metric, true, value<&GpuReading::pcie_rx_bytes>},
    {"nvlink.tx"_metric, true, value<&GpuReading::nvlink_tx_bytes>},
    {"nvlink.rx"_metric, true, value<&GpuReading::nvlink_rx_bytes>},
};

}  // namespace

std::span<const ReadingMetric> reading_metrics() { return kReadingMetrics; }

namespace {

constexpr unsigned kGpuScope = 0, kMemoryScope = 2, kAllLinks = 0xFFFFFFFFu;

double as_double(const nvmlFieldValue_t& field) {
  switch (field.valueType) {
    case NVML_VALUE_TYPE_DOUBLE:
      return field.value.dVal;
    case NVML_VALUE_TYPE_UNSIGNED_INT:
      return field.value.uiVal;
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
      return static_cast<double>(field.value.ulVal);
    case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
      return static_cast<double>(field.value.ullVal);
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG:
      return static_cast<double>(field.value.sllVal);
    case NVML_VALUE_TYPE_SIGNED_INT:
      return field.value.siVal;
    default:
      return 0;
  }
}

nvmlFieldValue_t wanted(unsigned field, unsigned scope) {
  nvmlFieldValue_t found{};
  found.fieldId = field;
  found.scopeId = scope;
  found.nvmlReturn = NVML_ERROR_UNKNOWN;
  return found;
}

std::optional<double> value_of(const nvmlFieldValue_t& field, double scale) {
  if (field.nvmlReturn != NVML_SUCCESS) return {};
  return as_double(field) * scale;
}

std::vector<GpuProcess> processes_of(const NvmlFunctions& functions, nvmlDevice_t device,
                                     bool& known) {
  std::vector<nvmlProcessInfo_t> rows(64);
  nvmlReturn_t code = NVML_ERROR_UNKNOWN;
  unsigned count = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {  // the list may grow between two calls
    count = static_cast<unsigned>(rows.size());
    code =
        nvml_call(functions.nvmlDeviceGetComputeRunningProcesses_v3, device, &count, rows.data());
    if (code != NVML_ERROR_INSUFFICIENT_SIZE) break;
    rows.resize(count + 16);
  }
  known = code == NVML_SUCCESS;
  std::vector<GpuProcess> out;
  if (!known) return out;
  constexpr auto not_available = static_cast<unsigned long long>(NVML_VALUE_NOT_AVAILABLE);
  for (unsigned i = 0; i < count; ++i) {
    std::int64_t memory = rows[i].usedGpuMemory != not_available
                              ? static_cast<std::int64_t>(rows[i].usedGpuMemory)
                              : -1;
    out.push_back({rows[i].pid, process_name(rows[i].pid), memory});
  }
  std::sort(out.begin(), out.end(), [](const auto& left, const auto& right) {
    return left.memory_bytes > right.memory_bytes;
  });
  return out;
}

void read_memory(const NvmlFunctions& functions, nvmlDevice_t device, GpuReading& reading) {
  nvmlMemory_v2_t two{};
  two.version = nvmlMemory_v2;
  if (nvml_call(functions.nvmlDeviceGetMemoryInfo_v2, device, &two) == NVML_SUCCESS) {
    reading.memory_used_bytes = static_cast<std::int64_t>(two.used);
    reading.memory_total_bytes = static_cast<std::int64_t>(two.total);
  } else if (nvmlMemory_t one{};
             nvml_call(functions.nvmlDeviceGetMemoryInfo, device, &one) == NVML_SUCCESS) {
    reading.memory_used_bytes = static_cast<std::int64_t>(one.used);
    reading.memory_total_bytes = static_cast<std::int64_t>(one.total);
  }
}

void read_power(const NvmlFunctions& calls, const GpuInfo& gpu, GpuReading& reading) {
  nvmlFieldValue_t fields[] = {wanted(NVML_FI_DEV_POWER_INSTANT, kGpuScope),
                               wanted(NVML_FI_DEV_POWER_AVERAGE, kGpuScope),
                               wanted(NVML_FI_DEV_POWER_AVERAGE, kMemoryScope)};
  const auto code = nvml_call(calls.nvmlDeviceGetFieldValues, gpu.handle, 3, fields);
  reading.lost |= code == NVML_ERROR_GPU_IS_LOST;
  if (code == NVML_SUCCESS) {
    reading.power_instant_watts = value_of(fields[0], 1e-3);
    reading.power_average_watts = value_of(fields[1], 1e-3);
    reading.power_memory_watts = value_of(fields[2], 1e-3);
  }
  if (reading.power_instant_watts || reading.power_average_watts) return;
  unsigned milliwatts = 0;
  if (nvml_call(calls.nvmlDeviceGetPowerUsage, gpu.handle, &milliwatts) != NVML_SUCCESS) return;
  // On Ampere (except GA100) and newer this is the one-second average, before it the reading of
  // the moment.
  if (gpu.compute_major > 8 || (gpu.compute_major == 8 && gpu.compute_minor > 0))
    reading.power_average_watts = milliwatts * 1e-3;
  else
    reading.power_instant_watts = milliwatts * 1e-3;
}

void read_energy(const NvmlFunctions& calls, const GpuInfo& gpu, GpuReading& reading) {
  unsigned long long millijoules = 0;
  const auto code = nvml_call(calls.nvmlDeviceGetTotalEnergyConsumption, gpu.handle, &millijoules);
  reading.lost |= code == NVML_ERROR_GPU_IS_LOST;
  if (code == NVML_SUCCESS) reading.energy_joules = static_cast<double>(millijoules) * 1e-3;
}

/// Clocks, temperature, reasons to run slower, and utilization.
void read_state(const NvmlFunctions& calls, const GpuInfo& gpu, GpuReading& reading) {
  unsigned value = 0;
  const auto code = nvml_call(calls.nvmlDeviceGetClockInfo, gpu.handle, NVML_CLOCK_SM, &value);
  reading.lost |= code == NVML_ERROR_GPU_IS_LOST;
  if (code == NVML_SUCCESS) reading.sm_clock_mhz = value;
  if (nvml_call(calls.nvmlDeviceGetClockInfo, gpu.handle, NVML_CLOCK_MEM, &value) == NVML_SUCCESS)
    reading.memory_clock_mhz = value;
  if (nvml_call(calls.nvmlDeviceGetTemperature, gpu.handle, NVML_TEMPERATURE_GPU, &value) ==
      NVML_SUCCESS)
    reading.temperature_celsius = value;
  unsigned long long reasons = 0;
  if (nvml_call(calls.nvmlDeviceGetCurrentClocksEventReasons, gpu.handle, &reasons) ==
          NVML_SUCCESS ||
      nvml_call(calls.nvmlDeviceGetCurrentClocksThrottleReasons, gpu.handle, &reasons) ==
          NVML_SUCCESS)
    reading.throttle_reasons = reasons;
  if (gpu.mig) return;
  if (nvmlUtilization_t unit{};
      nvml_call(calls.nvmlDeviceGetUtilizationRates, gpu.handle, &unit) == NVML_SUCCESS) {
    reading.utilization_gpu = unit.gpu / 100.0;
    reading.utilization_memory = unit.memory / 100.0;
  }
}

}  // namespace

GpuReading Nvml::read(const GpuInfo& gpu, const GpuReadingGroups& groups) {
  GpuReading reading;
  reading.time_ns = host_now();
  if (groups.power) read_power(*functions_, gpu, reading);
  if (groups.energy) read_energy(*functions_, gpu, reading);
  if (groups.state) {
    read_state(*functions_, gpu, reading);
    read_memory(*functions_, gpu.handle, reading);
    read_links(gpu, reading);
  }
  if (groups.processes) {
    bool known = false;
    auto list = processes_of(*functions_, gpu.handle, known);
    if (known) reading.processes = std::move(list);
  }
  return reading;
}

std::uint64_t Nvml::WrappingCount::advance(std::uint64_t now) {
  if (!seen)
    total += now;
  else if (now >= last)
    total += now - last;
  else  // the driver's count is 32 bits wide in its unit and wraps; a fall is one wrap
    total += now + (std::uint64_t{1} << 32) - last;
  last = now;
  seen = true;
  return total;
}

void Nvml::read_links(const GpuInfo& gpu, GpuReading& reading) {
  nvmlFieldValue_t fields[] = {wanted(NVML_FI_DEV_PCIE_COUNT_TX_BYTES, 0),
                               wanted(NVML_FI_DEV_PCIE_COUNT_RX_BYTES, 0),
                               wanted(NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, kAllLinks),
                               wanted(NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, kAllLinks)};
  if (nvml_call(functions_->nvmlDeviceGetFieldValues, gpu.handle, 4, fields) != NVML_SUCCESS)
    return;
  auto pcie = [&](std::size_t way) -> std::optional<std::uint64_t> {
    if (fields[way].nvmlReturn != NVML_SUCCESS) return {};
    const auto now = static_cast<std::uint64_t>(as_double(fields[way]));
    return pcie_[2 * gpu.index + way].advance(now);
  };
  reading.pcie_tx_bytes = pcie(0);
  reading.pcie_rx_bytes = pcie(1);
  if (auto kib = value_of(fields[2], 1024))
    reading.nvlink_tx_bytes = static_cast<std::uint64_t>(*kib);
  if (auto kib = value_of(fields[3], 1024))
    reading.nvlink_rx_bytes = static_cast<std::uint64_t>(*kib);
}

GpuReading Nvml::read(const MigInstance& instance) {
  GpuReading reading;
  reading.time_ns = host_now();
  read_memory(*functions_, instance.handle, reading);
  bool known = false;
  auto list = processes_of(*functions_, instance.handle, known);
  if (known) reading.processes = std::move(list);
  return reading;
}

}  // namespace gf
