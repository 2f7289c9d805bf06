#include "analyze/utilization/level_formulas.h"

#include <fmt/format.h>

#include <set>

#include "core/when.h"

namespace gf {
namespace {

constexpr std::string_view kCommon =
    "gpu__time_duration.sum,smsp__cycles_elapsed.sum,smsp__cycles_active.sum,smsp__issue_active."
    "sum,sm__pipe_tensor_cycles_active.sum,"
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,sm__inst_executed_pipe_tensor."
    "sum";

std::string flops_counters(const Chip* chip) {
  std::string list;
  for (const auto& path : tensor_paths()) {
    if (!chip || path.chip != chip->id) continue;
    std::string_view rest = path.counters;
    while (!rest.empty()) {
      const auto plus = rest.find(" + ");
      list += fmt::format("{}{}.sum", when(!list.empty(), ","), rest.substr(0, plus));
      if (plus == std::string_view::npos) {
        rest = std::string_view{};
      } else {
        rest = rest.substr(plus + 3);
      }
    }
  }
  return list;
}

}  // namespace

std::string counters_for(KernelLevel level, const Chip* chip) {
  if (level == KernelLevel::tensor_flops) {
    const auto list = flops_counters(chip);
    if (list.empty()) return "sm__ops_path_tensor_src_*.sum,smsp__cycles_elapsed.sum";
    return list + ",smsp__cycles_elapsed.sum";
  }
  for (const auto& formula : level_formulas()) {
    if (formula.level != level || (chip && !(formula.chips & bit(chip->id))) ||
        (!chip && formula.chips != kEveryChip))
      continue;
    std::string list;
    std::set<std::string_view> named;
    for (const std::string_view sum : {formula.numerator, formula.denominator})
      each_term(sum, [&](std::string_view name, bool) {
        if (named.insert(name).second) list += fmt::format("{}{}", when(!list.empty(), ","), name);
      });
    return list;
  }
  return {};
}

bool nsight_compute_helps(const Capture& capture) {
  for (std::size_t i = 0; i < capture.devices.size(); ++i)
    if (capture.text(capture.devices.vendor[i]) == "amd") return false;
  return true;
}

std::string ncu_command(const Chip* chip, std::int64_t kernels_of_step) {
  std::string metrics(kCommon);
  if (chip && (chip_sets::kDataCentreBlackwell & bit(chip->id)))
    metrics += ",sm__inst_executed_pipe_tc.sum";
  if (const auto flops = flops_counters(chip); !flops.empty()) metrics += fmt::format(",{}", flops);
  constexpr int kWarmUpSteps = 5;
  std::string which;
  if (kernels_of_step > 0) {
    which = fmt::format("--launch-skip {} --launch-count {}", kWarmUpSteps * kernels_of_step,
                        kernels_of_step);
  } else {
    which = std::string("--launch-count 2000");
  }
  return fmt::format(
      "ncu {} --clock-control none --cache-control none --metrics {} --csv --page raw --log-file "
      "counters.csv python train.py",
      which, metrics);
}

}  // namespace gf
