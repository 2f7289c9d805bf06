// Who used a device that several processes share, for how long, and what of its levels and joules
// was theirs. docs/tenants.md gives the rules.
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

/// Fills analysis.tenants: one for each device with activities of several processes in its window.
void measure_tenants(const Context& context, Analysis& analysis);

/// The same of a capture without kernels: who holds memory on a device together with others, and
/// that their use cannot be told apart.
void name_tenants(const Capture& capture, Analysis& analysis);

}  // namespace gf
