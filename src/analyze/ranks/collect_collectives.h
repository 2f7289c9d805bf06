// The collectives of one device, in order of time.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/context.h"
#include "analyze/ranks/result.h"
#include "analyze/ranks/texts.h"

namespace gf {

/// Rows of capture.activities that are collectives of the device, by start.
std::vector<std::uint32_t> collective_rows(const Capture& capture, const DeviceTimeline& line);

/// Fills groups and collectives of `part` for these rows; `compute` is the time in which kernels
/// computed. What the profiler did not describe takes the group of the others on its stream.
void collect_collectives(const Capture& capture, const std::vector<std::uint32_t>& rows,
                         const Intervals& compute, RankPart& part, Texts& texts);

}  // namespace gf
