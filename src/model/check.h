// Checks that every capture passes before it is used (Capture::check), and their parts.
#pragma once

#include <string>

#include "core/error.h"
#include "model/capture.h"

namespace gf {

/// Times and their sums stay far enough inside int64 that differences of two and sums of a table's
/// durations cannot overflow: the years 1824 to 2116.
inline constexpr Nanos kFarthestTime = Nanos{1} << 62;
inline constexpr Nanos kLongestTotal = Nanos{1} << 61;

/// No run is longer, and device activities lie at most this far from the one in their middle: ten
/// years, or less where windows of so many devices would not add up.
inline constexpr Nanos kLongestRun = Nanos{10} * 365 * 86'400 * kNsPerSecond;

inline bool in_reach(Nanos time) { return time > -kFarthestTime && time < kFarthestTime; }

/// An activity this far from every recorded window was not recorded in one.
inline constexpr Nanos kStrayDistance = 10 * kNsPerSecond;

/// Advice about a capture file that contradicts itself.
inline constexpr const char* kDamagedFile =
    "the file is damaged, or was changed by another program";

inline constexpr const char* kDamagedBlock =
    "its bytes are not those that were written: copy the file again";

/// References between tables must point at rows that exist; `file` is what the error is about.
Status check_references(const Capture& capture, const std::string& file);

/// Takes out rows that no program can have had: spans that end before they start, times and sums
/// out of reach, activities without a time or far outside the recorded windows, and what refers to
/// them. Each kind is counted as quality. References must have been checked.
void drop_impossible_rows(Capture& capture);

}  // namespace gf
