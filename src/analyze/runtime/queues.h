// The framework's queues and the devices' launch queues over time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/result.h"
#include "analyze/runtime/shares.h"
#include "analyze/runtime/trace.h"
#include "analyze/thread_sweep.h"

namespace gf {

/// The items of every queue that the capture shows: "framework" (operations between enqueue and
/// dequeue), "threadpool" (what the framework passed to its threads), "device:N" (launches between
/// their return and their first start on device N; one item a launch, whatever number of kernels a
/// graph starts).
struct Queue {
  std::string id;
  QueueKind kind = QueueKind::device;
  std::vector<QueueItem> items;
  std::int64_t from_before = 0;
  std::uint32_t fills = kNoRow;  // the thread that fills it most: row of threads
};
std::vector<Queue> find_queues(const Context& context, const RuntimeTrace& trace);
/// Those that the context has, or found now.
std::shared_ptr<const std::vector<Queue>> queues_of(const Context& context);

/// Describes one queue after the other: what they share is worked out once.
class QueueDescription {
 public:
  QueueDescription(const Context& context, const PhaseTimeline& phases)
      : context_(context), phases_(phases), whole_(sum_phases(phases, {phases.window})) {}
  QueueInfo of(const Queue& queue);

 private:
  std::vector<std::string> host_lines(std::uint32_t thread, const Intervals& spans);
  std::string_view host_line(ThreadSweep& sweep, Interval span) const;

  const Context& context_;
  const PhaseTimeline& phases_;
  const PhaseSums whole_;
  std::unordered_map<std::uint32_t, ThreadSweep> sweeps_;  // by row of threads
};

}  // namespace gf
