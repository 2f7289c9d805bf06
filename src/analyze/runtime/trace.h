// The host side of a capture as runtime phases: for every thread, when it was in which phase, and
// for every operation, how long each of its phases took, with the device work it launched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "analyze/names.h"
#include "analyze/runtime/queue_depth.h"
#include "analyze/runtime/rules.h"
#include "core/column.h"

namespace gf {

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
