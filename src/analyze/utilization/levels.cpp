#include "analyze/utilization/levels.h"

#include <algorithm>
#include <cmath>

#include "analyze/kernel_rates/kernel_rates.h"

namespace gf {
namespace {

std::string why_missing(const Context& context, KernelLevel level) {
  const Chip* chip = chip_of(context.capture);
  const bool report = !context.capture.report_kernels.empty();
  const std::string counters = counters_for(level, chip);
  std::string why;
  if (level == KernelLevel::tensor_flops && report && !chip)
    why = "the device is not in the list of known chips, so the peak is not known";
  else if (!report)
    why = "the capture has no per-kernel counters";
  else if (context.matching.info.matched == 0)
    why = "no kernel of the trace matches the counter report";
  else if (has_solved_counters(context.capture))
    why = "sampling a running program does not tell it";
  else
    why = "the report lacks " + counters;
  if (nsight_compute_helps(context.capture))
    why.append("; collect with: ").append(ncu_command(chip));
  return why;
}

struct Sums {
  long double known = 0;    // sum of w * ratio
  long double bound = 0;    // sum of w * upper level over kernels without data
  long double covered = 0;  // sum of w over kernels with data
  long double active_cycles = 0, cycles = 0;
  bool any = false;
};

}  // namespace

std::vector<Level> ladder(const Context& context, std::span<const DeviceTimeline> devices,
                          const KernelLevels& kernel_levels) {
  const auto& activities = context.capture.activities;
  std::array<Sums, kKernelLevels> sums;
  Nanos window = 0, kernel_busy = 0, kernel_time = 0;
  for (const auto& line : devices) {
    window += line.window.length();
    kernel_busy += total(line.kernel_busy);
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      const auto activity = line.rows[i];
      if (activities.kind[activity] != ActivityKind::kernel) continue;
      kernel_time += line.spans[i].length();
      const auto weight = static_cast<long double>(line.exclusive_ns[i]);
      for (std::size_t rung = 0; rung < kKernelLevels; ++rung) {
        const auto level = static_cast<KernelLevel>(rung);
        if (!kernel_levels.has(level)) continue;
        auto& sum = sums[rung];
        const double ratio = kernel_levels.of(activity, level);
        if (std::isnan(ratio)) {
          sum.bound += weight * kernel_levels.upper(activity, level);
          continue;
        }
        sum.any = true;
        sum.known += weight * ratio;
        sum.covered += weight;
        if (const double cycles = kernel_levels.cycles(activity); cycles > 0) {
          sum.active_cycles += static_cast<long double>(ratio) * cycles;
          sum.cycles += cycles;
        }
      }
    }
  }
  std::vector<Level> levels;
  if (window <= 0) return levels;
  const auto T = static_cast<long double>(window);
  auto from_trace = [&](const char* id, Nanos ns, const char* formula) {
    Level level;
    level.id = id;
    level.value = level.low = level.high = static_cast<double>(ns / T);
    level.coverage = 1.0;
    level.formula = formula;
    levels.push_back(std::move(level));
  };
  from_trace("gpu.busy", kernel_busy, "union of kernel intervals / window");
  from_trace("gpu.kernel_time", kernel_time, "sum of kernel durations / window");
  for (std::size_t rung = 0; rung < kKernelLevels; ++rung) {
    const auto id = static_cast<KernelLevel>(rung);
    const auto& sum = sums[rung];
    const bool rate = id == KernelLevel::l2_hit_rate || id == KernelLevel::l1_hit_rate;
    if (!sum.any) {
      if (rung >= kRungs) continue;  // beside the ladder: shown when there is data
      Level level;
      level.id = id_of(id);
      level.why_missing = why_missing(context, id);
      levels.push_back(std::move(level));
      continue;
    }
    Level level;
    level.id = id_of(id);
    // Hit rates are shares of accesses, not of time: their mean over kernel time says nothing of
    // the window.
    long double whole = 0;
    if (rate) {
      whole = sum.covered;
    } else {
      whole = T;
    }
    if (whole <= 0) continue;
    level.value = level.low = static_cast<double>(sum.known / whole);
    if (rate) {
      level.high = level.value;
    } else {
      level.high = static_cast<double>((sum.known + sum.bound) / whole);
    }
    if (kernel_busy > 0) {
      level.coverage = static_cast<double>(sum.covered / kernel_busy);
    } else {
      level.coverage = 0.0;
    }
    if (sum.cycles > 0)
      level.by_cycles =
          static_cast<double>(sum.active_cycles / sum.cycles * (rate ? 1 : sum.covered / T));
    level.formula = kernel_levels.formula(id);
    levels.push_back(std::move(level));
  }
  return levels;
}

std::vector<LevelSpread> level_spreads(std::span<const std::uint32_t> activities,
                                       std::span<const double> weights,
                                       const KernelLevels& kernel_levels) {
  std::vector<LevelSpread> spreads;
  std::vector<double> values, known_weights;
  for (std::size_t rung = 0; rung < kKernelLevels; ++rung) {
    const auto level = static_cast<KernelLevel>(rung);
    if (!kernel_levels.has(level)) continue;
    values.clear();
    known_weights.clear();
    for (std::size_t i = 0; i < activities.size(); ++i) {
      const double ratio = kernel_levels.of(activities[i], level);
      if (std::isnan(ratio)) continue;
      values.push_back(ratio);
      known_weights.push_back(weights[i]);
    }
    if (values.empty()) continue;
    LevelSpread spread;
    spread.id = id_of(level);
    spread.spread = distribution(values, known_weights);
    spread.value = spread.spread.mean;
    spreads.push_back(std::move(spread));
  }
  return spreads;
}

}  // namespace gf
