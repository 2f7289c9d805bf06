// The time of one kernel by what became of peak x time in it.
#include <algorithm>
#include <array>
#include <cmath>

#include "analyze/utilization/waterfall.h"
#include "analyze/work/account.h"

namespace gf::work {
namespace {

/// Seconds of a kernel that are not given to a part yet.
class Rest {
 public:
  explicit Rest(double seconds) : left_(seconds) {}
  /// At most what is left.
  double take(double seconds) {
    if (!(seconds > 0)) return 0;  // nor what is no number
    const double taken = std::min(seconds, left_);
    left_ -= taken;
    return taken;
  }
  double left() const { return left_; }

 private:
  double left_;
};

struct Pool {
  WorkPart part;
  double seconds;
};

/// Gives what the products took out of the pools in their order, and the rest of each pool to its
/// part. A product that ran on the tensor cores keeps their pipes busy; one that did not is made of
/// other instructions.
void divide_by_counters(const KernelFacts& kernel, double used, KernelShares& shares) {
  const KernelSplit split =
      split_busy(kernel.sm_active, kernel.issue_active, kernel.tensor_active, kernel.tensor_issue);
  std::array<Pool, 4> pools{
      {{WorkPart::tensor_below_peak, split.tensor * kernel.seconds},
       {WorkPart::other_instructions, split.other_instructions * kernel.seconds},
       {WorkPart::stalled, split.stalled * kernel.seconds},
       {WorkPart::sm_inactive, split.sm_inactive * kernel.seconds}}};
  if (!(split.tensor > split.other_instructions * 0.1)) std::swap(pools[0], pools[1]);
  double unknown = split.unknown * kernel.seconds;
  for (auto& pool : pools) {
    const double taken = std::min(pool.seconds, used);
    pool.seconds -= taken;
    used -= taken;
    shares.at(pool.part) += pool.seconds;
  }
  unknown = std::max(0.0, unknown - used);
  shares.at(kernel.multiplies ? WorkPart::products_undivided : WorkPart::others_undivided) +=
      unknown;
}

void divide_without_counters(const KernelFacts& kernel, Rest& rest, KernelShares& shares) {
  // SMs without a block do nothing whatever the others do: at least that is known.
  if (kernel.blocks_per_sm < 1)
    shares.at(WorkPart::sm_inactive) += rest.take((1 - kernel.blocks_per_sm) * kernel.seconds);
  WorkPart part = WorkPart::others_undivided;
  if (kernel.multiplies) part = kernel.known ? WorkPart::products_undivided : WorkPart::unmodelled;
  shares.at(part) += rest.take(rest.left());
}

}  // namespace

KernelShares split_work(const KernelFacts& kernel) {
  KernelShares shares;
  if (!(kernel.seconds > 0)) return shares;
  if (kernel.communicates) {
    shares.at(WorkPart::communication) = 1;
    return shares;
  }
  Rest rest(kernel.seconds);
  if (kernel.flops > 0 && kernel.peak > 0 && kernel.own_peak > 0) {
    shares.at(WorkPart::work) = rest.take((kernel.flops - kernel.recomputed) / kernel.peak);
    shares.at(WorkPart::recompute) = rest.take(kernel.recomputed / kernel.peak);
    shares.at(WorkPart::slower_type) =
        rest.take(kernel.flops / kernel.own_peak - kernel.flops / kernel.peak);
    shares.at(WorkPart::padding) = rest.take((kernel.covered - kernel.flops) / kernel.own_peak);
  }
  if (std::isnan(kernel.sm_active))
    divide_without_counters(kernel, rest, shares);
  else
    divide_by_counters(kernel, kernel.seconds - rest.left(), shares);
  double sum = 0;
  for (const double seconds : shares.of) sum += seconds;
  for (double& seconds : shares.of) seconds /= sum > 0 ? sum : 1;
  return shares;
}

}  // namespace gf::work
