// Where the framework's runtime spends the time: phases, queues, and why the GPU idled
// (docs/runtime.md).
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/runtime/trace.h"

namespace gf {

/// The section of the runtime but for the origins of idle time (idle_origins.h), from the trace
/// that trace_runtime made with the same rules. Needs the timelines and the launches.
RuntimeInfo analyze_runtime(const Context& context, const RuleLookup& rules,
                            const RuntimeTrace& trace);

}  // namespace gf
