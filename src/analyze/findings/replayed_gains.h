// What findings gain, from the captured program run again with the change that mends them.
#pragma once

#include <optional>
#include <vector>

#include "analyze/context.h"
#include "analyze/replay/what_if.h"
#include "analyze/result.h"
#include "analyze/work/kernel_work.h"

namespace gf {

/// The findings, those with a change of `whatif` with what it gives, and what all these changes
/// give together. As they are where the capture has over 50 000 device activities, or a tenth of
/// the time is unexplained. `works`: of the context's kernels.
struct ReplayedFindings {
  std::vector<Finding> findings;
  std::optional<ReplayedTogether> together;
};
ReplayedFindings with_replayed_gains(std::vector<Finding> findings, const Context& context,
                                     const work::KernelWorks& works);

/// A step with every set of the changes that the first of these findings ask for; of long captures
/// a few steps run again. Nothing where none asks for one.
std::optional<WhatIfSwitches> replayed_switches(const std::vector<Finding>& findings,
                                                const Context& context);

}  // namespace gf
