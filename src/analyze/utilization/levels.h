// The ladder: how deep the devices are used, from "a kernel runs" down to achieved tensor
// operations.
#pragma once

#include <span>
#include <vector>

#include "analyze/context.h"
#include "analyze/utilization/kernel_levels.h"

namespace gf {

/// The levels over some devices (docs/ladder.md). Kernels without counters make an interval: low
/// takes them as 0, high as their upper level; value is low. A level that no counter gives has no
/// value and says what to collect.
std::vector<Level> ladder(const Context& context, std::span<const DeviceTimeline> devices,
                          const KernelLevels& kernel_levels);

/// The spread of every known level over some kernel instances, weighted by their exclusive time.
std::vector<LevelSpread> level_spreads(std::span<const std::uint32_t> activities,
                                       std::span<const double> weights,
                                       const KernelLevels& kernel_levels);

}  // namespace gf
