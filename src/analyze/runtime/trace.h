// The host side of a capture as runtime phases: for every thread, what it was in at every instant, and for every operation,
// how long each of its phases took.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "analyze/runtime/phases.h"
#include "analyze/runtime/queue_depth.h"
#include "analyze/runtime/rules.h"

namespace gf {

/// A stretch of a host thread in one phase: that of the innermost event that a rule knows.
struct PhaseSegment {
  Interval span;
  std::uint32_t thread = kNoRow;
  std::uint32_t operation = kNoRow;  // index into RuntimeTrace::operations
  RuntimePhase phase = RuntimePhase::other;
  Text event{};                           // the event that says so
};

/// One execution of a framework operation, with the device work it launched.
struct Operation {
  Nanos start_ns = 0;
  std::uint32_t row = kNoRow;             // row of host_ops that names it
  std::string_view type;                  // text of the capture
  std::array<Nanos, kRuntimePhases> ns{};  // 0: it had none of this phase
  bool runs_for_another = false;          // the dequeue side of an operation that another thread enqueued
};

struct RuntimeTrace {
  std::vector<PhaseSegment> segments;            // thread after thread, in order of time
  std::vector<Operation> operations;
  std::vector<std::uint32_t> operation_of_call;  // by row of api_calls
  std::vector<QueueItem> framework_queue;        // operations between enqueue end and dequeue start
  std::int64_t queued_before = 0;                // operations taken from the queue that were put there before the capture
  std::int64_t inline_operations = 0;            // operations that the enqueuing thread ran itself (TensorFlow SYNC)
  std::vector<std::int64_t> rule_events;         // by rule: events it matched
};

RuntimeTrace trace_runtime(const Context& context, RuleLookup& rules);

}  // namespace gf
