// Results of the profiler's own rules for a kernel in a .ncu-rep file.
#pragma once

#include <string_view>
#include <vector>

#include "import/nsight_compute/report_builder.h"

namespace gf::ncu {

/// Adds what one rule says, one text an item of its body. Texts are views of `bytes`. Throws
/// protozero::exception where these are damaged.
void read_rule(std::string_view bytes, std::vector<RuleText>& rules);

}  // namespace gf::ncu
