// The answer of `analyze` as text for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/result.h"
#include "report/text/style.h"

namespace gf {

/// What fits one screen: headline, the first three recommendations, levels, and what is left out.
std::string short_text(const Analysis& analysis, const TextStyle& style);

/// Everything; tables show `rows` rows at most.
std::string full_text(const Analysis& analysis, const TextStyle& style, std::size_t rows = 12);

}  // namespace gf
