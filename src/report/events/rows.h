// Rows for spans that are drawn: those that overlap come to stand one above the other, none is
// dropped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/time.h"

namespace gf {

/// The row of every span, 0 upwards: the lowest row that is free when it starts. `spans` are
/// ordered by start. Spans that never overlap all get row 0; the number of rows is the largest
/// number of spans that hold at once.
std::vector<std::uint32_t> free_rows(std::span<const Interval> spans);

}  // namespace gf
