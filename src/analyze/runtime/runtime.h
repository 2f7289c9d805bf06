// Where the framework's runtime spends the time: phases, queues, and why the GPU idled
// (docs/runtime.md).
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/runtime/trace.h"

namespace gf {

/// Fills Analysis::runtime but for its idle origins, from the trace that trace_runtime made with
/// the same rules. Needs the timelines and the launches.
void analyze_runtime(const Context& context, const RuleLookup& rules, const RuntimeTrace& trace,
                     Analysis& analysis);

/// Fills Analysis::runtime.idle: the idle pieces of the timelines, by phase, operation, module and
/// Python line.
void explain_idle_origins(const Context& context, const RuntimeTrace& trace, Analysis& analysis);

}  // namespace gf
