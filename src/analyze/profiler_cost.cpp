#include "analyze/profiler_cost.h"

#include <algorithm>

#include "model/formats.h"

namespace gf {

namespace {

/// Of the rows that begin in the window.
Nanos recorded(const auto& rows, const WindowInfo& window, auto&& cost_of) {
  Nanos cost = 0;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (rows.start_ns[row] >= window.start_ns && rows.start_ns[row] < window.end_ns)
      cost += cost_of(row);
  return cost;
}

}  // namespace

std::optional<Nanos> profiler_cost(const Context& context) {
  if (!says(context.capture.format, kSlowsHost)) return {};
  std::optional<Nanos> idle;
  for (const auto& line : context.devices) {
    const Nanos own = total(line.idle);
    if (!line.rows.empty()) idle = std::min(idle.value_or(own), own);
  }
  if (!idle) return {};
  const auto& ops = context.capture.host_ops;
  const Nanos of_ops = recorded(ops, context.window, [&](std::size_t row) {
    return ops.kind[row] == HostKind::python ? kCostOfAFrame : kCostOfAnEvent;
  });
  const Nanos of_calls = recorded(context.capture.api_calls, context.window,
                                  [](std::size_t) { return kCostOfAnEvent; });
  return std::min(of_ops + of_calls, *idle);
}

}  // namespace gf
