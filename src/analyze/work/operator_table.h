// The work of each operator: a row for each name, set of shapes and phase.
#pragma once

#include <vector>

#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"

namespace gf::work {

/// Rows in order of time. Their times sum to that of kernels under a known operator.
std::vector<OperatorWork> operator_table(const Context& context, const KernelWorks& works);

/// "4096x768 * 768x3072"
std::string shapes_text(const Call& call);

}  // namespace gf::work
