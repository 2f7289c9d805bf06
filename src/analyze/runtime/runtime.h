// Where the framework's runtime spends the time: phases, queues, and why the GPU idled (docs/runtime.md).
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

/// Fills Analysis::runtime. Needs the host threads, the timelines with their idle pieces, and the launches; operators and
/// modules are left out when the attribution has none.
void analyze_runtime(const Context& context, Analysis& analysis);

}  // namespace gf
