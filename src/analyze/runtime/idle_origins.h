// Why the GPU idles: the idle pieces of the timelines joined with phase, operation, module and
// Python line.
#pragma once

#include <vector>

#include "analyze/runtime/result.h"
#include "analyze/runtime/trace.h"

namespace gf {

/// Most time first, at most `max_rows` (0: all). The times of all rows sum to the idle time of all
/// devices.
std::vector<IdleOrigin> find_idle_origins(const Context& context, const RuntimeTrace& trace,
                                          std::size_t max_rows);

}  // namespace gf
