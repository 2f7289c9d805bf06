// When a sampled GPU counts as working, and where its steps are looked for: one rule for the
// recorder's summary and for `analyze`.
#pragma once

#include <cstddef>

#include "core/time.h"

namespace gf {

/// Drivers and monitors tick now and then: a stretch of this length (or one sample, when longer)
/// works when it is busier than kWorkShare, from its first sample that is busier than kTickShare to
/// its last one.
inline constexpr Nanos kWorkStretch = 100 * kNsPerMs;
inline constexpr double kTickShare = 0.01, kWorkShare = 0.02;

/// A level's course is searched for a period (levels_shown(kSteps)) over at most so many samples:
/// the level that repeats most clearly gives the step, as one that is always high says little.
inline constexpr std::size_t kStepSamples = 16384;

}  // namespace gf
