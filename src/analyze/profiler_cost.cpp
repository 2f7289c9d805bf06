#include "analyze/profiler_cost.h"

#include <algorithm>

#include "analyze/replay/device_work.h"
#include "core/statistics.h"
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

RecordingCost recording_cost(const Context& context, Interval span) {
  constexpr std::size_t kEnough = 20, kMost = 200'000;
  constexpr double kOverGap = 1.4, kFrame = 0.53;
  constexpr double kLeast = 800, kDearest = 8000;
  const auto& ops = context.capture.host_ops;
  std::vector<double> gaps;
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread) {
    std::uint32_t before = kNoRow;
    for (const auto op : begin_inside(context.host.ops(thread), ops.start_ns, span)) {
      if (gaps.size() == kMost) break;
      if (ops.kind[op] != HostKind::op) continue;
      const bool child = before != kNoRow && ops.start_ns[op] + ops.duration_ns[op] <=
                                                 ops.start_ns[before] + ops.duration_ns[before];
      if (child) gaps.push_back(static_cast<double>(ops.start_ns[op] - ops.start_ns[before]));
      before = op;
    }
  }
  if (gaps.size() < kEnough) return {};
  const double cost = std::clamp(kOverGap * median(std::move(gaps)), kLeast, kDearest);
  return {static_cast<Nanos>(cost), static_cast<Nanos>(kFrame * cost)};
}

std::optional<Nanos> profiler_cost(const Context& context) {
  if (!says(context.capture.format, kSlowsHost)) return {};
  std::optional<Nanos> idle;
  for (const auto& line : context.devices) {
    const Nanos own = total(line.idle);
    if (!line.rows.empty()) idle = std::min(idle.value_or(own), own);
  }
  if (!idle) return {};
  const RecordingCost cost = recording_cost(context);
  const auto& ops = context.capture.host_ops;
  const Nanos of_ops = recorded(ops, context.window, [&](std::size_t row) {
    return ops.kind[row] == HostKind::python ? cost.frame : cost.event;
  });
  const auto& calls = context.capture.api_calls;
  const Nanos of_calls = recorded(
      calls, context.window, [&](std::size_t row) { return cost.of_call(calls.duration_ns[row]); });
  // recording_cost is what most programs lose; one in two loses more.
  constexpr double kMost = 1.3;
  return std::min(static_cast<Nanos>(kMost * static_cast<double>(of_ops + of_calls)), *idle);
}

}  // namespace gf
