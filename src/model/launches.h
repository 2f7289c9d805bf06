// Which call of the runtime or driver started each device activity.
#pragma once

#include <cstdint>
#include <vector>

#include "model/capture.h"

namespace gf {

/// By row of activities: the row of api_calls with the same correlation in the same process (any
/// process, where the source does not say whose activity it is), kNoRow without such a record. Of
/// several calls with one correlation a launch, copy or set wins over others, then the earlier row.
/// All kernels of a graph share the one call that launched the graph.
std::vector<std::uint32_t> join_launches(const Capture& capture);

}  // namespace gf
