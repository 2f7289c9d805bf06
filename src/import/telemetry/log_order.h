// Whether a log's clock runs forwards.
#pragma once

#include "core/error.h"
#include "model/capture.h"

namespace gf::telemetry {

/// A log is written as time goes on. Where a GPU's times go back (lines were shuffled, joined
/// twice, or the clock was set), when its power and energy were read is not known: they become no
/// data.
Result<Capture> in_order(Result<Capture> log);

}  // namespace gf::telemetry
