// The page docs/analysis.md: the JSON of `analyze`, made from the result structs' own declarations.
#pragma once

#include <string>

namespace gf {

std::string analysis_page();

}  // namespace gf
