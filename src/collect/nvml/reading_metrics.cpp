#include "collect/nvml/reading_metrics.h"

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
constexpr ReadingMetric kMetrics[] = {
    {"power.module", false, value<&GpuReading::power_instant_watts>},
    {"power.average", false, value<&GpuReading::power_average_watts>},
    {"power.memory", false, value<&GpuReading::power_memory_watts>},
    {"energy.module", true, value<&GpuReading::energy_joules>},
    {"clock.sm", false, value<&GpuReading::sm_clock_mhz, kMega>},
    {"clock.memory", false, value<&GpuReading::memory_clock_mhz, kMega>},
    {"temperature.gpu", false, value<&GpuReading::temperature_celsius>},
    {"clock.limits", false, value<&GpuReading::throttle_reasons>},
    {"monitor.gpu", false, value<&GpuReading::utilization_gpu>},
    {"monitor.memory", false, value<&GpuReading::utilization_memory>},
    {"memory.used", false, value<&GpuReading::memory_used_bytes>},
    {"memory.total", false, value<&GpuReading::memory_total_bytes>},
    {"pcie.tx", true, value<&GpuReading::pcie_tx_bytes>},
    {"pcie.rx", true, value<&GpuReading::pcie_rx_bytes>},
    {"nvlink.tx", true, value<&GpuReading::nvlink_tx_bytes>},
    {"nvlink.rx", true, value<&GpuReading::nvlink_rx_bytes>},
};

}  // namespace

std::span<const ReadingMetric> reading_metrics() { return kMetrics; }

}  // namespace gf
