// Utilisation, layers and kernels in one go: everything that needs attribution and counters.
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/utilization/kernel_levels.h"

namespace gf {

/// Fills analysis.layer_types, layers, kernels and tensor_curve. Needs the timelines, the
/// attribution with layers and the matching.
void measure_layers(const Context& context, const KernelLevels& levels, Analysis& analysis);

/// Fills analysis.levels, and of each device its levels and waterfall. Needs the timelines and the
/// devices' idle causes.
void measure_levels(const Context& context, const KernelLevels& levels, Analysis& analysis);

/// Both.
void measure_utilization(const Context& context, const KernelLevels& levels, Analysis& analysis);

}  // namespace gf
