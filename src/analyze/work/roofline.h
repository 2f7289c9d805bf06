// Kernels, operators and layers under the roofline, and copies against their link.
#pragma once

#include <vector>

#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"

namespace gf::work {

/// Counters come before the model, each for what it knows: operations of the tensor cores, bytes of
/// device memory. At most `rows` points of each scope, those with most time; 0: all.
std::vector<RoofPoint> roofline(const Context& context, const KernelWorks& works,
                                const std::vector<OperatorWork>& operators,
                                const std::vector<Ceiling>& ceilings, std::size_t rows);

/// Copies of the window by direction.
std::vector<TransferRate> transfer_rates(const Context& context,
                                         const std::vector<Ceiling>& ceilings);

}  // namespace gf::work
