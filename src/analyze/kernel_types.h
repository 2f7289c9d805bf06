// Kernel time by layer type where no counter says how deep the kernels go.
#pragma once

#include <vector>

#include "analyze/result.h"

namespace gf {

/// The parts of the waterfall's bar "no counters", over all devices: longest first, and they add up
/// to that bar.
std::vector<NamedTime> kernel_types_without_counters(const Analysis& analysis);

}  // namespace gf
