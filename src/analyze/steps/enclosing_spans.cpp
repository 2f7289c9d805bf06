#include "analyze/steps/enclosing_spans.h"

#include <algorithm>

namespace gf {

EnclosingSpans::EnclosingSpans(const Capture& capture, const std::vector<std::uint32_t>& launch,
                               const HostThreads& host)
    : capture_(capture), launch_(launch), by_thread_(host.threads()) {
  const auto& ops = capture.host_ops;
  for (std::uint32_t thread = 0; thread < host.threads(); ++thread)
    for (auto row : host.ops(thread)) {
      const auto name = capture.text(ops.name[row]);
      // Marks of record_function hold a '#'; they, and plain Python functions, may well enclose a
      // whole loop of steps.
      bool one_thing = false;
      if (ops.kind[row] == HostKind::op) {
        one_thing = name.find('#') == std::string_view::npos;
      } else {
        one_thing = ops.kind[row] == HostKind::python && name.starts_with("nn.Module:");
      }
      const Nanos end = ops.start_ns[row] + ops.duration_ns[row];
      auto& spans = by_thread_[thread];
      if (one_thing && (spans.empty() || end > spans.back().end))
        spans.push_back({ops.start_ns[row], end});
    }
}

bool EnclosingSpans::share(std::uint32_t activity, std::uint32_t other) const {
  const auto& activities = capture_.activities;
  if (activities.correlation[activity] >= 0 &&
      activities.correlation[activity] == activities.correlation[other] &&
      activities.pid[activity] == activities.pid[other])
    return true;
  if (activity >= launch_.size() || other >= launch_.size() || launch_[activity] == kNoRow ||
      launch_[other] == kNoRow)
    return false;
  const auto& calls = capture_.api_calls;
  const auto thread = calls.thread[launch_[activity]];
  if (thread >= by_thread_.size() || thread != calls.thread[launch_[other]]) return false;
  const auto [first, last] =
      std::minmax(calls.start_ns[launch_[activity]], calls.start_ns[launch_[other]]);
  const auto& spans = by_thread_[thread];
  const auto span = std::upper_bound(
      spans.begin(), spans.end(), first,
      [](Nanos time, const Outermost& outermost) { return time < outermost.start; });
  return span != spans.begin() && (span - 1)->end > last;
}

}  // namespace gf
