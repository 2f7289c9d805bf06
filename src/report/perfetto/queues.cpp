#include "analyze/runtime/queues.h"

#include <fmt/format.h>

#include "report/perfetto/parts.h"

namespace gf::perfetto {

/// Every change of depth is a value: nothing is thinned here.
void write_queues(Export& e) {
  RuleLookup rules(e.context.capture);
  const RuntimeTrace trace = trace_runtime(e.context, rules);
  for (const auto& queue : find_queues(e.context, trace)) {
    Interval window{INT64_MAX, INT64_MIN};
    for (const auto& item : queue.items)
      window = {std::min(window.start, item.enter), std::max(window.end, item.leave)};
    if (window.start >= window.end) continue;
    const auto track =
        e.out.counter(fmt::format("{} queue", queue.id),
                      queue.kind == QueueKind::device ? "launches" : "operations", 0, e.order++);
    for (const auto& step : depth_curve(queue.items, window))
      e.out.value(track, step.at + e.shift, static_cast<double>(step.depth));
    e.out.value(track, window.end + e.shift, 0);
  }
}

}  // namespace gf::perfetto
