// What findings gain, from the captured program run again with the change that mends them.
#pragma once

#include <optional>
#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/work/kernel_work.h"

namespace gf {

/// The findings, those with a change of `whatif` with what it gives, and what all these changes
/// give together. Of long captures a few steps run again. As they are where a step has over 50 000
/// device activities, or a tenth of the time is unexplained. `works`: of the context's kernels.
struct ReplayedFindings {
  std::vector<Finding> findings;
  std::optional<ReplayedTogether> together;
};
ReplayedFindings with_replayed_gains(std::vector<Finding> findings, const Context& context,
                                     const work::KernelWorks& works);

}  // namespace gf
