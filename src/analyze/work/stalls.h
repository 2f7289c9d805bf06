// The waterfall's stalled time by what the warps waited for.
#pragma once

#include "analyze/utilization/kernel_levels.h"
#include "analyze/work/result.h"

namespace gf::work {

/// From the warp states of a counter report (Nsight Compute's WarpStateStats, or its samples of the
/// program counter). Empty without stalled time. The reasons sum to stalled_ns; `unknown` is of
/// kernels without states.
StallUse stall_use(const Context& context, const KernelLevels& levels, const Analysis& analysis);

}  // namespace gf::work
