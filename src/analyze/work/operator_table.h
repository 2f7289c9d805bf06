// The table by shape: a row for each operator, set of inputs, module and phase.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"

namespace gf::work {

/// The row of kernels that run under no operator with recorded shapes.
inline constexpr std::string_view kWithoutShapes = "(no shapes recorded)";

/// Rows in order of time, which sum to the exclusive time of all kernels.
std::vector<OperatorWork> operator_table(const Context& context, const KernelWorks& works,
                                         const std::vector<Ceiling>& ceilings);
/// The first `rows` of them (0: all), and one row for the rest.
std::vector<OperatorWork> longest_operators(std::vector<OperatorWork> table, std::size_t rows);

/// "4096x768 * 768x3072"
std::string shapes_text(const Call& call);

}  // namespace gf::work
