#include "analyze/findings/findings.h"

#include <algorithm>

#include "analyze/findings/facts.h"

namespace gf {
namespace {

// Caveats about the capture come first, in this order; the others by what they could give back.
constexpr Look kCaveats[] = {observer_effect, warm_up_in_window, weak_matching, missing_counters};
constexpr Look kLosses[] = {launch_bound,
                            input_bound,
                            sync_in_step,
                            blocking_copies,
                            device_allocations,
                            exposed_communication,
                            tiny_kernels,
                            unfused_elementwise,
                            casts,
                            small_grids,
                            fp32_without_tensor_cores,
                            low_tensor_use,
                            memory_bound,
                            missing_levels};

}  // namespace

void find_findings(const Context& context, const KernelLevels& levels, Analysis& analysis) {
  const Facts facts(context, analysis, levels);
  if (facts.window <= 0) return;
  std::vector<Finding> caveats, losses;
  for (const auto look : kCaveats)
    if (auto f = look(facts)) caveats.push_back(std::move(*f));
  for (const auto look : kLosses)
    if (auto f = look(facts)) losses.push_back(std::move(*f));
  std::stable_sort(losses.begin(), losses.end(), [](const auto& a, const auto& b) {
    return a.gain_ns.value_or(0) > b.gain_ns.value_or(0);
  });
  analysis.findings = std::move(caveats);
  std::move(losses.begin(), losses.end(), std::back_inserter(analysis.findings));
}

}  // namespace gf
