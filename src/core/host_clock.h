// The clock of recordings and of live tables.
#pragma once

#include "core/time.h"

namespace gf {

/// Nanoseconds since 1970, running at the monotonic clock's rate: never steps back while the
/// program runs.
Nanos host_now();

}  // namespace gf
