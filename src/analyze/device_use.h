// The use of each device in the window, from its timeline.
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

/// One for each of context.devices and in the same order; idle causes, levels and waterfalls are
/// left to their own analyses.
std::vector<DeviceUse> measure_devices(const Context& context);

}  // namespace gf
