// The graph of one device and the host threads that launch its work.
#pragma once

#include "analyze/context.h"
#include "analyze/replay/graph.h"

namespace gf {

/// Of the activities of `line`; `collectives`: those of them that are collectives, by start.
/// Near-linear.
ReplayGraph build_graph(const Context& context, const DeviceTimeline& line,
                        const std::vector<std::uint32_t>& collectives);

}  // namespace gf
