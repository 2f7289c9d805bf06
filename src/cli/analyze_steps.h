// The part of a capture that runs are compared by.
#pragma once

#include "analyze/analyze.h"

namespace gf::cli {

/// The steps of the capture, its steady part when samples are all there is, or all of it when it
/// has neither.
Result<Analysis> analyze_steps(const Capture& capture, AnalyzeOptions options);

}  // namespace gf::cli
