// Levels for the monitor from PM sampling instead of GPM: issue slots too, and GPUs before Hopper; needs permission.
#pragma once

#include <vector>

#include "collect/live/live_sampler.h"

namespace gf {

/// Starts a session of 100 samples a second on each GPU. Errors: what keeps the first refused GPU from being sampled.
Result<LevelSource> pm_levels(const std::vector<GpuInfo>& gpus);

}  // namespace gf
