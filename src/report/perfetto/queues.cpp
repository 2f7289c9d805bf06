#include "analyze/runtime/queues.h"

#include <fmt/format.h>

#include "report/perfetto/parts.h"

namespace gf::perfetto {

/// Every change of depth is a value: nothing is thinned here.
void write_queues(Export& target) {
  RuleLookup rules(target.context.capture);
  const RuntimeTrace trace = trace_runtime(target.context, rules);
  for (const auto& queue : find_queues(target.context, trace)) {
    Interval window{INT64_MAX, INT64_MIN};
    for (const auto& item : queue.items)
      window = {std::min(window.start, item.enter), std::max(window.end, item.leave)};
    if (window.start >= window.end) continue;
    const auto track = target.out.counter(
        fmt::format("{} queue", queue.id),
        queue.kind == QueueKind::device ? "launches" : "operations", 0, target.order++);
    for (const auto& step : depth_curve(queue.items, window))
      target.out.value(track, step.at + target.shift, static_cast<double>(step.depth));
    target.out.value(track, window.end + target.shift, 0);
  }
}

}  // namespace gf::perfetto
