// Kernel time by kernel, and the curve of kernel time over tensor-issue utilization.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/context.h"
#include "analyze/utilization/kernel_levels.h"

namespace gf {

/// A grid or block as people read it; empty when it is not known.
std::string dimensions_text(std::int32_t first, std::int32_t second, std::int32_t third);

/// One row for all instances that share a name, largest exclusive time first. Each instance is in
/// exactly one row, so the ns sum to the kernel-busy time of all devices. More rows than
/// options.max_rows end in one row "(n others)".
std::vector<KernelRow> kernel_table(const Context& context, const KernelLevels& levels);

/// DATE 2024, figure 8: instances with a known tensor.issue ordered by it; each point says what
/// share of their exclusive time lies at or below a utilization. From (0, share without tensor
/// work) to (largest, 1); at most about 400 points.
std::vector<CurvePoint> tensor_curve(const Context& context, const KernelLevels& levels);

}  // namespace gf
