#include "analyze/kernel_rates/sm_clock.h"

#include <algorithm>

#include "model/metric_id.h"
#include "model/metrics.h"

namespace gf {

namespace {

// How far clocks of kernels lie apart at a power limit: 1.6 to 1.98 GHz on an H200.
constexpr double kSpread = 0.08;

bool is_share_of_sm_cycles(std::string_view id) {
  const Metric* metric = find_metric(id);
  const MetricInput* input = find_input(id, MetricSource::pm);
  return metric && input && metric->unit == "ratio" &&
         input->expression.find("sm__") != std::string_view::npos;
}

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
  for (std::size_t metric = 0; metric < samples.metrics.size(); ++metric) {
    if (!is_share_of_sm_cycles(capture.text(samples.metrics[metric]))) continue;
    shares_[metric] = true;
    for (auto& row : samples.rows) row.values[metric] *= row.values[at] / mean_;
  }
}

double SmClock::relative(double rate, double error) const {
  const double off = rate / mean_ - 1, unsure = error / mean_;
  return 1 + off * kSpread * kSpread / (kSpread * kSpread + unsure * unsure);
}

}  // namespace gf
