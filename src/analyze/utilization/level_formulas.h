// From counters of a report to ratios inside one kernel: for each level the acceptable formulas,
// best first.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/capture.h"
#include "model/chips.h"
#include "model/metric_id.h"

namespace gf {

/// Ratios inside one kernel, 0..1. The first five are rungs of the ladder; the others stand beside
/// it.
enum class KernelLevel : std::uint8_t {
  sm_active,
  issue_active,
  tensor_active,
  tensor_issue,
  tensor_flops,
  occupancy,
  dram_active,
  l2_hit_rate,
  l1_hit_rate
};
inline constexpr std::size_t kKernelLevels = 9;
inline constexpr std::size_t kRungs = 5;

std::string_view id_of(KernelLevel level);

/// factor * sum(numerators) / (denominator, when there is one) * (another level, when `times` names
/// one).
struct LevelFormula {
  KernelLevel level;
  ChipSet chips;
  std::string_view
      numerator;  // counters joined by " + "; one in brackets counts as 0 when the report lacks it
  std::string_view denominator;  // one counter, or empty
  double factor;
  std::string_view
      times;  // "sm.active"_metric for counters that are relative to active cycles, else empty
};

/// All formulas except those of tensor.flops, which come from tensor_paths() of the chip.
std::span<const LevelFormula> level_formulas();

/// "smsp__cycles_active.sum / smsp__cycles_elapsed.sum"
std::string formula_text(const LevelFormula& formula);

/// The counters to collect for a level on a chip (best formula), joined by commas.
std::string counters_for(KernelLevel level, const Chip* chip);
/// Nsight Compute's command line that collects what the ladder needs on a chip (nullptr: any chip),
/// of one step of `kernels_of_step` kernels after five others; of the first kernels where the steps
/// are not known (0).
std::string ncu_command(const Chip* chip, std::int64_t kernels_of_step = 0);
/// False when a device is of another maker: no command of Nsight Compute helps there.
bool nsight_compute_helps(const Capture& capture);

/// f(name, optional) for every term of "a + b + [c]".
template <class F>
void each_term(std::string_view expression, F&& apply) {
  while (!expression.empty()) {
    const auto plus = expression.find(" + ");
    auto name = expression.substr(0, plus);
    if (plus == std::string_view::npos) {
      expression = std::string_view{};
    } else {
      expression = expression.substr(plus + 3);
    }
    const bool optional = name.starts_with('[');
    apply(optional ? name.substr(1, name.size() - 2) : name, optional);
  }
}

}  // namespace gf
