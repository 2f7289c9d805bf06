// Differences between runs that are not the program: GPUs, sizes, profilers, numbers of steps.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/compare/compare.h"
#include "analyze/compare/measured_run.h"

namespace gf {

/// The differences beside the program.
std::vector<ComparedDifference> find_differences(const Comparison& comparison);

/// The reason why no rule applies to this run's times: another program, other sizes.
/// With what to do; empty: one may hold. `of_item`: what a rule is about is divided by the items.
std::string why_sizes_decide(const Comparison& comparison, std::size_t run, bool of_item);

/// A rule on a time whose noise is known.
struct JudgedRule {
  bool by_the_clock = true;  // else by the time of kernels
  CheckOutcome outcome = CheckOutcome::ok;
  std::function<CheckOutcome(const MeasuredRatio&)> judge;
};

/// The reason why differences beside the program may have decided a rule, with what to do; empty:
/// it did not. Needs the likeness of the runs.
std::string why_settings_decide(const Comparison& comparison,
                                const std::vector<MeasuredVersion>& versions, std::size_t run,
                                const JudgedRule& rule);

}  // namespace gf
