// The level ratios of every report kernel, and through the matching of every kernel instance.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "model/capture.h"
#include "model/levels.h"

namespace gf {

// The metrics to collect with Nsight Compute for the levels of kernels.

/// The counters to collect for a level on a chip (best formula), joined by commas.
std::string counters_for(KernelLevel level, const Chip* chip);
/// Nsight Compute's command line that collects what the ladder needs on a chip (nullptr: any chip),
/// of one step of `kernels_of_step` kernels after five others; of the first kernels where the steps
/// are not known (0).
std::string ncu_command(const Chip* chip, std::int64_t kernels_of_step = 0);
/// False when a device is of another maker: no command of Nsight Compute helps there.
bool nsight_compute_helps(const Capture& capture);

/// f(name, optional) for every term of "a + b + [c]".
template <class F>
void each_term(std::string_view expression, F&& apply) {
  while (!expression.empty()) {
    const auto plus = expression.find(" + ");
    auto name = expression.substr(0, plus);
    if (plus == std::string_view::npos) {
      expression = std::string_view{};
    } else {
      expression = expression.substr(plus + 3);
    }
    const bool optional = name.starts_with('[');
    apply(optional ? name.substr(1, name.size() - 2) : name, optional);
  }
}

class KernelLevels {
 public:
  KernelLevels() = default;
  /// Works out the ratios from kernel_counters. Ratios are held in 0..1 and in order (issue and
  /// tensor.active at most sm.active, tensor.issue at most issue.active): counters of several
  /// passes can disagree a little; `adjusted` counts the kernels where more than 2 % had to give
  /// way.
  KernelLevels(const Capture& capture, const Matching& matching);

  /// NaN when the kernel has no counters for it.
  double of(std::uint32_t activity, KernelLevel level) const {
    const bool known = has(level) && activity < report_row_.size();
    return known ? of_report(report_row_[activity], level) : std::nan("");
  }
  double of_report(std::uint32_t row, KernelLevel level) const {
    const auto& column = ratio_[static_cast<std::size_t>(level)];
    return row < column.size() ? column[row] : std::numeric_limits<double>::quiet_NaN();
  }
  /// Sub-partition cycles that elapsed in a report kernel: the weight of the counters' own clock.
  /// NaN when not known.
  double cycles(std::uint32_t activity) const {
    const auto row = activity < report_row_.size() ? report_row_[activity] : kNoRow;
    return row < cycles_.size() ? cycles_[row] : std::numeric_limits<double>::quiet_NaN();
  }
  bool counted(std::uint32_t activity) const {
    return activity < report_row_.size() && report_row_[activity] != kNoRow;
  }
  /// True when at least one report kernel has the level.
  bool has(KernelLevel level) const { return !ratio_[static_cast<std::size_t>(level)].empty(); }
  /// The formula that gave the level, such as "smsp__cycles_active.sum / smsp__cycles_elapsed.sum".
  const std::string& formula(KernelLevel level) const {
    return formula_[static_cast<std::size_t>(level)];
  }
  /// The largest ratio that a level can have inside a kernel whose level is not known: 1 or a known
  /// level above it.
  double upper(std::uint32_t activity, KernelLevel level) const;

  /// chip_of(capture) and nsight_compute_helps(capture), looked up once.
  const Chip* chip() const { return chip_; }
  bool report_helps() const { return report_helps_; }

  std::int64_t adjusted = 0;

 private:
  const Chip* chip_ = nullptr;
  bool report_helps_ = true;
  std::array<std::vector<double>, kKernelLevels>
      ratio_;  // by row of report_kernels; empty: no kernel has it
  std::array<std::string, kKernelLevels> formula_;
  std::vector<double> cycles_;
  Column<std::uint32_t> report_row_;  // by activity
};

/// The chip of the capture's first known device, nullptr when it is not in the list.
const Chip* chip_of(const Capture& capture);

}  // namespace gf
