// The whole analysis of a capture (with the counters of a report joined into it, when there is
// one).
#pragma once

#include <optional>

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

/// Pure: the same capture and options give the same result. Errors: an unknown window, a step that
/// does not exist. `context`, when given, receives what the analyses worked out on the way
/// (timelines, attribution, matching), for reports that draw single events; it refers to `capture`,
/// which must outlive it. Of a capture of samples alone it holds no device.
Result<Analysis> analyze(const Capture& capture, const AnalyzeOptions& options,
                         std::optional<Context>* context = nullptr);

}  // namespace gf
