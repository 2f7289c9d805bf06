// The host side of a capture as runtime phases: for every thread, when it was in which phase, and
// for every operation, how long each of its phases took, with the device work it launched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "analyze/names.h"
#include "analyze/runtime/rules.h"
#include "core/apportion.h"
#include "core/column.h"
#include "core/intervals.h"

namespace gf {

// Depth of a queue over time: exact, from when each enters and leaves.

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

/// Smallest, largest and mean depth of a part of the window, for drawing.
struct DepthPart {
  Nanos start_ns = 0, duration_ns = 0;
  std::int64_t min = 0, max = 0;
  double mean = 0;
};

/// Summary of the curve as a whole, and over equal parts of the window. Integer arithmetic
/// throughout.
struct DepthSummary {
  std::int64_t max = 0;
  Nanos empty_ns = 0;
  Int128 integral = 0;  // depth x ns
  Intervals empty;      // where the depth is 0
  std::vector<DepthPart> parts;
};
/// Without the curve, which may be as large as a table of the capture.
DepthSummary summarise(std::span<const QueueItem> items, Interval window, std::size_t parts);

/// First-in first-out pairing of two sides that carry no common id. `entered` are the spans in
/// which an item was put into the queue, `left` the times at which one was taken, both in order.
/// Items taken before any could have been put there came from before the capture and are counted in
/// `before`; items never taken leave at `end`.
std::vector<QueueItem> pair_in_order(std::span<const Interval> entered, std::span<const Nanos> left,
                                     Nanos end, std::int64_t& before);

using PhaseTimes = std::array<Nanos, kRuntimePhases>;

/// One execution of a framework operation.
struct Operation {
  Nanos start_ns = 0;
  std::uint32_t row = kNoRow;  // row of host_ops that names it
  std::uint32_t type = 0;      // index into RuntimeTrace::types
  std::uint32_t first = 0;     // its times: `count` entries from here in phase_of_time and time_ns
  std::uint8_t count = 0;
  bool runs_for_another = false;  // the dequeue side of an operation that another thread enqueued
};

/// A stretch in which a host thread waits.
struct WaitSpan {
  Interval span;
  std::uint32_t operation = kNoRow;  // index into RuntimeTrace::operations
  Text event{};                      // the event that says so
};

/// When a thread was in each phase: sorted and disjoint.
using ThreadPhases = std::array<Column<Interval>, kRuntimePhases>;

/// There are millions of operations with two or three phases each: the times that are not 0 stand
/// one after the other.
struct RuntimeTrace {
  std::vector<ThreadPhases> threads;      // by row of threads
  Interval extent{INT64_MAX, INT64_MIN};  // from the first to the last of their spans
  Column<WaitSpan> waits;                 // thread after thread, in order of time
  Column<Operation> operations;
  Column<RuntimePhase> phase_of_time;
  Column<Nanos> time_ns;
  std::vector<std::string_view> types;     // texts of the capture
  std::vector<QueueItem> framework_queue;  // operations between enqueue end and dequeue start
  std::int64_t queued_before =
      0;  // operations taken from the queue that were put there before the capture
  std::int64_t inline_operations =
      0;  // operations that the enqueuing thread ran itself (TensorFlow SYNC)
  std::vector<std::int64_t> rule_events;  // by rule: events it matched

  PhaseTimes times_of(const Operation& operation) const;
  void set_times(Operation& operation, const PhaseTimes& times);
};

RuntimeTrace trace_runtime(const Context& context, RuleLookup& rules);

}  // namespace gf
