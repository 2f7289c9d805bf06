#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyze/sweep/sweep.h"
#include "model/metric_id.h"

namespace gf {

namespace {

constexpr double kNearFull = 0.90;   // "close to 100 %"
constexpr double kGenerally = 0.75;  // share of the series that a "generally" needs
constexpr double kSmLeast = 0.01, kSmMost = 0.15;
constexpr double kIssueMost = 0.50;
constexpr double kTensorIssueMost = 0.052;
constexpr double kMost = 0.50;  // "most kernels"
constexpr std::size_t kEnoughBatches = 3;
constexpr double kNoise = 0.02;  // throughputs this close are alike

struct Judged {
  TakeawayVerdict verdict = TakeawayVerdict::cannot_tell;
  std::string evidence;
};

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

/// What one takeaway looks at in each series or run, with the extremes and how many keep its bound.
struct Tally {
  std::size_t count = 0, kept = 0;
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();
  std::string lowest_name, highest_name;
  void add(double value, bool keeps, const std::string& name) {
    ++count;
    if (keeps) ++kept;
    if (value < lowest) {
      lowest = value;
      lowest_name = name;
    }
    if (value > highest) {
      highest = value;
      highest_name = name;
    }
  }
  bool all() const { return kept == count; }
  /// "3 of 4 series; 12.0 % (a) to 80.0 % (b)".
  std::string text(std::string_view things) const {
    std::string out = fmt::format("{} of {} {}: ", kept, count, things);
    if (count == 1 || lowest_name == highest_name) return out + percent(lowest);
    return out + fmt::format("{} ({}) to {} ({})", percent(lowest), lowest_name, percent(highest),
                             highest_name);
  }
};

TakeawayVerdict verdict_of(bool holds) {
  if (holds) return TakeawayVerdict::holds;
  return TakeawayVerdict::does_not_hold;
}

Judged judged(const Tally& tally, bool holds, std::string_view things, std::string_view missing) {
  if (tally.count == 0) return {TakeawayVerdict::cannot_tell, std::string(missing)};
  return {verdict_of(holds), tally.text(things)};
}

const SweepRun& representative(const Sweep& sweep, const SweepSeries& series) {
  return sweep.runs[static_cast<std::size_t>(series.representative)];
}

/// SM activity of a run; samples know it only for "any warp in the SM", which lies at or above it.
Share sm_active(const SweepRun& run) {
  const Share exact = level_of(run, "sm.active"_metric);
  if (exact) return exact;
  return level_of(run, "sm.active_any"_metric);
}

std::string run_name(const Sweep& sweep, const SweepSeries& series, const SweepRun& run) {
  (void)sweep;
  if (!run.batch) return series.name;
  return fmt::format("{} b{}", series.name, *run.batch);
}

Judged gpu_near_full(const Sweep& sweep) {
  Tally tally;
  for (const auto& series : sweep.series) {
    const SweepRun& run = representative(sweep, series);
    if (const Share busy = level_of(run, "gpu.busy"_metric))
      tally.add(*busy, *busy >= kNearFull, run_name(sweep, series, run));
  }
  const bool generally =
      static_cast<double>(tally.kept) >= kGenerally * static_cast<double>(tally.count);
  return judged(tally, generally, "series are busy for 90 % or more",
                "no run has the level of the whole GPU");
}

Judged sm_below_gpu(const Sweep& sweep) {
  Tally tally;
  for (const auto& series : sweep.series) {
    const SweepRun& run = representative(sweep, series);
    const Share busy = level_of(run, "gpu.busy"_metric), active = sm_active(run);
    if (!busy || !active) continue;
    const double below = *busy - *active;
    tally.add(below, below >= kSmLeast && below <= kSmMost, run_name(sweep, series, run));
  }
  return judged(tally, tally.all(), "series are 1 to 15 points below", "no run has SM activity");
}

Judged below_everywhere(const Sweep& sweep, std::string_view id, double most,
                        std::string_view things, std::string_view missing) {
  Tally tally;
  for (const auto& series : sweep.series)
    for (const auto at : series.runs) {
      const SweepRun& run = sweep.runs[static_cast<std::size_t>(at)];
      if (const Share value = level_of(run, id))
        tally.add(*value, *value < most, run_name(sweep, series, run));
    }
  return judged(tally, tally.all(), things, missing);
}

Judged most_kernels_without_tensor(const Sweep& sweep) {
  Tally tally;
  for (const auto& series : sweep.series)
    if (const Share without = series.instances_without_tensor)
      tally.add(*without, *without > kMost, series.name);
  return judged(tally, tally.all(), "series launch mostly kernels without tensor cores",
                "no run has kernels with their tensor activity");
}

Judged batch_saturates(const Sweep& sweep) {
  std::size_t looked_at = 0, saturated = 0, growing = 0;
  std::string examples;
  for (const auto& series : sweep.series) {
    std::vector<const SweepRun*> runs;
    for (const auto at : series.runs) {
      const SweepRun& run = sweep.runs[static_cast<std::size_t>(at)];
      if (run.batch && run.throughput) runs.push_back(&run);
    }
    if (runs.size() < kEnoughBatches) continue;
    ++looked_at;
    if (!series.saturation_batch) continue;
    ++saturated;
    const SweepRun& at = representative(sweep, series);
    const SweepRun& largest = *runs.back();
    if (at.memory_bytes && largest.memory_bytes && *largest.memory_bytes > *at.memory_bytes)
      ++growing;
    if (saturated <= 3)
      examples += fmt::format("; {} at batch {}", series.name, *series.saturation_batch);
  }
  if (looked_at == 0)
    return {TakeawayVerdict::cannot_tell, "no series has three batches with their throughput"};
  const bool holds = saturated == looked_at;
  return {verdict_of(holds),
          fmt::format("{} of {} series saturate below their largest batch{}; in {} of them the "
                      "largest needs more memory",
                      saturated, looked_at, examples, growing)};
}

/// Throughput of runs over that of the same run with another value of one axis.
Tally gains(const Sweep& sweep, std::string SweepRun::* axis, std::string_view before,
            const std::vector<std::string_view>& after) {
  Tally tally;
  for (const auto& run : sweep.runs) {
    if (!run.throughput || std::find(after.begin(), after.end(), run.*axis) == after.end())
      continue;
    for (const auto& other : sweep.runs) {
      SweepRun wanted = run;
      wanted.*axis = before;
      const bool same = other.model == wanted.model && other.gpu == wanted.gpu &&
                        other.framework == wanted.framework && other.mode == wanted.mode &&
                        other.precision == wanted.precision && other.batch == wanted.batch;
      if (!same || !other.throughput || *other.throughput <= 0) continue;
      const double gain = *run.throughput / *other.throughput;
      tally.add(gain, gain > 1 - kNoise,
                fmt::format("{} {} b{}", run.model, run.framework, run.batch.value_or(0)));
    }
  }
  return tally;
}

Judged software_pays(const Sweep& sweep) {
  const Tally mixed = gains(sweep, &SweepRun::precision, "fp32", {"amp", "bf16", "fp16"});
  const Tally compiled = gains(sweep, &SweepRun::mode, "eager", {"compile", "graphs"});
  if (mixed.count + compiled.count == 0)
    return {TakeawayVerdict::cannot_tell,
            "no two runs differ in precision (fp32, amp) or mode (eager, compile) alone"};
  std::string text;
  const auto tell = [&](const Tally& tally, std::string_view what) {
    if (tally.count == 0) return;
    text += fmt::format("{}{} is no slower in {} of {} pairs ({:.2f} times, {}, to {:.2f} times)",
                        !text.empty() ? "; " : "", what, tally.kept, tally.count, tally.lowest,
                        tally.lowest_name, tally.highest);
  };
  tell(mixed, "mixed precision");
  tell(compiled, "compiled execution");
  return {verdict_of(mixed.all() && compiled.all()), text};
}

Judged judge(TakeawayId id, const Sweep& sweep) {
  switch (id) {
    case TakeawayId::gpu_near_full:
      return gpu_near_full(sweep);
    case TakeawayId::sm_below_gpu:
      return sm_below_gpu(sweep);
    case TakeawayId::issue_below_half:
      return below_everywhere(sweep, "issue.active"_metric, kIssueMost, "runs are below 50 %",
                              "no run has issue slots");
    case TakeawayId::tensor_issue_small:
      return below_everywhere(sweep, "tensor.issue"_metric, kTensorIssueMost,
                              "runs are below 5.2 %",
                              "no run has tensor instructions: samples lack them, a counter report "
                              "(ncu) has them");
    case TakeawayId::most_kernels_without_tensor:
      return most_kernels_without_tensor(sweep);
    case TakeawayId::batch_saturates:
      return batch_saturates(sweep);
    case TakeawayId::software_pays:
      return software_pays(sweep);
  }
  return {};
}

}  // namespace

std::vector<Takeaway> judge_takeaways(const Sweep& sweep) {
  std::vector<Takeaway> takeaways;
  const auto add = [&](TakeawayId id, std::string_view statement) {
    Judged answer = judge(id, sweep);
    takeaways.push_back({id, answer.verdict, std::string(statement), std::move(answer.evidence)});
  };
#define GF_TAKEAWAY(id, statement) add(TakeawayId::id, statement);
#include "analyze/sweep/takeaways.def"
#undef GF_TAKEAWAY
  return takeaways;
}

}  // namespace gf
