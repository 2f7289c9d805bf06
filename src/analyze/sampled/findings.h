// Findings from samples alone: what their levels say without knowing a kernel.
#pragma once

#include <vector>

#include "analyze/result.h"
#include "core/time.h"
#include "model/capture.h"

namespace gf {

/// From the devices' waterfalls and readings. `settled`: when the activity was steady, empty when
/// it never was. docs/findings.md lists the rules with their thresholds.
std::vector<Finding> find_in_samples(const Capture& capture, const Analysis& analysis,
                                     Interval settled);

}  // namespace gf
