// Matching: which kernel instance of a trace is which kernel of a counter report
// (docs/matching.md).
#pragma once

#include <vector>

#include "analyze/context.h"

namespace gf {

/// Pairs the kernels of `devices` (each inside its window) with capture.report_kernels. Pure; never
/// fails: what cannot be paired says so in its state, and a report of another program in
/// info.verdict.
Matching match_kernels(const Capture& capture, const std::vector<DeviceTimeline>& devices);

}  // namespace gf
