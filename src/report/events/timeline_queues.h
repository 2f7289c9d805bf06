// The depth of every queue over time, as lanes of the timeline.
#pragma once

#include <vector>

#include "report/events/timeline_data.h"

namespace gf {

/// One lane a queue that ever held something: every change of depth as far as there are not too
/// many, else ranges.
std::vector<TimelineLane> queue_lanes(const Context& context, Interval window);

}  // namespace gf
