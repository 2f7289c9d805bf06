// Profiler overhead within the recorded time.
#pragma once

#include <optional>

#include "analyze/context.h"
#include "model/counter_values.h"

namespace gf {

/// About what recording takes of one event, by the host that recorded it.
struct RecordingCost {
  Nanos event = 1900, frame = 475;  // an operation or call; a frame of a Python stack
  /// The cost of a call that took so long: one that only asks the runtime is recorded in next to no
  /// time; of a graph that is launched each kernel is.
  Nanos of_call(ApiKind kind, Nanos duration) const {
    if (kind == ApiKind::graph_launch) return std::max(event, duration - kGraphLaunch);
    return duration < kNsPerUs ? 0 : event;
  }
  static constexpr Nanos kGraphLaunch = 10 * kNsPerUs;
};

/// The geometric mean of two times that a host takes longer the slower it records: from the start
/// of an operation to that of its first child, and a launch, less what it takes by itself.
/// tests/oracle/whatif.py holds it against times that were measured without a profiler, on hosts
/// that differ threefold. Of operations and calls that begin in `span`.
RecordingCost recording_cost(const Context& context, Interval span = kAllTime);

/// The most that recording the host may have added to the window: so much an event, and no more
/// than the device with the least idle time was idle, since kernels run as they do alone. The
/// program's own time lies between the window less this and the window (docs/definitions.md).
/// Empty where no profiler in the process slowed the host. Needs the timelines.
std::optional<Nanos> profiler_cost(const Context& context);

/// The same of an analysis, summed over its devices, as their idle times are; 0 where there is
/// none.
inline Nanos profiler_cost(const Analysis& analysis) {
  return static_cast<Nanos>(analysis.devices.size()) * analysis.window.profiler_ns.value_or(0);
}

}  // namespace gf
