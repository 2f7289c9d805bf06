// Checks that a capture is consistent, by the laws of laws.def (docs/evidence.md). A breach is
// quality: `partial` beyond its bound, a doubt within it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/capture.h"

namespace gf {

/// Called once after every load, behind Capture::check. Readings that no board can have given
/// become "no data", so that nobody builds an answer on them. O(n log n).
void check_evidence(Capture& capture);

// Its parts; `launches` is what join_launches says. Those that read whole tables write into the
// quality of `notes`, so that they can run side by side.

void check_streams(const Capture& capture, Capture& notes);
/// Behind check_streams, whose notes tell of the equal ones of a launch's kernels.
void check_launches(const Capture& capture, const std::vector<std::uint32_t>& launches,
                    Capture& notes);
void check_clocks(const Capture& capture, const std::vector<std::uint32_t>& launches,
                  Capture& notes);
/// Checks for calls that are missing or came at other times.
void check_numbers(const Capture& capture, Capture& notes);
void check_marks(Capture& capture);
void check_programs(Capture& capture);
void check_readings(Capture& capture);

/// Checks that the readings of a joined log cover the GPU's work. Not for recordings, which
/// keep a reading where it changes.
void check_cover(Capture& capture);

}  // namespace gf
