// Which events of a window go into its timeline when there are too many: those before a moment.
#pragma once

#include <cstddef>
#include <vector>

#include "analyze/context.h"

namespace gf {

/// Events that start at this moment or later are left out.
struct TimelineCut {
  Nanos events = kNever;  // of streams, calls and framework operations
  Nanos frames = kNever;  // of Python functions
  static constexpr Nanos kNever = INT64_MAX;
};

/// Room for `budget` events of `window`; Python frames get what the others leave.
TimelineCut timeline_cut(const Context& context, Interval window, std::size_t budget);

/// The part of an event inside the window. False for one outside; an event without length belongs
/// to the window when it lies in it or at its end.
bool clipped(Interval window, Nanos start, Nanos duration, Interval& span);

}  // namespace gf
