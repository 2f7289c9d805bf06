// Counters of a report by name and kernel, for rules that ask for a few of thousands.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/utilization/warp_states.h"
#include "model/capture.h"

namespace gf {

class ReportCounters {
 public:
  explicit ReportCounters(const Capture& capture);

  /// NaN where the report does not have the counter of this kernel (a row of report_kernels).
  double of(std::uint32_t kernel, std::string_view metric) const {
    const auto& values = column(metric);
    return kernel < values.size() ? values[kernel] : std::numeric_limits<double>::quiet_NaN();
  }
  /// Rows of kernel_rules about the kernel.
  const std::vector<std::uint32_t>& rules(std::uint32_t kernel) const {
    return rules_.empty() ? none_ : rules_[kernel];
  }
  const WarpStates& warps() const { return warps_; }

 private:
  const std::vector<double>& column(std::string_view metric) const;

  const Capture& capture_;
  WarpStates warps_;
  std::vector<std::uint32_t> by_metric_;  // rows of kernel_counters, those of one metric together
  std::vector<std::uint32_t> begin_;      // by id of the metric's name: where they begin
  std::vector<std::vector<std::uint32_t>> rules_;  // by kernel; empty without rules
  const std::vector<std::uint32_t> none_;
  mutable std::unordered_map<std::string_view, std::vector<double>> columns_;
  mutable std::mutex asking_;
};

}  // namespace gf
