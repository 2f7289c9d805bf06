// A sweep as text.
#pragma once

#include <string>

#include "analyze/sweep/sweep.h"
#include "report/text/format.h"

namespace gf {

/// Letters for the series: a to z, A to Z, 0 to 9, then '?'.
char series_letter(std::size_t series);

std::string sweep_text(const Sweep& sweep, const TextStyle& style);

}  // namespace gf
