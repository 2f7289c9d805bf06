// Utilisation, layers and kernels in one go: everything that needs attribution and counters.
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/utilization/kernel_levels.h"

namespace gf {

/// Fills analysis.levels, layer_types, layers, kernels, tensor_curve, and of each device its levels and waterfall. Needs the
/// timelines, the attribution with layers, the matching and the devices' idle causes.
void measure_utilization(const Context& context, const KernelLevels& levels, Analysis& analysis);

}  // namespace gf
