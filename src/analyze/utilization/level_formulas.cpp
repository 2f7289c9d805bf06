#include "analyze/utilization/level_formulas.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <vector>

#include "core/when.h"
#include "model/metric_id.h"

namespace gf {
namespace {

using enum KernelLevel;
constexpr ChipSet kAll = kEveryChip;
constexpr ChipSet kBlackwell = since(ChipId::GB100);
constexpr ChipSet kTcgen05 = bit(ChipId::GB100) | bit(ChipId::GB110);
constexpr ChipSet kTwoPartitions = bit(ChipId::GA100) | bit(ChipId::GH100) | kTcgen05;
constexpr ChipSet kOnePartition = static_cast<ChipSet>(kAll & ~kTwoPartitions);
constexpr ChipSet kBeforeBlackwell = static_cast<ChipSet>(kAll & ~kBlackwell);

// An SM has four sub-partitions, so smsp__cycles_elapsed.sum = 4 * sm__cycles_elapsed.sum. The
// tensor counters of the SM (sm__pipe_tensor_cycles_active, sm__inst_executed_pipe_tensor) add up
// the four tensor cores: their peak is 4 a cycle and SM, 1 a cycle and sub-partition. That is
// checked for GH100: in the ResNet-50 report one SM counts up to 2.59 tensor cycles a cycle
// (Levels.TensorCountersScaleWithSubPartitions). A sub-partition issues at most one instruction a
// cycle.
constexpr std::array kFormulas{
    LevelFormula{sm_active, kAll, "smsp__cycles_active.sum", "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{sm_active, kAll, "smsp__cycles_active.avg", "smsp__cycles_elapsed.avg", 1, ""},
    LevelFormula{sm_active, kAll, "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed", "", 0.01,
                 ""},
    LevelFormula{sm_active, kAll, "smsp__cycles_active.avg", "smsp__cycles_elapsed.max", 1, ""},
    // Any sub-partition active: at or above the level asked for.
    LevelFormula{sm_active, kAll, "sm__cycles_active.sum", "sm__cycles_elapsed.sum", 1, ""},
    LevelFormula{sm_active, kAll, "sm__cycles_active.avg", "sm__cycles_elapsed.avg", 1, ""},
    LevelFormula{sm_active, kAll, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "", 0.01,
                 ""},
    LevelFormula{sm_active, kAll, "sm__cycles_active.avg", "sm__cycles_elapsed.max", 1, ""},
    LevelFormula{sm_active, kAll, "sm__cycles_active.avg", "gpc__cycles_elapsed.max", 1,
                 ""},  // ncu's basic and full sets

    LevelFormula{issue_active, kAll, "smsp__issue_active.sum", "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{issue_active, kAll, "smsp__issue_active.avg", "smsp__cycles_elapsed.avg", 1, ""},
    LevelFormula{issue_active, kAll, "smsp__issue_active.avg.pct_of_peak_sustained_elapsed", "",
                 0.01, ""},
    LevelFormula{issue_active, kAll, "smsp__inst_issued.sum", "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{issue_active, kAll, "smsp__inst_executed.sum", "smsp__cycles_elapsed.sum", 1,
                 ""},  // replays of issue left out
    LevelFormula{issue_active, kAll, "sm__inst_issued.sum", "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{issue_active, kAll, "sm__inst_issued.sum", "sm__cycles_elapsed.sum", 0.25, ""},
    LevelFormula{issue_active, kAll, "sm__inst_executed.sum", "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{issue_active, kAll, "sm__inst_executed.sum", "sm__cycles_elapsed.sum", 0.25, ""},
    LevelFormula{issue_active, kAll, "sm__inst_executed.avg.per_cycle_elapsed", "", 0.25, ""},
    LevelFormula{issue_active, kAll, "smsp__issue_active.avg.pct_of_peak_sustained_active", "",
                 0.01, "sm.active"_metric},
    LevelFormula{issue_active, kAll, "smsp__issue_active.avg.per_cycle_active", "", 1,
                 "sm.active"_metric},
    LevelFormula{issue_active, kAll, "sm__inst_issued.avg.pct_of_peak_sustained_active", "", 0.01,
                 "sm.active"_metric},

    LevelFormula{tensor_active, bit(ChipId::GH100), "sm__pipe_tensor_cycles_active.sum",
                 "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{tensor_active, kAll,
                 "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "", 0.01,
                 ""},  // right by its own definition
    LevelFormula{tensor_active, kAll, "sm__pipe_tensor_cycles_active.sum",
                 "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{tensor_active, kAll, "sm__pipe_tensor_cycles_active.sum", "sm__cycles_elapsed.sum",
                 0.25, ""},
    LevelFormula{tensor_active, kAll, "sm__pipe_tensor_cycles_active.avg",
                 "smsp__cycles_elapsed.avg", 0.25, ""},
    LevelFormula{tensor_active, kAll,
                 "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "", 0.01,
                 "sm.active"_metric},
    LevelFormula{tensor_active, kBeforeBlackwell,
                 "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed + "
                 "[sm__pipe_tensor_op_imma_cycles_active.avg.pct_of_peak_sustained_elapsed] + "
                 "[sm__pipe_tensor_op_dmma_cycles_active.avg.pct_of_peak_sustained_elapsed]",
                 "", 0.01, ""},
    LevelFormula{tensor_active, kBeforeBlackwell,
                 "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active + "
                 "[sm__pipe_tensor_op_imma_cycles_active.avg.pct_of_peak_sustained_active] + "
                 "[sm__pipe_tensor_op_dmma_cycles_active.avg.pct_of_peak_sustained_active]",
                 "", 0.01, "sm.active"_metric},
    LevelFormula{tensor_active, kBlackwell,
                 "sm__pipe_tensor_subpipe_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed + "
                 "[sm__pipe_tensor_subpipe_imma_cycles_active.avg.pct_of_peak_sustained_elapsed] + "
                 "[sm__pipe_tensor_subpipe_dmma_cycles_active.avg.pct_of_peak_sustained_elapsed]",
                 "", 0.01, ""},

    // Blackwell's tcgen05 instructions are issued by another unit and counted apart.
    LevelFormula{tensor_issue, kTcgen05,
                 "sm__inst_executed_pipe_tensor.sum + sm__inst_executed_pipe_tc.sum",
                 "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{tensor_issue, kAll, "sm__inst_executed_pipe_tensor.sum",
                 "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{tensor_issue, kAll, "smsp__inst_executed_pipe_tensor.sum",
                 "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{tensor_issue, kAll, "sm__inst_executed_pipe_tensor.sum", "sm__cycles_elapsed.sum",
                 0.25, ""},
    LevelFormula{tensor_issue, kAll, "sm__inst_executed_pipe_tensor.avg",
                 "smsp__cycles_elapsed.avg", 0.25, ""},
    LevelFormula{tensor_issue, bit(ChipId::AD102), "sm__inst_executed_pipe_tensor_v2.sum",
                 "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{
        tensor_issue, kBeforeBlackwell,
        "sm__inst_executed_pipe_tensor_op_hmma.sum + [sm__inst_executed_pipe_tensor_op_imma.sum] + "
        "[sm__inst_executed_pipe_tensor_op_dmma.sum]",
        "smsp__cycles_elapsed.sum", 1, ""},
    LevelFormula{tensor_issue, kBlackwell,
                 "sm__inst_executed_pipe_tensor_subpipe_hmma.sum + "
                 "[sm__inst_executed_pipe_tensor_subpipe_imma.sum] + "
                 "[sm__inst_executed_pipe_tensor_subpipe_dmma.sum]",
                 "smsp__cycles_elapsed.sum", 1, ""},

    LevelFormula{occupancy, kAll, "sm__warps_active.avg.pct_of_peak_sustained_elapsed", "", 0.01,
                 ""},
    LevelFormula{occupancy, kAll, "sm__warps_active.avg.pct_of_peak_sustained_active", "", 0.01,
                 "sm.active"_metric},

    LevelFormula{dram_active, kAll, "dram__throughput.avg.pct_of_peak_sustained_elapsed", "", 0.01,
                 ""},
    LevelFormula{dram_active, kAll, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "",
                 0.01, ""},
    // Bytes over the peak of the device for the kernel's duration; the denominator is worked out
    // for each kernel.
    LevelFormula{dram_active, kAll, "dram__bytes.sum", "peak bytes", 1, ""},
    LevelFormula{dram_active, kAll, "dram__bytes_read.sum + dram__bytes_write.sum", "peak bytes", 1,
                 ""},
    LevelFormula{dram_active, kAll, "dram__bytes_op_read.sum + dram__bytes_op_write.sum",
                 "peak bytes", 1, ""},
    LevelFormula{dram_active, kAll, "dram__sectors_read.sum + dram__sectors_write.sum",
                 "peak bytes", 32, ""},

    // With two L2 partitions an access to the far one misses here and hits there: the plain rate
    // would call it a miss.
    LevelFormula{l2_hit_rate, kTwoPartitions,
                 "lts__t_sectors_srcunit_tex_lookup_hit.sum + "
                 "lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum",
                 "lts__t_sectors_srcunit_tex_lookup_hit.sum + "
                 "lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum + "
                 "lts__t_sectors_srcunit_tex_lookup_miss.sum + "
                 "lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum",
                 1, ""},
    LevelFormula{l2_hit_rate, kOnePartition, "lts__t_sectors_srcunit_tex_lookup_hit.sum",
                 "lts__t_sectors_srcunit_tex_lookup_hit.sum + "
                 "lts__t_sectors_srcunit_tex_lookup_miss.sum",
                 1, ""},
    LevelFormula{l2_hit_rate, kOnePartition, "lts__t_sector_hit_rate.pct", "", 0.01, ""},
    LevelFormula{l2_hit_rate, kOnePartition, "lts__t_sectors_lookup_hit.sum", "lts__t_sectors.sum",
                 1, ""},
    LevelFormula{l1_hit_rate, kAll, "l1tex__t_sector_hit_rate.pct", "", 0.01, ""},
    LevelFormula{l1_hit_rate, kAll, "l1tex__t_sectors_lookup_hit.sum", "l1tex__t_sectors.sum", 1,
                 ""},
};

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

/// A sum as a part of a larger expression.
std::string in_brackets(std::string_view sum) {
  const bool several = sum.find(" + ") != std::string_view::npos;
  if (several) return fmt::format("({})", sum);
  return std::string(sum);
}

}  // namespace

std::string_view id_of(KernelLevel level) {
  static constexpr std::array<std::string_view, kKernelLevels> ids{
      "sm.active"_metric,    "issue.active"_metric, "tensor.active"_metric,
      "tensor.issue"_metric, "tensor.flops"_metric, "sm.occupancy"_metric,
      "dram.active"_metric,  "l2.hit_rate"_metric,  "l1.hit_rate"_metric};
  return ids[static_cast<std::size_t>(level)];
}

std::span<const LevelFormula> level_formulas() { return kFormulas; }

std::string formula_text(const LevelFormula& formula) {
  std::string text;
  if (formula.factor != 1) {
    if (formula.factor == 0.01) {
      text = "";
    } else if (formula.factor == 0.25) {
      text = "1/4 * ";
    } else {
      text = "32 * ";
    }
  }
  text += in_brackets(formula.numerator);
  if (formula.factor == 0.01) text += " / 100";
  if (!formula.denominator.empty()) text += " / " + in_brackets(formula.denominator);
  if (!formula.times.empty()) text += fmt::format(" * {}", formula.times);
  return text;
}

std::string counters_for(KernelLevel level, const Chip* chip) {
  if (level == tensor_flops) {
    const auto list = flops_counters(chip);
    if (list.empty()) return "sm__ops_path_tensor_src_*.sum,smsp__cycles_elapsed.sum";
    return list + ",smsp__cycles_elapsed.sum";
  }
  for (const auto& formula : kFormulas) {
    if (formula.level != level || (chip && !(formula.chips & bit(chip->id))) ||
        (!chip && formula.chips != kAll))
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
  if (chip && (kTcgen05 & bit(chip->id))) metrics += ",sm__inst_executed_pipe_tc.sum";
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
