// How long each phase takes, over all operations and by type of operation (the violins of DSD
// 2022).
#pragma once

#include <vector>

#include "analyze/runtime/result.h"
#include "analyze/runtime/trace.h"

namespace gf {

/// Operations that began in `window`, by type, most time first; the first row, "*", is all of them.
/// At most `max_rows` types (0: all).
std::vector<OperationType> spread_operations(const RuntimeTrace& trace, Interval window,
                                             std::size_t max_rows);

}  // namespace gf
