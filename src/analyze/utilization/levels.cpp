#include "analyze/utilization/levels.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analyze/kernel_rates/kernel_rates.h"
#include "analyze/kernels/kernels.h"
#include "analyze/layers/layers.h"
#include "analyze/utilization/waterfall.h"
#include "analyze/workers.h"
#include "core/parallel.h"
#include "model/ledger/kernel_doubt.h"
#include "model/metrics.h"

namespace gf {
namespace {

std::string why_missing(const Context& context, KernelLevel level,
                        const KernelLevels& kernel_levels) {
  const Chip* chip = kernel_levels.chip();
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
    why = "PM sampling does not measure it";
  else
    why = "the report lacks " + counters;
  if (kernel_levels.report_helps()) why.append("; collect with: ").append(ncu_command(chip));
  return why;
}

struct Sums {
  long double known = 0;    // sum of w * ratio
  long double bound = 0;    // sum of w * upper level over kernels without data
  long double covered = 0;  // sum of w over kernels with data
  long double active_cycles = 0, cycles = 0;
  bool any = false;

  void add(const KernelLevels& levels, std::uint32_t activity, KernelLevel level,
           long double weight) {
    const double ratio = levels.of(activity, level);
    if (std::isnan(ratio)) {
      bound += weight * levels.upper(activity, level);
      return;
    }
    any = true;
    known += weight * ratio;
    covered += weight;
    if (const double elapsed = levels.cycles(activity); elapsed > 0) {
      active_cycles += static_cast<long double>(ratio) * elapsed;
      cycles += elapsed;
    }
  }
};

/// Sums of the levels over the kernels of some devices.
struct KernelSums {
  std::array<Sums, kKernelLevels> levels;
  Nanos window = 0, kernel_busy = 0, kernel_time = 0;
};

KernelSums sum_kernels(const Context& context, std::span<const DeviceTimeline> devices,
                       const KernelLevels& kernel_levels) {
  const auto& activities = context.capture.activities;
  KernelSums sums;
  std::vector<KernelLevel> known;
  for (std::size_t rung = 0; rung < kKernelLevels; ++rung)
    if (const auto level = static_cast<KernelLevel>(rung); kernel_levels.has(level))
      known.push_back(level);
  for (const auto& line : devices) {
    sums.window += line.window.length();
    sums.kernel_busy += line.kernel_busy_ns();
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      const auto activity = line.rows[i];
      if (activities.kind[activity] != ActivityKind::kernel) continue;
      sums.kernel_time += line.spans[i].length();
      const auto weight = static_cast<long double>(line.exclusive_ns[i]);
      for (const auto level : known)
        sums.levels[static_cast<std::size_t>(level)].add(kernel_levels, activity, level, weight);
    }
  }
  return sums;
}

Level level_from_trace(const char* id, Nanos ns, Nanos window, const char* formula) {
  Level level;
  level.id = id;
  level.value = level.low = level.high = static_cast<double>(ns / static_cast<long double>(window));
  level.coverage = 1.0;
  level.formula = formula;
  return level;
}

/// A level from counters of kernels, with bounds for the kernels that have none.
std::optional<Level> level_from_counters(KernelLevel id, const Sums& sum, const KernelSums& all) {
  // Hit rates are shares of accesses, not of time: their mean over kernel time says nothing of the
  // window.
  const bool rate = row_of(id).place == LevelPlace::of_accesses;
  const auto window = static_cast<long double>(all.window);
  long double whole = window;
  if (rate) whole = sum.covered;
  if (whole <= 0) return std::nullopt;
  Level level;
  level.id = id_of(id);
  level.value = level.low = level.high = static_cast<double>(sum.known / whole);
  if (!rate) level.high = static_cast<double>((sum.known + sum.bound) / whole);
  level.coverage = 0.0;
  if (all.kernel_busy > 0) level.coverage = static_cast<double>(sum.covered / all.kernel_busy);
  if (sum.cycles > 0) {
    long double share = 1;
    if (!rate) share = sum.covered / window;
    level.by_cycles = static_cast<double>(sum.active_cycles / sum.cycles * share);
  }
  return level;
}

/// Widens a share of the window by the kernels that may be missing, and by the time of those that
/// may be too long: bounded by the ledger, or, where a recorder counted its losses, as many as are
/// missing as long as those that are there.
void widen(const Capture& capture, Nanos window, Level& level) {
  const KernelDoubt doubt = kernel_doubt(capture);
  const auto kept = std::ranges::count(capture.activities.kind, ActivityKind::kernel);
  double missing = doubt.missing / static_cast<double>(window);
  if (kept > 0)
    missing += *level.value * static_cast<double>(doubt.launches) / static_cast<double>(kept);
  const double too_long = doubt.overlap / static_cast<double>(window);
  level.low = std::max(0.0, *level.low - too_long);
  level.high = std::max(*level.high, std::min(1.0, *level.high + missing));
}

/// True if `part` is a part of `whole` in every kernel, by the bounds of their rows. A tensor
/// instruction takes the pipe for a cycle at least.
bool is_part(std::string_view part, std::string_view whole) {
  if (part == "tensor.issue"_metric && whole == "tensor.active"_metric) return true;
  const auto row = std::ranges::find(kLevelRows, part, &LevelRow::id);
  return row != std::end(kLevelRows) && !row->bound.empty() &&
         (row->bound == whole || is_part(row->bound, whole));
}

/// Rungs that a report has no counter for lie between the levels that are parts of them and those
/// that they are parts of.
void bound_missing(std::vector<Level>& levels) {
  for (Level& level : levels) {
    if (level.value || level.low) continue;
    level.low = 0;
    level.high = 1;
    for (const Level& other : levels) {
      if (!other.value) continue;
      if (is_part(other.id, level.id)) level.low = std::max(*level.low, *other.low);
      if (is_part(level.id, other.id)) level.high = std::min(*level.high, *other.high);
    }
  }
}

}  // namespace

std::vector<Level> ladder(const Context& context, std::span<const DeviceTimeline> devices,
                          const KernelLevels& kernel_levels) {
  const KernelSums sums = sum_kernels(context, devices, kernel_levels);
  std::vector<Level> levels;
  if (sums.window <= 0) return levels;
  levels.push_back(level_from_trace("gpu.busy"_metric, sums.kernel_busy, sums.window,
                                    "union of kernel intervals / window"));
  widen(context.capture, sums.window, levels.back());
  levels.push_back(level_from_trace("gpu.kernel_time"_metric, sums.kernel_time, sums.window,
                                    "sum of kernel durations / window"));
  widen(context.capture, sums.window, levels.back());
  for (std::size_t rung = 0; rung < kKernelLevels; ++rung) {
    const auto id = static_cast<KernelLevel>(rung);
    if (sums.levels[rung].any) {
      auto level = level_from_counters(id, sums.levels[rung], sums);
      if (!level) continue;
      level->formula = kernel_levels.formula(id);
      levels.push_back(std::move(*level));
    } else if (rung < kRungs) {  // the others stand beside the ladder: shown when there is data
      Level level;
      level.id = id_of(id);
      level.why_missing = why_missing(context, id, kernel_levels);
      levels.push_back(std::move(level));
    }
  }
  if (std::ranges::any_of(sums.levels, &Sums::any)) bound_missing(levels);
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

LevelSections measure_levels(const Context& context, const KernelLevels& levels,
                             const std::vector<DeviceUse>& devices) {
  LevelSections sections;
  if (levels.adjusted > 0)
    sections.disagreement = {
        std::string(name_of(QualityCode::counters_disagree)), levels.adjusted,
        "kernels of the report with a ratio over 1 or over the level that bounds it, by more than "
        "2 % (counters of different passes); the bound is used"};
  sections.devices.resize(devices.size());
  const unsigned workers = workers_for(context, context.kernels.size());
  for_each_parallel(2 * devices.size(), workers, [&](std::size_t i) {
    const auto& line = context.devices[i / 2];
    auto& own = sections.devices[i / 2];
    if (i % 2 == 0)
      own.levels = ladder(context, {&line, 1}, levels);
    else
      own.waterfall = waterfall(context, line, devices[i / 2], levels);
  });
  sections.levels = devices.size() == 1 ? sections.devices.front().levels
                                        : ladder(context, context.devices, levels);
  return sections;
}

KernelSections measure_layers(const Context& context, const KernelLevels& levels) {
  if (context.omitted.kernels) return {layer_types(context, levels), {}, {}, {}};
  return {layer_types(context, levels), layer_rows(context, levels), kernel_table(context, levels),
          tensor_curve(context, levels)};
}

void put(KernelSections sections, Analysis& analysis) {
  analysis.layer_types = std::move(sections.layer_types);
  analysis.layers = std::move(sections.layers);
  analysis.kernels = std::move(sections.kernels);
  analysis.tensor_curve = std::move(sections.tensor_curve);
}

void put(LevelSections sections, Analysis& analysis) {
  if (sections.disagreement) analysis.quality.push_back(std::move(*sections.disagreement));
  analysis.levels = std::move(sections.levels);
  for (std::size_t device = 0; device < sections.devices.size(); ++device) {
    analysis.devices[device].levels = std::move(sections.devices[device].levels);
    analysis.devices[device].waterfall = std::move(sections.devices[device].waterfall);
  }
}

}  // namespace gf
