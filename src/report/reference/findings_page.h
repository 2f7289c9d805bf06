// docs/findings.md, from analyze/names/findings.def.
#pragma once

#include <string>

namespace gf {

std::string findings_page();

}  // namespace gf
