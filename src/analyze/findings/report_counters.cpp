#include "analyze/findings/report_counters.h"

namespace gf {

ReportCounters::ReportCounters(const Capture& capture)
    : capture_(capture),
      warps_(capture),
      by_metric_(capture.kernel_counters.size()),
      begin_(capture.strings.size() + 1) {
  const auto& counters = capture.kernel_counters;
  const auto id = [&](std::size_t row) { return static_cast<std::uint32_t>(counters.metric[row]); };
  for (std::size_t row = 0; row < counters.size(); ++row) ++begin_[id(row) + 1];
  for (std::size_t text = 1; text < begin_.size(); ++text) begin_[text] += begin_[text - 1];
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end());
  for (std::uint32_t row = 0; row < counters.size(); ++row) by_metric_[next[id(row)]++] = row;

  const auto& rules = capture.kernel_rules;
  if (rules.empty()) return;
  rules_.resize(capture.report_kernels.size());
  for (std::uint32_t row = 0; row < rules.size(); ++row)
    if (rules.kernel[row] < rules_.size()) rules_[rules.kernel[row]].push_back(row);
}

const std::vector<double>& ReportCounters::column(std::string_view metric) const {
  const std::lock_guard lock(asking_);
  const auto [at, fresh] = columns_.try_emplace(metric);
  if (!fresh) return at->second;
  const auto id = static_cast<std::uint32_t>(capture_.strings.find(metric));
  if (id == 0) return at->second;
  auto& values = at->second;
  const auto& counters = capture_.kernel_counters;
  for (auto place = begin_[id]; place < begin_[id + 1]; ++place) {
    const auto row = by_metric_[place];
    if (counters.kernel[row] >= capture_.report_kernels.size()) continue;
    if (values.empty())
      values.assign(capture_.report_kernels.size(), std::numeric_limits<double>::quiet_NaN());
    values[counters.kernel[row]] = counters.value[row];
  }
  return values;
}

}  // namespace gf
