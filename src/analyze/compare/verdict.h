// Decides whether one program is slower than another: the one decision of `compare`, its --fail-on
// rules and the gate (docs/compare.md, "Verdicts").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/compare/compare.h"
#include "analyze/compare/noise.h"

namespace gf {

/// The part of a side's steps that takes far longer than its median step.
struct LongSteps {
  std::int64_t steps = 0, of = 0;
  double times = 0;  // the middle step's time, on average
};

/// The second side's mean step over the first's. Two intervals: what is told and what a difference
/// is shown by has 95 %, what equality is shown by 99 %, so that of the changes as large as the
/// limit no more than one in a hundred passes.
struct MeasuredRatio {
  double ratio = 1;
  double low = 1, high = 1;            // 95 %
  double pass_low = 1, pass_high = 1;  // 99 %
  double median_ratio = 1;             // of the middle steps
  std::int64_t captures = 1;           // of the side that has fewer
  bool in_turns = true;                // false: recorded one version after the other
  LongSteps long_before, long_after;   // tails: their time is in the ratio
  LongSteps rare_before, rare_after;   // told apart: their time is not in it
  double doubt = 0;   // half width of the part that doubts make, which captures do not narrow
  double spread = 0;  // of one capture's mean step, as a share

  /// By a known number: of items instead of steps.
  void scale(double by) {
    for (double* each : {&ratio, &low, &high, &pass_low, &pass_high, &median_ratio}) *each *= by;
  }
};

/// Empty where nothing tells the noise: fewer than three steps in the only capture of a side, or no
/// time in one.
std::optional<MeasuredRatio> measure_ratio(const MeasuredSide& before, const MeasuredSide& after);

/// The time by which the second side's mean step exceeds `times` that of the first, with its 95 %
/// interval. Rare long steps are set apart, as above.
struct MeasuredDifference {
  double change = 0;
  double low = 0, high = 0;
};
std::optional<MeasuredDifference> measure_difference(MeasuredSide before, MeasuredSide after,
                                                     double times = 1);

/// no_difference when the 99 % interval lies within `limit` either way; else faster or slower when
/// the 95 % interval excludes 1; else undecided.
ComparedVerdict verdict_of(const MeasuredRatio& measured, double limit = kResolution);

/// Judges whether the second side takes more than the first by more than `limit`, or where not
/// `more` less by less than it (-0.03: over 3 % less): failed when the 95 % interval lies beyond
/// it, ok when the 99 % interval lies on this side of it.
CheckOutcome against_limit(const MeasuredRatio& measured, double limit, bool more = true);

/// About how many captures of each version, recorded in turns, would decide, if they differ as
/// these do. Empty where more than a thousand would not.
std::optional<std::int64_t> captures_to_decide(const MeasuredRatio& measured, double limit);
std::optional<std::int64_t> captures_to_tell(const MeasuredRatio& measured,
                                             double limit = kResolution);

/// Caveats that the interval does not cover, a sentence each: rare long steps, a tail, a single
/// capture, captures that were not recorded in turns.
std::vector<std::string> remarks_on(const MeasuredRatio& measured);

}  // namespace gf
