#include "report/events/timeline_cut.h"

#include <algorithm>

namespace gf {

namespace {

/// The start from which on events are left out so that `room` of them stay.
Nanos cut_of(std::vector<Nanos>& starts, std::size_t room) {
  if (starts.size() <= room) return TimelineCut::kNever;
  const auto at = starts.begin() + static_cast<std::ptrdiff_t>(room);
  std::nth_element(starts.begin(), at, starts.end());
  return *at;
}

}  // namespace

bool clipped(Interval window, Nanos start, Nanos duration, Interval& span) {
  span = {std::max(start, window.start), std::min(start + duration, window.end)};
  return span.end > span.start || (duration == 0 && start >= window.start && start <= window.end);
}

TimelineCut timeline_cut(const Context& context, Interval window, std::size_t budget) {
  std::vector<Nanos> events;
  std::vector<Nanos> frames;
  for (const auto& line : context.devices)
    for (const auto& span : line.spans) events.push_back(span.start);
  Interval span;
  const auto& bands = context.capture.device_annotations;
  for (std::uint32_t i = 0; i < bands.size(); ++i)
    if (clipped(window, bands.start_ns[i], bands.duration_ns[i], span))
      events.push_back(span.start);
  const auto& calls = context.capture.api_calls;
  for (std::uint32_t i = 0; i < calls.size(); ++i)
    if (calls.thread[i] != kNoRow && clipped(window, calls.start_ns[i], calls.duration_ns[i], span))
      events.push_back(span.start);
  const auto& ops = context.capture.host_ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (ops.thread[i] != kNoRow && clipped(window, ops.start_ns[i], ops.duration_ns[i], span))
      (ops.kind[i] == HostKind::python ? frames : events).push_back(span.start);
  TimelineCut cut;
  const std::size_t shown = std::min(budget, events.size());
  cut.events = cut_of(events, budget);
  cut.frames = cut_of(frames, budget - shown);
  return cut;
}

}  // namespace gf
