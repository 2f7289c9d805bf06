// Steps that the host does not mark but the profiler wrote beside the GPU's work.
#pragma once

#include "import/xplane/plane.h"
#include "model/capture.h"

namespace gf::xplane {

/// 1973 in unix nanoseconds: no profile runs that long, so that a smaller time is relative.
inline constexpr std::int64_t kAbsoluteNanos = 100'000'000'000'000'000;

/// Absolute time of offset 0 of a line; `start` is the profile's.
std::int64_t base_of(const Line& line, std::int64_t start);

/// Steps of the lines "Steps" of GPU planes, whose events are named by their numbers: from the
/// first begin to the last end over the devices. Events without a number are left out.
void add_device_steps(Capture& capture, const Space& space, std::int64_t start);

}  // namespace gf::xplane
