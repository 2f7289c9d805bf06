
#include "collect/nvml/reading_metrics.h"

#include "model/metric_id.h"

namespace gf {

namespace {

/// What `member` of a reading holds, times `kScale`, as a number.
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

}  // namespace gf
