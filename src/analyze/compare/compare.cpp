#include "analyze/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/compare/measured_run.h"
#include "analyze/compare/settings.h"
#include "analyze/findings/finding_rows.h"
#include "analyze/sampled/sampled.h"
#include "core/apportion.h"

namespace gf {

namespace {

/// The last `parts` parts of a path.
std::string end_of(const std::string& path, std::size_t parts) {
  std::size_t at = path.size();
  while (parts-- > 0 && at != 0 && at != path.npos) at = path.rfind('/', at - 1);
  return at == path.npos || at == 0 ? path : path.substr(at + 1);
}

/// The shortest ends of the paths that tell the runs apart: "trace.json", or "a/trace.json" and
/// "b/trace.json".
void label_runs(std::vector<ComparedRun>& runs) {
  constexpr std::size_t kMostParts = 64;
  std::set<std::string> paths;
  for (const auto& run : runs) paths.insert(run.path);
  for (std::size_t parts = 1; parts <= kMostParts; ++parts) {
    std::set<std::string> labels;
    for (auto& run : runs) labels.insert(run.label = end_of(run.path, parts));
    if (labels.size() == paths.size()) return;
  }
}

/// True when the runs are different ranks of the same job: one world, other ranks, the same time.
bool are_ranks_of_one_job(const std::vector<RunFacts>& facts) {
  std::set<std::int64_t> ranks;
  Interval shared{INT64_MIN, INT64_MAX};
  for (const auto& run : facts) {
    if (!run.rank || !run.world_size || *run.world_size < 2) return false;
    if (run.world_size != facts[0].world_size || !ranks.insert(*run.rank).second) return false;
    shared = {std::max(shared.start, run.extent.start), std::min(shared.end, run.extent.end)};
  }
  // Two jobs of as many ranks ran at different times; hosts' clocks may be a little apart.
  constexpr Nanos kClocks = 10'000'000'000;
  return !facts.empty() && shared.end - shared.start > -kClocks;
}

/// Judges a run against the first by the steps of both versions. `items`: of the first run for one
/// of this.
void judge_change(ComparedChange& change, const MeasuredChange& measured, double items) {
  const auto take = [items](const std::optional<MeasuredRatio>& found, Share& ratio, Share& low,
                            Share& high, ComparedVerdict& verdict) {
    if (!found) return;
    MeasuredRatio scaled = *found;
    scaled.scale(items);
    ratio = scaled.ratio;
    low = scaled.low;
    high = scaled.high;
    verdict = verdict_of(scaled);
  };
  take(measured.step, change.ratio, change.low, change.high, change.verdict);
  take(measured.kernels, change.kernel_ratio, change.kernel_low, change.kernel_high,
       change.kernel_verdict);
  if (!measured.step) return;
  change.captures = measured.step->captures;
  change.remarks = remarks_on(*measured.step);
  if (change.verdict == ComparedVerdict::undecided)
    change.captures_needed = captures_to_tell(*measured.step);
}

/// Ratios with their bounds, and the verdicts. Sets speedup.
void judge(Comparison& comparison, const std::vector<MeasuredVersion>& versions) {
  const ComparedRun& first = comparison.runs[0];
  for (std::size_t at = 0; at < comparison.runs.size(); ++at) {
    ComparedRun& run = comparison.runs[at];
    const bool by_item = first.item_ns && run.item_ns && first.batch != run.batch;
    const double items =
        by_item ? static_cast<double>(*first.batch) / static_cast<double>(*run.batch) : 1.0;
    if (run.wall_ns > 0)
      run.speedup = static_cast<double>(first.wall_ns) / static_cast<double>(run.wall_ns) / items;
    if (comparison.ranks_of_one_job) run.speedup.reset();
    if (at == 0) continue;
    ComparedChange change;
    change.run = static_cast<std::int64_t>(at);
    change.of = by_item ? "item" : comparison.per;
    if (first.wall_ns > 0 && run.wall_ns > 0)
      change.ratio = items * static_cast<double>(run.wall_ns) / static_cast<double>(first.wall_ns);
    if (first.kernel_ns > 0 && run.kernel_ns > 0)
      change.kernel_ratio =
          items * static_cast<double>(run.kernel_ns) / static_cast<double>(first.kernel_ns);
    const auto measured = measure_change(versions[0], versions[at]);
    if (!comparison.ranks_of_one_job) change.refused = measured.refused;
    if (measured.refused.empty())
      judge_change(change, measured, items);
    else
      run.speedup.reset();
    if (change.ratio && (first.slowed || run.slowed) && first.profiler_ns < first.wall_ns) {
      change.own_low = *change.ratio * (1 - static_cast<double>(run.profiler_ns) /
                                                static_cast<double>(run.wall_ns));
      change.own_high = *change.ratio / (1 - static_cast<double>(first.profiler_ns) /
                                                 static_cast<double>(first.wall_ns));
    }
    if (comparison.ranks_of_one_job)
      change.verdict = change.kernel_verdict = ComparedVerdict::same_job;
    comparison.changes.push_back(std::move(change));
  }
}

/// Rows of one table by (kind, name); a run that lacks a row has 0 there.
class ComparedRows {
 public:
  explicit ComparedRows(std::size_t runs) : runs_(runs) {}
  void add(std::size_t run, ComparedRowKind kind, std::string_view name, Nanos ns,
           std::int64_t count = 0);
  /// Labels of kernels: the short name, with the operator where kernels of different names share
  /// it, and a number where they still look alike in a table's width.
  void label_kernels(const std::vector<Analysis>& analyses);
  /// Scales a run's rows to sum to `total` in whole nanoseconds, and its counts to those of one of
  /// `steps`.
  void scale(std::size_t run, Nanos total, std::int64_t steps);
  /// The part of a run's rows that is of one kind.
  Nanos sum_of(std::size_t run, ComparedRowKind kind) const;
  /// The rows with their changes, the largest change first.
  std::vector<ComparedTime> take();

 private:
  std::size_t runs_;
  std::map<std::pair<ComparedRowKind, std::string>, std::size_t> index_;
  std::vector<ComparedTime> rows_;
};

/// A label as a narrow table shows it, with its middle cut out.
std::string in_a_table(std::string_view label) {
  constexpr std::size_t kEnds = 10;
  if (label.size() <= 2 * kEnds + 2) return std::string(label);
  return std::string(label.substr(0, kEnds)) + ".." +
         std::string(label.substr(label.size() - kEnds));
}

/// Numbers those that look alike: "gemm (1)", "gemm (2)".
void tell_apart(std::vector<ComparedTime>& rows) {
  std::map<std::string, int> alike, seen;
  for (const auto& row : rows) ++alike[in_a_table(row.label)];
  for (auto& row : rows) {
    const std::string look = in_a_table(row.label);
    if (alike[look] > 1) row.label += " (" + std::to_string(++seen[look]) + ")";
  }
}

void ComparedRows::add(std::size_t run, ComparedRowKind kind, std::string_view name, Nanos ns,
                       std::int64_t count) {
  auto [at, added] = index_.try_emplace({kind, std::string(name)}, rows_.size());
  if (added)
    rows_.push_back({at->first.first,
                     at->first.second,
                     at->first.second,
                     std::vector<Nanos>(runs_, 0),
                     {},
                     std::vector<double>(runs_, 0)});
  rows_[at->second].ns[run] += ns;
  rows_[at->second].count[run] += static_cast<double>(count);
}

void ComparedRows::label_kernels(const std::vector<Analysis>& analyses) {
  std::map<std::string_view, const KernelRow*> by_name;
  for (const Analysis& analysis : analyses)
    for (const auto& kernel : analysis.kernels) by_name.try_emplace(kernel.name, &kernel);
  std::map<std::string_view, int> alike;
  for (const auto& [name, kernel] : by_name) ++alike[kernel->short_name];
  for (auto& row : rows_) {
    const auto& kernel = *by_name.at(row.name);
    row.label = kernel.short_name;
    if (alike[kernel.short_name] > 1 && !kernel.operator_name.empty())
      row.label += " " + kernel.operator_name;
  }
  tell_apart(rows_);
}

void ComparedRows::scale(std::size_t run, Nanos total, std::int64_t steps) {
  std::vector<double> weights;
  for (const auto& row : rows_) weights.push_back(static_cast<double>(row.ns[run]));
  const auto parts = apportion(total, weights);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].ns[run] = parts[i];
    rows_[i].count[run] /= static_cast<double>(steps);
  }
}

Nanos ComparedRows::sum_of(std::size_t run, ComparedRowKind kind) const {
  Nanos total = 0;
  for (const auto& row : rows_)
    if (row.kind == kind) total += row.ns[run];
  return total;
}

std::vector<ComparedTime> ComparedRows::take() {
  for (auto& row : rows_)
    for (std::size_t run = 0; run < runs_; ++run) row.change_ns.push_back(row.ns[run] - row.ns[0]);
  const auto largest = [](const std::vector<Nanos>& values) {
    Nanos most = 0;
    for (const Nanos value : values) most = std::max<Nanos>(most, std::abs(value));
    return most;
  };
  std::stable_sort(rows_.begin(), rows_.end(), [&](const auto& left, const auto& right) {
    if (largest(left.change_ns) != largest(right.change_ns))
      return largest(left.change_ns) > largest(right.change_ns);
    return largest(left.ns) > largest(right.ns);
  });
  return std::move(rows_);
}

/// Steps in the window: those of marks and kernels, or as many as the period of a sampled device's
/// activity makes.
std::int64_t steps_in(const Analysis& analysis) {
  if (!only_samples(analysis)) return static_cast<std::int64_t>(analysis.window.steps.size());
  const auto period = sampled_step(analysis);
  return period ? std::llround(static_cast<double>(analysis.window.duration_ns) / *period) : 0;
}

std::string layer_name(const LayerRow& layer) {
  return layer.name +
         (layer.phase == TrainingPhase::other ? "" : fmt::format(" ({})", name_of(layer.phase)));
}

/// No device worked, and none was sampled: all that is known is the host's time.
bool host_only(const Analysis& analysis) {
  return !only_samples(analysis) &&
         std::none_of(analysis.devices.begin(), analysis.devices.end(),
                      [](const DeviceUse& device_use) { return device_use.span_ns > 0; });
}

Nanos divided(Nanos total, std::int64_t parts) { return (total + parts / 2) / parts; }

/// The tables while they grow.
struct CompareTables {
  ComparedRows time, bars, phases, layers, kernels;
  explicit CompareTables(std::size_t runs)
      : time(runs), bars(runs), phases(runs), layers(runs), kernels(runs) {}
};

void add_device_time(CompareTables& tables, std::size_t run, const Analysis& analysis) {
  for (const auto& device : analysis.devices) {
    for (const auto& bar : device.waterfall)
      if (bar.ns > 0) tables.bars.add(run, ComparedRowKind::bar, name_of(bar.id), bar.ns);
    if (only_samples(analysis)) {  // no layer to give busy time to: its bars instead
      for (const auto& bar : device.waterfall)
        if (bar.ns > 0) tables.time.add(run, ComparedRowKind::bar, name_of(bar.id), bar.ns);
      continue;
    }
    for (const auto& cause : device.idle)
      tables.time.add(run, ComparedRowKind::idle, name_of(cause.cause), cause.ns);
    if (device.copy_only_ns > 0)
      tables.time.add(run, ComparedRowKind::copy, kCopiesAndSets, device.copy_only_ns);
  }
  for (const auto& type : analysis.layer_types)
    tables.time.add(run, ComparedRowKind::layer_type, name_of(type.type), type.ns, type.kernels);
}

void add_rows(CompareTables& tables, std::size_t run, const Analysis& analysis, bool by_phases) {
  if (!by_phases) add_device_time(tables, run, analysis);
  for (const auto& phase : analysis.runtime.phases) {
    if (phase.ns == 0) continue;
    tables.phases.add(run, ComparedRowKind::phase, name_of(phase.phase), phase.ns);
    if (by_phases) tables.time.add(run, ComparedRowKind::phase, name_of(phase.phase), phase.ns);
  }
  for (const auto& layer : analysis.layers)
    tables.layers.add(run, ComparedRowKind::layer, layer_name(layer), layer.ns, layer.kernels);
  for (const auto& kernel : analysis.kernels)
    tables.kernels.add(run, ComparedRowKind::kernel, kernel.name, kernel.ns, kernel.count);
}

ComparedRun describe_run(const Analysis& analysis) {
  ComparedRun run;
  run.path = analysis.source.path;
  run.device = analysis.devices.empty() ? "" : analysis.devices[0].name;
  run.steps = steps_in(analysis);
  run.window = analysis.window.kind;
  run.step_source = only_samples(analysis) && run.steps > 0 ? "period of the device's activity"
                                                            : analysis.window.step_source;
  for (const auto& step : analysis.window.steps) run.step_ns.push_back(step.duration_ns);
  for (const auto& device : analysis.devices)
    run.devices += device.busy_ns > 0 || only_samples(analysis);
  run.slowed = find_with(analysis.findings, &FindingRow::of_profiler) != nullptr;
  return run;
}

/// Times of the run and of one of its `parts` steps; the rows are scaled to them.
void add_times(ComparedRun& run, CompareTables& tables, std::size_t at, const Analysis& analysis,
               bool by_phases, std::int64_t parts) {
  Nanos longest = 0;
  for (const auto& device : analysis.devices) {
    run.total_ns += device.span_ns;
    longest = std::max(longest, device.span_ns);
  }
  const Nanos host = analysis.runtime.duration_ns;
  if (by_phases) run.total_ns = longest = host;
  run.time_ns = divided(run.total_ns, parts);
  run.wall_ns = divided(longest, parts);
  if (!by_phases) run.profiler_ns = divided(analysis.window.profiler_ns.value_or(0), parts);
  tables.time.scale(at, run.time_ns, parts);
  if (!by_phases) tables.bars.scale(at, run.time_ns, parts);
  tables.phases.scale(at, divided(host, parts), parts);
  Nanos kernels = tables.time.sum_of(at, ComparedRowKind::layer_type);
  if (by_phases) kernels = 0;
  run.kernel_ns = kernels;
  tables.layers.scale(at, kernels, parts);
  tables.kernels.scale(at, kernels, parts);
}

void add_items(ComparedRun& run, const Analysis& analysis, std::optional<std::int64_t> given,
               std::optional<std::int64_t> from_shapes, std::int64_t parts, bool by_step) {
  constexpr double kNanojoules = 1e9;
  run.tokens_per_s = analysis.work.throughput.tokens_per_s;
  run.flops_per_s = analysis.work.flops_per_s;
  run.mfu = analysis.work.mfu;
  double nanojoules = 0;
  for (const auto& device : analysis.energy.devices) nanojoules += static_cast<double>(device.nj);
  if (!analysis.energy.devices.empty())
    run.joules = nanojoules / kNanojoules / static_cast<double>(parts);
  if (!by_step) return;  // the window holds nobody knows how many batches
  if (given) {
    run.batch = given;
    run.batch_source = "given";
  } else if (from_shapes) {
    run.batch = from_shapes;
    run.batch_source = "shapes";
  }
  if (!run.batch) return;
  run.item_ns = static_cast<double>(run.wall_ns) / static_cast<double>(*run.batch);
  if (run.wall_ns > 0) run.items_per_s = 1e9 / *run.item_ns;
  if (run.joules) run.joules_per_item = *run.joules / static_cast<double>(*run.batch);
}

std::vector<ComparedQueue> queues_of(const std::vector<Analysis>& analyses) {
  std::map<std::string, std::size_t> index;
  std::vector<ComparedQueue> queues;
  for (std::size_t run = 0; run < analyses.size(); ++run)
    for (const auto& queue : analyses[run].runtime.queues) {
      const auto [at, added] = index.try_emplace(queue.id, queues.size());
      if (added) {
        auto& row = queues.emplace_back();
        row.id = queue.id;
        row.mean_depth.resize(analyses.size());
        row.empty.resize(analyses.size());
        row.wait_ns.resize(analyses.size());
      }
      auto& row = queues[at->second];
      row.mean_depth[run] = queue.mean_depth;
      row.empty[run] = queue.empty;
      if (queue.wait.count > 0) row.wait_ns[run] = queue.wait.median;
    }
  return queues;
}

std::vector<ComparedLevel> levels_of(const std::vector<Analysis>& analyses) {
  std::map<std::string, std::size_t> index;
  std::vector<ComparedLevel> levels;
  for (std::size_t run = 0; run < analyses.size(); ++run)
    for (const auto& level : analyses[run].levels) {
      const auto [at, added] = index.try_emplace(level.id, levels.size());
      if (added) levels.push_back({level.id, std::vector<Share>(analyses.size())});
      levels[at->second].value[run] = level.value;
    }
  return levels;
}

}  // namespace

std::string run_letter(std::size_t run) {
  constexpr std::size_t kLetters = 26;
  std::string text;
  for (++run; run > 0; run = (run - 1) / kLetters)
    text.insert(text.begin(), static_cast<char>('A' + (run - 1) % kLetters));
  return text;
}

Comparison compare(const std::vector<Analysis>& analyses, const std::vector<RunFacts>& facts,
                   const std::vector<std::int64_t>& batches,
                   const std::vector<MeasuredVersion>& versions) {
  Comparison result;
  const std::size_t runs = analyses.size();
  const bool by_step = std::all_of(analyses.begin(), analyses.end(),
                                   [](const Analysis& analysis) { return steps_in(analysis) > 0; });
  const bool by_phases = std::any_of(analyses.begin(), analyses.end(), host_only);
  result.per = by_step ? "step" : "window";
  result.ranks_of_one_job = facts.size() == runs && are_ranks_of_one_job(facts);
  // Sequences of one run are no rows of another.
  std::set<std::string_view> kinds;
  for (const RunFacts& run : facts)
    if (run.batch) kinds.insert(run.items);
  const bool alike = kinds.size() <= 1;
  CompareTables tables(runs);
  for (std::size_t at = 0; at < runs; ++at) {
    const Analysis& analysis = analyses[at];
    ComparedRun run = describe_run(analysis);
    std::int64_t parts = by_step ? run.steps : 1;
    add_rows(tables, at, analysis, by_phases);
    add_times(run, tables, at, analysis, by_phases, parts);
    std::optional<std::int64_t> given, from_shapes;
    if (!batches.empty()) given = batches[batches.size() == 1 ? 0 : at];
    if (at < facts.size()) {
      if (alike) from_shapes = facts[at].batch;
      if (alike && by_step) run.tokens = facts[at].tokens;
      run.precision = facts[at].precision;
      run.profiler = facts[at].profiler;
      run.rank = facts[at].rank;
    }
    add_items(run, analysis, given, from_shapes, parts, by_step);
    if (versions[at].size() > 1)
      for (const auto& capture : versions[at]) run.captures.push_back(capture.path);
    result.runs.push_back(std::move(run));
  }
  label_runs(result.runs);
  result.differences = find_differences(result);
  judge(result, versions);
  result.levels = levels_of(analyses);
  result.queues = queues_of(analyses);
  tables.kernels.label_kernels(analyses);
  result.time = tables.time.take();
  result.waterfall = tables.bars.take();
  result.phases = tables.phases.take();
  result.layers = tables.layers.take();
  result.kernels = tables.kernels.take();
  return result;
}

}  // namespace gf
