// Shares of SM cycles, taken apart where kernels run at different clocks. A chip at its power limit
// slows down within one kernel and is fast again in the next, so the shares of a sample are not the
// mean of its kernels' shares over time; the cycles that count are. With the counter of cycles
// (sm.cycles) each share becomes active cycles over time, which adds up, and every kernel has a
// clock of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyze/kernel_rates/align_samples.h"
#include "model/capture.h"

namespace gf {

class SmClock {
 public:
  /// Makes shares of SM cycles in `samples` shares of cycles at the mean clock. Nothing is changed
  /// where cycles were not counted with every sample.
  SmClock(const Capture& capture, AlignedSamples& samples);

  /// The metric that counts cycles.
  std::optional<std::size_t> metric() const { return metric_; }
  /// What is fitted of a sample of which kernels covered a part: cycles pass without kernels, too.
  double fitted(std::size_t metric, double value, double covered) const {
    if (metric_ == metric) return value * covered;
    return value;
  }
  bool is_share_of_cycles(std::size_t metric) const { return metric_ && shares_[metric]; }
  /// Of a kernel, over the mean clock; `rate` and its standard error as fitted. A clock that is
  /// hardly known is taken to be near the mean, as clocks are.
  double relative(double rate, double error) const;

 private:
  std::optional<std::size_t> metric_;
  std::vector<bool> shares_;  // by metric
  double mean_ = 0;           // cycles a nanosecond
};

}  // namespace gf
