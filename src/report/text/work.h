// The text of `gpufathom work`.
#pragma once

#include <string>

#include "analyze/work/result.h"
#include "report/text/style.h"

namespace gf {

/// The account of peak x time, operators, roofline, copies, memory and stall reasons, as far as
/// they are known; at most `rows` rows of each table.
std::string work_text(const WorkUse& work, const TextStyle& style, std::size_t rows);

}  // namespace gf
