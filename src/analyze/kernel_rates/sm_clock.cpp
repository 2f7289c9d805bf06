#include "analyze/kernel_rates/sm_clock.h"

#include <algorithm>

#include "model/metric_id.h"

namespace gf {

namespace {

constexpr const char* kSharesOfCycles[] = {"sm.active_any"_metric, "issue.active"_metric,
                                           "tensor.active"_metric, "sm.occupancy"_metric,
                                           "pipe.fp64"_metric};
// How far clocks of kernels lie apart at a power limit: 1.6 to 1.98 GHz on an H200.
constexpr double kSpread = 0.08;

}  // namespace

SmClock::SmClock(const Capture& capture, AlignedSamples& samples) {
  const auto index_of = [&](const char* id) {
    return std::find(samples.metrics.begin(), samples.metrics.end(), capture.strings.find(id));
  };
  const auto cycles = index_of("sm.cycles"_metric);
  if (cycles == samples.metrics.end() || samples.rows.empty()) return;
  const auto at = static_cast<std::size_t>(cycles - samples.metrics.begin());
  double sum = 0;
  for (const auto& row : samples.rows) {
    if (row.values[at] <= 0) return;
    sum += row.values[at];
  }
  metric_ = at;
  mean_ = sum / static_cast<double>(samples.rows.size());
  shares_.assign(samples.metrics.size(), false);
  for (const char* id : kSharesOfCycles) {
    const auto share = index_of(id);
    if (share == samples.metrics.end()) continue;
    const auto metric = static_cast<std::size_t>(share - samples.metrics.begin());
    shares_[metric] = true;
    for (auto& row : samples.rows) row.values[metric] *= row.values[at] / mean_;
  }
}

double SmClock::relative(double rate, double error) const {
  const double off = rate / mean_ - 1, unsure = error / mean_;
  return 1 + off * kSpread * kSpread / (kSpread * kSpread + unsure * unsure);
}

}  // namespace gf
