// What holds a run up, as the end of its headline.
#pragma once

#include <string>

#include "analyze/result.h"

namespace gf {

/// Kernels by layer type where the finding kernel_bound says that they are the limit; otherwise, or
/// where it is worth as much, the largest part of the time in which the device did less than it
/// could. Sentences, each with a space before it.
std::string limit_of(const Analysis& analysis);

/// True when the waterfall shows kernels without counters by layer type: they fill most of it.
bool shows_kernel_types(const WaterfallBar& bar, Nanos window);

}  // namespace gf
