// What the profiler took of the time that it recorded.
#pragma once

#include <optional>

#include "analyze/context.h"

namespace gf {

// About what PyTorch's profiler takes for an operation or call; a frame of a Python stack is
// cheaper. tests/oracle/profiler_cost.py holds both against times that were measured without it.
inline constexpr Nanos kCostOfAnEvent = 1900, kCostOfAFrame = 1000;

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
