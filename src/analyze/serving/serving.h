// Activity of a serving engine in the window: its steps by kind, tokens, requests and waits.
// docs/serving.md gives the rules.
#pragma once

#include <optional>

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/steps/steps.h"

namespace gf {

/// Empty where the steps are no engine's. Needs the timelines with their idle pieces; the work of
/// kernels in context.works adds what it knows.
std::optional<Serving> measure_serving(const Context& context, const Steps& steps);

}  // namespace gf
