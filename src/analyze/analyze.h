// The whole analysis of a capture (with the counters of a report joined into it, when there is one).
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

/// Pure: the same capture and options give the same result. Errors: an unknown window, a step that does not exist.
Result<Analysis> analyze(const Capture& capture, const AnalyzeOptions& options);

}  // namespace gf
