#include "analyze/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/compare/rows.h"
#include "analyze/compare/verdicts.h"
#include "analyze/sampled/sampled.h"

namespace gf {

namespace {

/// Steps in the window: those of marks and kernels, or as many as the period of a sampled device's
/// activity makes.
std::int64_t steps_in(const Analysis& analysis) {
  constexpr double kClear = 0.6;  // correlation from which a period is taken for a step
  if (!only_samples(analysis)) return static_cast<std::int64_t>(analysis.window.steps.size());
  const auto& device = analysis.samples.devices.front();
  if (analysis.samples.devices.size() != 1 || !device.step_ns ||
      device.step_confidence.value_or(0) < kClear)
    return 0;
  return std::llround(static_cast<double>(analysis.window.duration_ns) / *device.step_ns);
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
      tables.time.add(run, ComparedRowKind::copy, "copies and sets", device.copy_only_ns);
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
  if (analysis.devices.empty()) {
    run.device = "";
  } else {
    run.device = analysis.devices[0].name;
  }
  run.steps = steps_in(analysis);
  if (only_samples(analysis) && run.steps > 0) {
    run.step_source = "period of the device's activity";
  } else {
    run.step_source = analysis.window.step_source;
  }
  for (const auto& step : analysis.window.steps) run.step_ns.push_back(step.duration_ns);
  for (const auto& device : analysis.devices)
    run.devices += device.busy_ns > 0 || only_samples(analysis);
  run.slowed =
      std::any_of(analysis.findings.begin(), analysis.findings.end(),
                  [](const Finding& finding) { return finding.id == FindingId::observer_effect; });
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

Comparison compare(const std::vector<Analysis>& analyses, const std::vector<RunFacts>& facts,
                   const std::vector<std::int64_t>& batches) {
  Comparison result;
  const std::size_t runs = analyses.size();
  const bool by_step = std::all_of(analyses.begin(), analyses.end(),
                                   [](const Analysis& analysis) { return steps_in(analysis) > 0; });
  const bool by_phases = std::any_of(analyses.begin(), analyses.end(), host_only);
  if (by_step) {
    result.per = "step";
  } else {
    result.per = "window";
  }
  result.ranks_of_one_job = facts.size() == runs && are_ranks_of_one_job(facts);
  CompareTables tables(runs);
  for (std::size_t at = 0; at < runs; ++at) {
    const Analysis& analysis = analyses[at];
    ComparedRun run = describe_run(analysis);
    std::int64_t parts = 1;
    if (by_step) parts = run.steps;
    add_rows(tables, at, analysis, by_phases);
    add_times(run, tables, at, analysis, by_phases, parts);
    std::optional<std::int64_t> given, from_shapes;
    if (!batches.empty()) given = batches[batches.size() == 1 ? 0 : at];
    if (at < facts.size()) {
      from_shapes = facts[at].batch;
      run.precision = facts[at].precision;
      run.profiler = facts[at].profiler;
      run.rank = facts[at].rank;
    }
    add_items(run, analysis, given, from_shapes, parts, by_step);
    result.runs.push_back(std::move(run));
  }
  label_runs(result.runs);
  result.differences = find_differences(result);
  judge(result);
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
