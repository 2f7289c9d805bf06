// The use of each device in the window, from its timeline.
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

/// Fills analysis.devices, one for each of context.devices and in the same order; idle causes and
/// waterfalls are left to their own analyses.
void measure_devices(const Context& context, Analysis& analysis);

}  // namespace gf
