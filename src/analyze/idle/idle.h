// Why the devices idled: every idle nanosecond gets one label, by what the host did. docs/idle.md
// gives the rules as a table.
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

/// Fills idle_pieces of every timeline of `context` and DeviceUse::idle of the same devices of
/// `analysis`. Needs the host threads, the timelines and the attribution (operators and modules are
/// left out when it has none).
void explain_idle(Context& context, Analysis& analysis);

}  // namespace gf
