// Whether what a capture holds adds up (docs/evidence.md): every launch has its kernel, no kernel
// runs before its launch or beside another one of its stream or twice, and power and energy are
// what a board can take and agree with each other. A breach is quality: `partial` beyond its
// bound, a doubt within it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/capture.h"

namespace gf {

/// Called once after every load, behind Capture::check. Readings that no board can have given
/// become "no data", so that nobody builds an answer on them. O(n log n).
void check_evidence(Capture& capture);

// Its parts; `launches` is what join_launches says.

void check_launches(Capture& capture, const std::vector<std::uint32_t>& launches);
void check_streams(Capture& capture);
void check_readings(Capture& capture);

/// Whether the readings of a log that was joined cover the GPU's work. Not for recordings, which
/// keep a reading where it changes.
void check_cover(Capture& capture);

}  // namespace gf
