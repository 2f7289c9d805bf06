// What findings gain, from the captured program run again with the change that mends them.
#pragma once

#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

/// The findings, those with a change of `whatif` with what it gives. As they are where the capture
/// has over 50 000 device activities, or leaves a tenth of its time unexplained.
std::vector<Finding> with_replayed_gains(std::vector<Finding> findings, const Context& context);

}  // namespace gf
