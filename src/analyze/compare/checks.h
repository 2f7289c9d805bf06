// --fail-on "step > 3%": rules that a build server ends a build with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/compare/compare.h"
#include "analyze/compare/measured_run.h"
#include "core/error.h"

namespace gf {

/// "WHAT > LIMIT" or "WHAT < LIMIT": what changed against the first run by more than the limit, up
/// (>) or down (<).
struct CheckRule {
  /// The unit of the limit: per cent of the first run's value, nanoseconds, joules, or points of a
  /// share.
  enum class Unit { percent, nanoseconds, joules, points };
  std::string text;  // as given
  std::string what;  // step, item, kernels, idle, copies, joules, KIND:NAME, or a level's id
  bool more = true;  // fails when there is more than that; else when there is less
  double limit = 0;
  Unit unit = Unit::percent;
};

Result<CheckRule> parse_check(std::string_view text);

/// Tries the rules on every run but the first and appends to its `checks`. Rules on the step, an
/// item or the kernels are decided by verdict.h; others, of which nothing tells the noise, by value
/// alone. Refused: what cannot be compared, and where what differs beside the program would
/// decide. Behind compare_inside.
void try_checks(Comparison& comparison, const std::vector<CheckRule>& rules,
                const std::vector<MeasuredVersion>& versions);

/// Takes back what was said of runs that are not whole: `whole` by run.
void refuse_incomplete(Comparison& comparison, const std::vector<bool>& whole);

}  // namespace gf
