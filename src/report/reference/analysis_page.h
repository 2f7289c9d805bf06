// The page docs/analysis.md: the JSON of `analyze`, made from the result structs' own declarations.
#pragma once

#include <string>

namespace gf {

std::string analysis_page();
/// docs/work-json.md, the same of the answer of `work`.
std::string work_page();
/// docs/ranks-json.md, that of `ranks` and of its parts.
std::string ranks_page();

}  // namespace gf
