#include "analyze/profiler_cost.h"

#include <algorithm>
#include <cmath>

#include "analyze/replay/device_work.h"
#include "core/statistics.h"
#include "model/formats.h"

namespace gf {

namespace {

/// Sums the cost of the rows that begin in the window.
Nanos recorded(const auto& rows, const WindowInfo& window, auto&& cost_of) {
  Nanos cost = 0;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (const Nanos start = rows.start_ns[row]; start >= window.start_ns && start < window.end_ns)
      cost += cost_of(row);
  return cost;
}

constexpr std::size_t kEnough = 20;

/// The time of a launch beyond the 3 us that it takes by itself, in nanoseconds; launches that
/// only record a graph take no longer.
std::optional<double> launch_cost(const Context& context, Interval span) {
  constexpr double kAlone = 3000, kLeast = 500;
  constexpr std::size_t kMost = 20'000;
  const auto& calls = context.capture.api_calls;
  std::vector<double> launches;
  for (std::size_t call = 0; call < calls.size() && launches.size() < kMost; ++call)
    if (calls.kind[call] == ApiKind::launch && calls.start_ns[call] >= span.start &&
        calls.start_ns[call] < span.end)
      launches.push_back(static_cast<double>(calls.duration_ns[call]));
  if (launches.size() < kEnough) return {};
  const double cost = median(std::move(launches)) - kAlone;
  return cost < kLeast ? std::nullopt : std::optional(cost);
}

/// The device time that tracing graphs node by node may take: a node begins so much later than
/// alone, after the one before it (docs/definitions.md).
Nanos cost_of_nodes(const Context& context) {
  constexpr Nanos kOfNode = 300;
  const auto& calls = context.capture.api_calls;
  if (std::ranges::find(calls.kind, ApiKind::graph_launch) == calls.kind.end()) return 0;
  Nanos cost = 0;
  for (const auto& line : context.devices)
    for (const auto row : line.rows)
      if (const auto call = context.launches[row];
          call != kNoRow && calls.kind[call] == ApiKind::graph_launch)
        cost += kOfNode;
  return cost / static_cast<Nanos>(std::max<std::size_t>(context.devices.size(), 1));
}

}  // namespace

RecordingCost recording_cost(const Context& context, Interval span) {
  constexpr std::size_t kMost = 200'000;
  constexpr double kLeast = 800, kDearest = 8000;
  // A quarter of an operation, as bench/gpu/profiler_settings.py shows.
  constexpr double kFrame = 0.25;
  const auto& ops = context.capture.host_ops;
  std::vector<double> gaps;
  gaps.reserve(std::min(kMost, ops.size()));  // room that stays untouched costs nothing
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread) {
    Interval before{0, INT64_MIN};
    for (const auto op : begin_inside(context.host.ops(thread), ops.start_ns, span)) {
      if (gaps.size() == kMost) break;
      if (ops.kind[op] != HostKind::op) continue;
      const Nanos start = ops.start_ns[op];
      const Interval own{start, start + ops.duration_ns[op]};
      if (own.end <= before.end) gaps.push_back(static_cast<double>(start - before.start));
      before = own;
    }
  }
  RecordingCost known;
  // Events that XLA itself writes inside an operation are no cost of the profiler.
  if (gaps.size() >= kEnough && !says(context.capture.format, kMaySlowHost)) {
    const double gap = median(std::move(gaps)), launch = launch_cost(context, span).value_or(gap);
    known.event = static_cast<Nanos>(std::clamp(std::sqrt(gap * launch), kLeast, kDearest));
  }
  known.frame = static_cast<Nanos>(kFrame * static_cast<double>(known.event));
  return known;
}

std::optional<Nanos> profiler_cost(const Context& context) {
  const bool ours = says(context.capture.format, kOurRecorder);
  if (!says(context.capture.format, kSlowsHost) && !ours) return {};
  std::optional<Nanos> idle;
  for (const auto& line : context.devices) {
    const Nanos own = line.idle_ns();
    if (!line.rows.empty()) idle = std::min(idle.value_or(own), own);
  }
  if (!idle) return {};
  const Nanos of_nodes = cost_of_nodes(context);
  const auto& calls = context.capture.api_calls;
  // Our recorder takes its time at launches of graphs alone.
  if (ours && of_nodes == 0) return {};
  if (ours)
    return std::min(*idle, of_nodes + recorded(calls, context.window, [&](std::size_t row) {
                             return calls.kind[row] == ApiKind::graph_launch
                                        ? std::max<Nanos>(0, calls.duration_ns[row] -
                                                                 RecordingCost::kGraphLaunch)
                                        : 0;
                           }));
  const RecordingCost cost = recording_cost(context);
  const auto& ops = context.capture.host_ops;
  const Nanos of_ops = recorded(ops, context.window, [&](std::size_t row) {
    return ops.kind[row] == HostKind::python ? cost.frame : cost.event;
  });
  const Nanos of_calls = recorded(calls, context.window, [&](std::size_t row) {
    return cost.of_call(calls.kind[row], calls.duration_ns[row]);
  });
  // recording_cost is what most programs lose; one in two loses more.
  constexpr double kMost = 1.4;
  return std::min(static_cast<Nanos>(kMost * static_cast<double>(of_ops + of_calls)) + of_nodes,
                  *idle);
}

}  // namespace gf
