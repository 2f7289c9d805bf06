// Cuts the lists of idle time to the rows that were asked for.
#pragma once

#include <cstddef>

#include "analyze/result.h"

namespace gf {

/// Operators and modules behind each idle cause: at most `most` of each (0: all), the last one
/// "(n others)", so that the list sums to what it summed to.
void shorten_idle_names(Analysis& analysis, std::size_t most);

}  // namespace gf
