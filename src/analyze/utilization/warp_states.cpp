#include "analyze/utilization/warp_states.h"

#include <algorithm>
#include <array>
#include <optional>

namespace gf {

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

}  // namespace

std::string_view label_of_stall(std::string_view reason) {
  const auto* known = std::ranges::find(kReasons, reason, &Reason::id);
  return known == kReasons.end() ? reason : known->label;
}

WarpStates::WarpStates(const Capture& capture) {
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

}  // namespace gf
