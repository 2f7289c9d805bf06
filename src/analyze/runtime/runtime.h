// Where the framework's runtime spends the time: phases, queues, and why the GPU idled (docs/runtime.md).
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/runtime/trace.h"

namespace gf {

/// Fills Analysis::runtime but for its idle origins. Needs the host threads, the timelines and the launches; operators are left
/// out when the attribution has none. The trace that it read the rest from is for explain_idle_origins.
RuntimeTrace analyze_runtime(const Context& context, Analysis& analysis);

/// Fills Analysis::runtime.idle: the idle pieces of the timelines, by phase, operation, module and Python line.
void explain_idle_origins(const Context& context, const RuntimeTrace& trace, Analysis& analysis);

}  // namespace gf
