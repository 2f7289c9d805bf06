#include "analyze/work/stalls.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "analyze/utilization/instances.h"
#include "analyze/utilization/waterfall.h"
#include "core/apportion.h"
#include "model/kernel_name.h"

namespace gf::work {
namespace {

struct Reason {
  std::string_view id, label;
};

// Nsight Compute documentation, "Warp Stall Reasons".
constexpr std::array kReasons{
    Reason{"long_scoreboard", "data from L1, L2 or device memory"},
    Reason{"short_scoreboard", "data from shared memory, special functions"},
    Reason{"lg_throttle", "queue of global and local memory full"},
    Reason{"mio_throttle", "queue of shared memory and special functions full"},
    Reason{"tex_throttle", "queue of the texture unit full"},
    Reason{"barrier", "other warps at a block barrier"},
    Reason{"membar", "a memory barrier"},
    Reason{"math_pipe_throttle", "a busy arithmetic pipe"},
    Reason{"gmma", "a warpgroup product"},
    Reason{"tensor", "the tensor cores"},
    Reason{"wait", "a fixed delay between instructions"},
    Reason{"no_instruction", "instructions not fetched yet"},
    Reason{"no_instructions", "instructions not fetched yet"},
    Reason{"imc_miss", "a constant not in its cache"},
    Reason{"branch_resolving", "the target of a branch"},
    Reason{"dispatch_stall", "the dispatcher"},
    Reason{"drain", "stores at the end of the kernel"},
    Reason{"sleeping", "all threads asleep"},
    Reason{"misc", "other"},
    Reason{"unknown", "kernels without warp states"},
};

std::string_view label_of_reason(std::string_view id) {
  const auto* known = std::ranges::find(kReasons, id, &Reason::id);
  return known == kReasons.end() ? id : known->label;
}

/// A counter of one state: which family of counters it is of, best first, and the state.
struct State {
  int family = 0;
  std::string_view reason;
};

/// "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
/// "smsp__pcsamp_warps_issue_stalled_barrier_not_issued", ... States of cycles in which nothing was
/// issued come first: that is what the bar is of.
std::optional<State> state_of(std::string_view counter) {
  constexpr std::string_view kMark = "issue_stalled_";
  const auto at = counter.find(kMark);
  if (at == counter.npos) return std::nullopt;
  const bool sampled = counter.find("pcsamp") != counter.npos;
  std::string_view reason = counter.substr(at + kMark.size());
  reason = reason.substr(0, reason.find('.'));
  if (const auto per = reason.find("_per_"); per != reason.npos) reason = reason.substr(0, per);
  constexpr std::string_view kNotIssued = "_not_issued";
  const bool not_issued = reason.ends_with(kNotIssued);
  if (not_issued) reason.remove_suffix(kNotIssued.size());
  // These warps could have issued; they did not stall.
  if (reason == "selected" || reason == "not_selected") return std::nullopt;
  return State{(sampled ? 0 : 1) + (not_issued ? 0 : 2), reason};
}

/// The states of each report kernel, of its best family.
class WarpStates {
 public:
  using States = std::map<std::string_view, double>;

  explicit WarpStates(const Capture& capture) {
    std::unordered_map<std::uint32_t, std::optional<State>> known;
    const auto& counters = capture.kernel_counters;
    for (std::size_t i = 0; i < counters.size(); ++i) {
      const auto [state, fresh] = known.try_emplace(static_cast<std::uint32_t>(counters.metric[i]));
      if (fresh) state->second = state_of(capture.text(counters.metric[i]));
      if (!state->second || !(counters.value[i] > 0)) continue;
      auto& of_kernel = by_kernel_[counters.kernel[i]];
      const int family = state->second->family;
      if (of_kernel.states.empty() || family < of_kernel.family) {
        of_kernel.states.clear();
        of_kernel.family = family;
      }
      if (family == of_kernel.family) of_kernel.states[state->second->reason] += counters.value[i];
    }
  }
  bool empty() const { return by_kernel_.empty(); }
  const States* of(std::uint32_t report_row) const {
    const auto at = by_kernel_.find(report_row);
    return at == by_kernel_.end() ? nullptr : &at->second.states;
  }

 private:
  struct OfKernel {
    int family = 0;
    States states;
  };
  std::unordered_map<std::uint32_t, OfKernel> by_kernel_;
};

Nanos stalled_time(const Analysis& analysis) {
  Nanos sum = 0;
  for (const auto& device : analysis.devices)
    for (const auto& bar : device.waterfall)
      if (bar.id == Bar::stalled) sum += bar.ns;
  return sum;
}

using Cells = std::map<std::pair<std::string_view, std::string>, double>;  // reason, kernel

Cells cells_of(const Context& context, const KernelLevels& levels, const WarpStates& warps,
               double& known, double& all) {
  Cells cells;
  const Capture& capture = context.capture;
  for (const auto& kernel : context.kernels) {
    const double stalled =
        split_kernel(kernel.activity, levels).stalled * static_cast<double>(kernel.working_ns);
    if (!(stalled > 0)) continue;
    all += stalled;
    const auto name = short_kernel_name(capture.text(capture.activities.name[kernel.activity]));
    const auto row = context.matching.report_row[kernel.activity];
    const auto* states = row == kNoRow ? nullptr : warps.of(row);
    double sum = 0;
    if (states)
      for (const auto& [reason, value] : *states) sum += value;
    if (!(sum > 0)) {
      cells[{"unknown", name}] += stalled;
      continue;
    }
    known += stalled;
    for (const auto& [reason, value] : *states) cells[{reason, name}] += stalled * value / sum;
  }
  return cells;
}

}  // namespace

StallUse stall_use(const Context& context, const KernelLevels& levels, const Analysis& analysis) {
  StallUse use;
  const Nanos stalled = stalled_time(analysis);
  const WarpStates warps(context.capture);
  if (stalled <= 0 || warps.empty()) return use;
  double known = 0, all = 0;
  const Cells cells = cells_of(context, levels, warps, known, all);
  if (!(all > 0)) return use;
  use.stalled_ns = stalled;
  use.coverage = known / all;
  std::vector<double> weights;
  for (const auto& [cell, weight] : cells) weights.push_back(weight);
  const auto whole = apportion(stalled, weights);
  std::size_t at = 0;
  for (const auto& [cell, weight] : cells) {
    const Nanos ns = whole[at++];
    if (ns == 0) continue;
    if (use.reasons.empty() || use.reasons.back().id != cell.first)
      use.reasons.push_back(
          {std::string(cell.first), std::string(label_of_reason(cell.first)), 0, {}, {}});
    use.reasons.back().ns += ns;
    use.reasons.back().kernels.push_back({cell.second, ns});
  }
  for (auto& reason : use.reasons) {
    reason.share = static_cast<double>(reason.ns) / static_cast<double>(stalled);
    std::ranges::stable_sort(reason.kernels, std::greater{}, &NamedTime::ns);
  }
  std::ranges::stable_sort(use.reasons, std::greater{}, &StallReason::ns);
  return use;
}

}  // namespace gf::work
