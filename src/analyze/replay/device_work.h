// Input of all builders of a graph: the activities of a device with the calls that launched them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "analyze/context.h"
#include "analyze/replay/graph.h"

namespace gf {

inline constexpr std::uint32_t kNoNode = UINT32_MAX;

/// One activity of the device.
struct ReplayActivity {
  std::uint32_t row = kNoRow;   // of capture.activities
  std::uint32_t call = kNoRow;  // of capture.api_calls
  std::uint32_t node = 0;       // of the draft
  std::int64_t before = -1;     // place of the one before it on its stream
  std::int64_t collective = ReplayGraph::kNone;
  Nanos start = 0, end = 0;
};

/// Those of `rows`, which are by start, that begin in the span.
template <class Starts>
std::span<const std::uint32_t> begin_inside(std::span<const std::uint32_t> rows,
                                            const Starts& starts, Interval span) {
  auto start_of = [&](std::uint32_t row) { return starts[row]; };
  const auto first = std::ranges::lower_bound(rows, span.start, {}, start_of);
  return {first, std::ranges::lower_bound(first, rows.end(), span.end, {}, start_of)};
}

struct ReplayWork {
  const Context& context;
  Interval span;                                  // of the host's operations and calls
  bool named;                                     // nodes have names
  std::vector<ReplayActivity> activities;         // by start
  std::vector<std::uint32_t> launched;            // their places by start of the call
  std::vector<std::uint32_t> threads;             // that launch, rows of capture.threads
  std::vector<std::vector<std::uint32_t>> lines;  // of threads that never work at the same time

  std::span<const std::uint32_t> ops(std::uint32_t thread) const {
    return begin_inside(context.host.ops(thread), context.capture.host_ops.start_ns, span);
  }
  std::span<const std::uint32_t> calls(std::uint32_t thread) const {
    return begin_inside(context.host.calls(thread), context.capture.api_calls.start_ns, span);
  }
  Nanos call_start(std::uint32_t call) const { return context.capture.api_calls.start_ns[call]; }
  Nanos call_end(std::uint32_t call) const {
    return call_start(call) + context.capture.api_calls.duration_ns[call];
  }
};

/// A call that lasted until the device had done something.
struct BlockingCall {
  std::uint32_t call = kNoRow;
  std::uint32_t on = 0;  // place of the activity
  bool waited = false;   // false: it was done before
  Nanos own = 0;         // what the call takes by itself
  Nanos lag = 0;         // from the activity's end to that of the call
};

/// By end.
std::vector<BlockingCall> find_blocking_calls(const ReplayWork& work);

/// Adds activities' edges from calls, streams and other streams; nodes are there. `launch_node`: by
/// place, the host point of its call, or kNoNode.
void add_device_edges(const ReplayWork& work, const std::vector<std::uint32_t>& launch_node,
                      GraphDraft& draft);

}  // namespace gf
