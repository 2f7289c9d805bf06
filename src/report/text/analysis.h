// The answer of `analyze` as text for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/result.h"
#include "report/text/style.h"

namespace gf {

/// The first ten lines hold the answer; tables show `rows` rows at most.
std::string analysis_text(const Analysis& analysis, const TextStyle& style, std::size_t rows = 12);

/// What fits one screen: the opening, the levels, and the three findings that give back most.
std::string brief_text(const Analysis& analysis, const TextStyle& style);

}  // namespace gf
