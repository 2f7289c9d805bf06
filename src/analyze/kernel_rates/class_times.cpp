#include "analyze/kernel_rates/class_times.h"

#include <algorithm>
#include <tuple>

#include "analyze/kernel_rates/kernel_groups.h"

namespace gf {

ClassTimes::ClassTimes(const Capture& capture, std::uint32_t device, std::size_t most_classes)
    : class_of_(capture.activities.size(), kNoRow) {
  const auto& activities = capture.activities;
  const KernelGroups kernels = group_kernels(capture, device);
  const auto timed = static_cast<std::size_t>(
      std::find_if(kernels.groups.begin(), kernels.groups.end(),
                   [](const KernelGroup& group) { return group.ns <= 0; }) -
      kernels.groups.begin());
  // The largest have a class each; what is left of the kernels shares the one before the copies'.
  const std::size_t own = std::min(timed, std::max<std::size_t>(most_classes, 3) - 2);
  classes_ = own;
  if (own < timed) ++classes_;
  const auto copies = static_cast<std::uint32_t>(classes_);
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    if (activities.device[row] != device || activities.duration_ns[row] <= 0) continue;
    auto& column = class_of_[row];
    if (activities.kind[row] == ActivityKind::kernel) {
      column = static_cast<std::uint32_t>(std::min<std::size_t>(kernels.group_of[row], own));
    } else {
      column = copies;
      classes_ = copies + 1;
    }
    runs_.push_back(
        {activities.start_ns[row], activities.start_ns[row] + activities.duration_ns[row], column});
  }
  std::sort(runs_.begin(), runs_.end(), [](const Run& left, const Run& right) {
    return std::tie(left.start, left.end, left.column) <
           std::tie(right.start, right.end, right.column);
  });
  for (const auto& run : runs_) {
    Nanos latest = run.end;
    if (!latest_end_.empty()) latest = std::max(latest, latest_end_.back());
    latest_end_.push_back(latest);
  }
}

void ClassTimes::shares(Interval span, std::vector<Share>& out) const {
  out.clear();
  const auto first = std::upper_bound(latest_end_.begin(), latest_end_.end(), span.start);
  const auto length = static_cast<double>(span.length());
  for (auto i = static_cast<std::size_t>(first - latest_end_.begin());
       i < runs_.size() && runs_[i].start < span.end; ++i) {
    const Nanos overlap = std::min(runs_[i].end, span.end) - std::max(runs_[i].start, span.start);
    if (overlap <= 0) continue;
    const double share = static_cast<double>(overlap) / length;
    const auto known = std::find_if(
        out.begin(), out.end(), [&](const Share& one) { return one.column == runs_[i].column; });
    if (known != out.end()) {
      known->share += share;
    } else {
      out.push_back({runs_[i].column, share});
    }
  }
}

}  // namespace gf
