// The allocations of the framework's allocator: when each block was taken and given back, by whom,
// and what lay in memory at the peak.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"

namespace gf::work {

/// By device; empty without allocator events and without a snapshot's blocks.
std::vector<DeviceMemory> allocator_memory(const Context& context, const KernelWorks& works);

/// Bytes that a device has, by its number.
std::optional<std::int64_t> capacity_of(const Capture& capture, std::int64_t device);

}  // namespace gf::work
