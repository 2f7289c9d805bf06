// Time of the framework's runtime: phases, queues, and why the GPU idled
// (docs/runtime.md).
#pragma once

#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/runtime/trace.h"

namespace gf {

/// The section of the runtime but for the origins of idle time (idle_origins.h), from the trace
/// that trace_runtime made with the same rules, and its queues. Needs the timelines and the
/// launches.
RuntimeInfo analyze_runtime(const Context& context, const RuleLookup& rules,
                            const RuntimeTrace& trace, const std::vector<Queue>& queues);

// Length of each phase, over all operations and by type of operation (the violins of DSD
// 2022).

/// Operations that began in `window`, by type, most time first; the first row, "*", is all of them.
/// At most `max_rows` types (0: all).
std::vector<OperationType> spread_operations(const RuntimeTrace& trace, Interval window,
                                             std::size_t max_rows);

// Origins of idle time: the idle pieces of the timelines joined with phase, operation, module and
// Python line.

/// Most time first, at most `max_rows` (0: all). The times of all rows sum to the idle time of all
/// devices.
std::vector<IdleOrigin> find_idle_origins(const Context& context, const RuntimeTrace& trace,
                                          std::size_t max_rows);

}  // namespace gf
