// The framework's queues and the devices' launch queues over time.
#pragma once

#include <vector>

#include "analyze/runtime/result.h"
#include "analyze/runtime/shares.h"
#include "analyze/runtime/trace.h"

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

QueueInfo describe_queue(const Context& context, const PhaseTimeline& phases, const Queue& queue);

}  // namespace gf
