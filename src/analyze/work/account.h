// Where peak x time of each device went: work, and every loss with its owner.
#pragma once

#include <vector>

#include "analyze/utilization/kernel_levels.h"
#include "analyze/work/ceilings.h"
#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"

namespace gf::work {

/// One account for each of context.devices, in order; none for devices whose peak is not known.
/// Parts sum to the device's window exactly, and the owners of a part to the part. Needs the idle
/// causes and waterfalls of analysis.devices.
std::vector<WorkAccount> work_accounts(const Context& context, const KernelLevels& levels,
                                       const Analysis& analysis, const KernelWorks& works);

/// How the time of one kernel splits, as shares that sum to 1 over the parts.
struct KernelShares {
  double of[kWorkParts] = {};
  double& at(WorkPart part) { return of[static_cast<std::size_t>(part)]; }
  double at(WorkPart part) const { return of[static_cast<std::size_t>(part)]; }
};

/// What the split of a kernel goes by.
struct KernelFacts {
  double seconds = 0;     // exclusive time
  double flops = 0;       // of products
  double recomputed = 0;  // of these
  double covered = 0;     // by its tiles
  double peak = 0;        // operations a second, of the account
  double own_peak = 0;    // of the kernel's data type
  bool multiplies = false;
  bool known = false;  // its operation's work is known
  bool communicates = false;
  double sm_active = NAN, issue_active = NAN, tensor_active = NAN, tensor_issue = NAN;
  double blocks_per_sm = NAN;  // where no counter tells of SMs without work
};
KernelShares split_work(const KernelFacts& kernel);

}  // namespace gf::work
