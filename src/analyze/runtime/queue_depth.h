// How many items a queue holds over time: exact, from when each enters and leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/apportion.h"
#include "core/intervals.h"

namespace gf {

/// An item is in the queue in [enter, leave). With enter == leave it passed through without
/// waiting.
struct QueueItem {
  Nanos enter = 0, leave = 0;
};

/// A step function: depth from time `at` until the next step.
struct DepthStep {
  Nanos at = 0;
  std::int64_t depth = 0;
};

/// The depth inside `window`: the first step is at window.start, steps have different depths. Empty
/// for an empty window.
std::vector<DepthStep> depth_curve(std::span<const QueueItem> items, Interval window);

/// What the curve says as a whole. Integer arithmetic throughout.
struct DepthSummary {
  std::int64_t max = 0;
  Nanos empty_ns = 0;
  Int128 integral = 0;  // depth x ns
  Intervals empty;      // where the depth is 0
};
DepthSummary summarise(std::span<const DepthStep> curve, Interval window);

/// The curve over `parts` equal parts of the window, for drawing: smallest, largest and mean depth
/// of each.
struct DepthPart {
  Nanos start_ns = 0, duration_ns = 0;
  std::int64_t min = 0, max = 0;
  double mean = 0;
};
std::vector<DepthPart> thin(std::span<const DepthStep> curve, Interval window, std::size_t parts);

/// First-in first-out pairing of two sides that carry no common id. `entered` are the spans in
/// which an item was put into the queue, `left` the times at which one was taken, both in order.
/// Items taken before any could have been put there came from before the capture and are counted in
/// `before`; items never taken leave at `end`.
std::vector<QueueItem> pair_in_order(std::span<const Interval> entered, std::span<const Nanos> left,
                                     Nanos end, std::int64_t& before);

}  // namespace gf
