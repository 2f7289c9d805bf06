// --fail-on "step > 3%": rules that a build server ends a build with.
// Is one run slower than another, or is it noise?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/compare/compare.h"
#include "core/error.h"

namespace gf {

/// "WHAT > LIMIT" or "WHAT < LIMIT": what changed against the first run by more than the limit, up
/// (>) or down (<).
struct CheckRule {
  /// What the limit is in: per cent of the first run's value, nanoseconds, joules, or points of a
  /// share.
  enum class Unit { percent, nanoseconds, joules, points };
  std::string text;  // as given
  std::string what;  // step, item, kernels, idle, copies, joules, KIND:NAME, or a level's id
  bool more = true;  // fails when there is more than that; else when there is less
  double limit = 0;
  Unit unit = Unit::percent;
};

Result<CheckRule> parse_check(std::string_view text);

/// Tries the rules on every run but the first and appends to its `checks`. A rule on time by the
/// clock fails when the difference is beyond the limit and beyond noise, and holds when the bounds
/// of the difference are within the limit; else it is undecided, as is one without data.
void try_checks(Comparison& comparison, const std::vector<CheckRule>& rules);

/// Takes back what was said of runs that are not whole: `whole` by run.
void refuse_checks(Comparison& comparison, const std::vector<bool>& whole);

/// The mean step of one run over that of another, with 95 % bounds.
struct RatioInterval {
  double ratio = 0, low = 0, high = 0;
  bool beyond_noise() const { return low > 1 || high < 1; }
};

/// Steps are drawn again from those of each run, 2 000 times. Few steps spread less than what they
/// were drawn from, so that deviations are widened by Student's factor for their number. Empty with
/// fewer than three steps on a side. The same steps always give the same answer.
std::optional<RatioInterval> bootstrap_ratio(std::span<const std::int64_t> first,
                                             std::span<const std::int64_t> other);

}  // namespace gf
