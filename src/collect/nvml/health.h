// GPU health by NVML: the reasons to alert an operator. Read by the monitor alone,
// so that a recording does not pay for it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "collect/nvml/nvml.h"

struct nvmlEventSet_st;

namespace gf {

/// Every value may be missing: empty is "no data".
struct GpuHealth {
  std::optional<double> temperature_memory_celsius;
  std::optional<double> encoder, decoder;  // shares of time, 0..1
  std::optional<std::uint64_t> pcie_replays;
  std::optional<std::uint64_t> rows_correctable, rows_uncorrectable;
  std::optional<bool> remap_pending, remap_failed;
};
GpuHealth read_health(const Nvml& nvml, const GpuInfo& gpu);

struct HealthMetric {
  const char* id;  // of the metric catalog
  bool counter;    // grows from the driver's start on; else a value of the moment
  std::optional<double> (*of)(const GpuHealth&);
};
std::span<const HealthMetric> health_metrics();

/// Takes the XID errors of one GPU from the driver, from the moment it is made.
class XidWatch {
 public:
  XidWatch(std::shared_ptr<Nvml> nvml, const GpuInfo& gpu);
  ~XidWatch();
  XidWatch(const XidWatch&) = delete;
  XidWatch& operator=(const XidWatch&) = delete;

  /// True if the driver tells of them at all.
  bool works() const { return events_ != nullptr; }
  /// The codes that came since the last call, oldest first; never waits.
  std::vector<std::int64_t> take();

 private:
  void close();
  std::shared_ptr<Nvml> nvml_;
  nvmlEventSet_st* events_ = nullptr;
};

}  // namespace gf
