// The memory of each device over time, and what held it at the peak.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"

namespace gf::work {

/// From the framework's allocator (events of a profile, or a snapshot), else from the board's own
/// readings. `throughput` tells the items of a step, for the batch that would fit.
std::vector<DeviceMemory> memory_use(const Context& context, const KernelWorks& works,
                                     const Throughput& throughput);

/// The most that was held: by the framework, else of the board, else by tensors.
std::optional<std::int64_t> peak_bytes(const DeviceMemory& memory);

}  // namespace gf::work
