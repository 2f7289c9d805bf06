// The page docs/analysis.md: the JSON of `analyze`, made from the result structs' own declarations.
// The page of counter formulas.
// docs/findings.md, from analyze/names/findings.def.
#pragma once

#include <string>

namespace gf {

std::string analysis_page();
/// docs/work-json.md, the same of the answer of `work`.
std::string work_page();
/// docs/ranks-json.md, that of `ranks` and of its parts.
std::string ranks_page();

/// docs/levels.md: for every level of a kernel its formulas, best first, and the chips where each
/// holds.
std::string levels_page();

std::string findings_page();

}  // namespace gf
