#include <algorithm>

#include "analyze/steps/steps.h"

namespace gf {

std::vector<StepInfo> steps_on_device(const Capture& capture,
                                      const std::vector<std::uint32_t>& launch,
                                      const StepMarks& marks) {
  const auto& all = marks.marks;
  std::vector<Nanos> first(all.size(), INT64_MAX), last(all.size(), INT64_MIN);
  const auto& activities = capture.activities;
  const auto& calls = capture.api_calls;
  for (std::uint32_t activity = 0; activity < launch.size(); ++activity) {
    if (launch[activity] == kNoRow) continue;
    const auto thread = calls.thread[launch[activity]];
    if (thread < capture.threads.size() && capture.threads.pid[thread] != marks.pid) continue;
    const Nanos at = calls.start_ns[launch[activity]];
    // Where marks overlap, a launch belongs to the one that began last.
    auto mark = std::upper_bound(
        all.begin(), all.end(), at,
        [](Nanos time, const StepMark& step_mark) { return time < step_mark.start; });
    if (mark == all.begin() || at >= (--mark)->end) continue;
    const auto index = static_cast<std::size_t>(mark - all.begin());
    first[index] = std::min(first[index], activities.start_ns[activity]);
    last[index] =
        std::max(last[index], activities.start_ns[activity] + activities.duration_ns[activity]);
  }
  std::vector<StepInfo> steps;
  Nanos end = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (first[i] == INT64_MAX) continue;  // a mark that launched nothing is no step of the device
    if (!steps.empty() && first[i] <= steps.back().start_ns)
      continue;  // ran before its predecessor: not a sequence
    if (!steps.empty()) steps.back().duration_ns = first[i] - steps.back().start_ns;
    steps.push_back({all[i].number, first[i], 0, false});
    end = last[i];
  }
  if (!steps.empty()) steps.back().duration_ns = end - steps.back().start_ns;
  return steps;
}

}  // namespace gf
