#include "collect/nvml/health.h"

#include <utility>

#include "collect/nvml/nvml.h"
#include "model/metrics.h"

namespace gf {

namespace {

template <auto member>
std::optional<double> value(const GpuHealth& health) {
  const auto& held = health.*member;
  if (!held) return {};
  return static_cast<double>(*held);
}

constexpr HealthMetric kHealthMetrics[] = {
    {"temperature.memory"_metric, false, value<&GpuHealth::temperature_memory_celsius>},
    {"monitor.encoder"_metric, false, value<&GpuHealth::encoder>},
    {"monitor.decoder"_metric, false, value<&GpuHealth::decoder>},
    {"pcie.replays"_metric, true, value<&GpuHealth::pcie_replays>},
    {"rows.remapped_correctable"_metric, true, value<&GpuHealth::rows_correctable>},
    {"rows.remapped_uncorrectable"_metric, true, value<&GpuHealth::rows_uncorrectable>},
    {"rows.remap_pending"_metric, false, value<&GpuHealth::remap_pending>},
    {"rows.remap_failed"_metric, false, value<&GpuHealth::remap_failed>},
};

/// More than a driver keeps: a GPU that reports errors without end does not hold the monitor up.
constexpr int kMostAtOnce = 1000;

}  // namespace

std::span<const HealthMetric> health_metrics() { return kHealthMetrics; }

GpuHealth read_health(const Nvml& nvml, const GpuInfo& gpu) {
  const auto& calls = nvml.functions();
  GpuHealth health;
  nvmlFieldValue_t memory{};
  memory.fieldId = NVML_FI_DEV_MEMORY_TEMP;
  memory.nvmlReturn = NVML_ERROR_UNKNOWN;
  // Boards without that sensor answer 0.
  if (nvml_call(calls.nvmlDeviceGetFieldValues, gpu.handle, 1, &memory) == NVML_SUCCESS &&
      memory.nvmlReturn == NVML_SUCCESS && memory.value.uiVal > 0)
    health.temperature_memory_celsius = memory.value.uiVal;
  unsigned percent = 0;
  unsigned period_us = 0;
  if (nvml_call(calls.nvmlDeviceGetEncoderUtilization, gpu.handle, &percent, &period_us) ==
      NVML_SUCCESS)
    health.encoder = percent / 100.0;
  if (nvml_call(calls.nvmlDeviceGetDecoderUtilization, gpu.handle, &percent, &period_us) ==
      NVML_SUCCESS)
    health.decoder = percent / 100.0;
  unsigned replays = 0;
  if (nvml_call(calls.nvmlDeviceGetPcieReplayCounter, gpu.handle, &replays) == NVML_SUCCESS)
    health.pcie_replays = replays;
  unsigned correctable = 0;
  unsigned uncorrectable = 0;
  unsigned pending = 0;
  unsigned failed = 0;
  if (nvml_call(calls.nvmlDeviceGetRemappedRows, gpu.handle, &correctable, &uncorrectable, &pending,
                &failed) == NVML_SUCCESS) {
    health.rows_correctable = correctable;
    health.rows_uncorrectable = uncorrectable;
    health.remap_pending = pending != 0;
    health.remap_failed = failed != 0;
  }
  return health;
}

XidWatch::XidWatch(std::shared_ptr<Nvml> nvml, const GpuInfo& gpu) : nvml_(std::move(nvml)) {
  const auto& calls = nvml_->functions();
  nvmlEventSet_t events = nullptr;
  if (nvml_call(calls.nvmlEventSetCreate, &events) != NVML_SUCCESS) return;
  events_ = events;
  constexpr unsigned long long wanted = nvmlEventTypeXidCriticalError;
  if (nvml_call(calls.nvmlDeviceRegisterEvents, gpu.handle, wanted, events) != NVML_SUCCESS)
    close();
}

XidWatch::~XidWatch() { close(); }

void XidWatch::close() {
  if (events_) nvml_call(nvml_->functions().nvmlEventSetFree, events_);
  events_ = nullptr;
}

std::vector<std::int64_t> XidWatch::take() {
  std::vector<std::int64_t> codes;
  if (!events_) return codes;
  for (int i = 0; i < kMostAtOnce; ++i) {
    nvmlEventData_t event{};
    if (nvml_call(nvml_->functions().nvmlEventSetWait_v2, events_, &event, 0U) != NVML_SUCCESS)
      break;
    if (event.eventType == nvmlEventTypeXidCriticalError)
      codes.push_back(static_cast<std::int64_t>(event.eventData));
  }
  return codes;
}

}  // namespace gf
