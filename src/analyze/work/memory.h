// The memory of each device over time, and what held it at the peak.
#pragma once

#include <vector>

#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"

namespace gf::work {

/// From the framework's allocator (events of a profile, or a snapshot), else from the board's own
/// readings. `throughput` tells the items of a step, for the batch that would fit.
std::vector<DeviceMemory> memory_use(const Context& context, const KernelWorks& works,
                                     const Throughput& throughput);

}  // namespace gf::work
