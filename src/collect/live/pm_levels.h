// Levels for the monitor from PM sampling instead of GPM: issue slots too, and GPUs before Hopper;
// needs permission.
#pragma once

#include <vector>

#include "collect/live/live_device.h"

namespace gf {

/// Starts a session on each GPU that makes 100 samples between two readings, or 100 a second if
/// that is fewer. Errors: what keeps the first refused GPU from being sampled.
Result<LevelSource> pm_levels(const std::vector<GpuInfo>& gpus, Nanos reading_every);

}  // namespace gf
