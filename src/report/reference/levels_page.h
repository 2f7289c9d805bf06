// The page of counter formulas.
#pragma once

#include <string>

namespace gf {

/// docs/levels.md: for every level of a kernel its formulas, best first, and the chips where each
/// holds.
std::string levels_page();

}  // namespace gf
