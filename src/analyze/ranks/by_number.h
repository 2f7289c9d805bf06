// Which collectives of two ranks are the same, told by the numbers that the trace gives them.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/ranks/align.h"

namespace gf {

/// By collective of the first lane that of the other, or -1; empty where numbers are missing, name
/// different things, or belong to point-to-point transfers, which each end counts by itself.
std::vector<std::int64_t> pairs_by_number(const Lane& first, const Lane& other);

/// Adds those that have no number on one of the sides and end together on the fitted clock.
void pair_unnumbered(const Lane& first, const Lane& other, const ClockFit& clock,
                     std::vector<std::int64_t>& partner);

}  // namespace gf
