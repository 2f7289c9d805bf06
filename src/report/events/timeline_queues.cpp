#include "report/events/timeline_queues.h"

#include <algorithm>

#include "analyze/runtime/queues.h"

namespace gf {

namespace {

constexpr std::size_t kQueueSteps = 60'000;

std::string title_of(const Queue& queue) {
  if (queue.kind == QueueKind::device)
    return "launch queue of GPU " + queue.id.substr(queue.id.find(':') + 1) + ", launches waiting";
  return queue.id + " queue, operations waiting";
}

TimelineLane lane_of(const Queue& queue, const std::vector<DepthStep>& steps, Interval window) {
  TimelineLane lane{.kind = "queue", .title = title_of(queue)};
  if (queue.kind == QueueKind::device)
    lane.group = "GPU " + queue.id.substr(queue.id.find(':') + 1);
  const std::size_t together = (steps.size() + kQueueSteps - 1) / kQueueSteps;
  for (std::size_t i = 0; i < steps.size(); i += together) {
    const std::size_t next = std::min(i + together, steps.size());
    const auto [low, high] =
        std::minmax_element(steps.begin() + static_cast<std::ptrdiff_t>(i),
                            steps.begin() + static_cast<std::ptrdiff_t>(next),
                            [](const auto& a, const auto& b) { return a.depth < b.depth; });
    const Nanos end = next < steps.size() ? steps[next].at : window.end;
    lane.start.push_back(steps[i].at - window.start);
    lane.duration.push_back(end - steps[i].at);
    lane.low.push_back(low->depth);
    lane.depth.push_back(high->depth);
  }
  return lane;
}

}  // namespace

std::vector<TimelineLane> queue_lanes(const Context& context, Interval window) {
  std::vector<TimelineLane> lanes;
  RuleLookup rules(context.capture);
  const RuntimeTrace trace = trace_runtime(context, rules);
  for (const auto& queue : find_queues(context, trace)) {
    const auto steps = depth_curve(queue.items, window);
    if (std::all_of(steps.begin(), steps.end(), [](const DepthStep& s) { return s.depth == 0; }))
      continue;
    lanes.push_back(lane_of(queue, steps, window));
  }
  return lanes;
}

}  // namespace gf
