// What the pairs of a matching mean: how many there are, and whether the report is one of the
// traced program at all.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/context.h"
#include "analyze/match/symbols.h"

namespace gf {

/// Less than this share of both the trace's kernels and the report's kernels paired: they are of
/// different programs.
inline constexpr double kSameProgram = 0.5;
/// At least this share of the trace's kernels paired: a good matching.
inline constexpr double kGood = 0.95;

/// Counts the states and writes verdict, note and confidence. Of different programs no pair is
/// kept.
void judge(const Symbols& symbols, const std::vector<std::uint32_t>& trace_rows,
           const std::vector<bool>& report_used, Matching& matching);

/// For a capture without report or without kernels.
void judge_without_pairs(const Capture& capture, MatchInfo& info);

}  // namespace gf
