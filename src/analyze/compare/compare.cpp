#include "analyze/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "analyze/sampled/sampled.h"
#include "core/apportion.h"

namespace gf {

namespace {

/// Rows of one table by (kind, name); a run that lacks a row has 0 there.
class Rows {
 public:
  explicit Rows(std::size_t runs) : runs_(runs) {}
  void add(std::size_t run, ComparedKind kind, std::string_view name, Nanos ns,
           std::int64_t count = 0) {
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
  /// Labels of kernels: the short name, and the operator where kernels of different names share it.
  void label_kernels(const std::vector<Analysis>& analyses) {
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
  }
  /// Scales a run's rows to sum to `total` in whole nanoseconds, and its counts to those of one of
  /// `steps`.
  void scale(std::size_t run, Nanos total, std::int64_t steps) {
    std::vector<double> weights;
    for (const auto& row : rows_) weights.push_back(static_cast<double>(row.ns[run]));
    const auto parts = apportion(total, weights);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].ns[run] = parts[i];
      rows_[i].count[run] /= static_cast<double>(steps);
    }
  }
  /// The part of a run's rows that is kernel time.
  Nanos sum_of(std::size_t run, ComparedKind kind) const {
    Nanos total = 0;
    for (const auto& row : rows_)
      if (row.kind == kind) total += row.ns[run];
    return total;
  }
  std::vector<ComparedTime> take() {
    for (auto& row : rows_)
      for (std::size_t run = 0; run < runs_; ++run)
        row.change_ns.push_back(row.ns[run] - row.ns[0]);
    auto largest = [](const std::vector<Nanos>& values) {
      Nanos most = 0;
      for (Nanos value : values) most = std::max<Nanos>(most, std::abs(value));
      return most;
    };
    std::stable_sort(rows_.begin(), rows_.end(), [&](const auto& left, const auto& right) {
      if (largest(left.change_ns) != largest(right.change_ns))
        return largest(left.change_ns) > largest(right.change_ns);
      return largest(left.ns) > largest(right.ns);
    });
    return std::move(rows_);
  }

 private:
  std::size_t runs_;
  std::map<std::pair<ComparedKind, std::string>, std::size_t> index_;
  std::vector<ComparedTime> rows_;
};

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

}  // namespace

Comparison compare(const std::vector<Analysis>& analyses) {
  Comparison result;
  const std::size_t runs = analyses.size();
  const bool by_step = std::all_of(analyses.begin(), analyses.end(),
                                   [](const Analysis& analysis) { return steps_in(analysis) > 0; });
  if (by_step) {
    result.per = "step";
  } else {
    result.per = "window";
  }
  Rows time(runs), layers(runs), kernels(runs);
  std::map<std::string, std::vector<Share>> levels;
  std::vector<std::string> level_order;
  for (std::size_t index = 0; index < runs; ++index) {
    const Analysis& analysis = analyses[index];
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
    for (const auto& device : analysis.devices) {
      run.total_ns += device.span_ns;
      if (only_samples(analysis)) {  // no layer to give busy time to: its bars instead
        for (const auto& bar : device.waterfall)
          if (bar.ns > 0) time.add(index, ComparedKind::bar, name_of(bar.id), bar.ns);
        continue;
      }
      for (const auto& cause : device.idle)
        time.add(index, ComparedKind::idle, name_of(cause.cause), cause.ns);
      if (device.copy_only_ns > 0)
        time.add(index, ComparedKind::copy, "copies and sets", device.copy_only_ns);
    }
    for (const auto& type : analysis.layer_types)
      time.add(index, ComparedKind::layer_type, name_of(type.type), type.ns, type.kernels);
    for (const auto& layer : analysis.layers)
      layers.add(index, ComparedKind::layer, layer_name(layer), layer.ns, layer.kernels);
    for (const auto& kernel : analysis.kernels)
      kernels.add(index, ComparedKind::kernel, kernel.name, kernel.ns, kernel.count);
    for (const auto& level : analysis.levels) {
      auto [at, added] = levels.try_emplace(level.id, runs);
      if (added) level_order.push_back(level.id);
      at->second[index] = level.value;
    }
    std::int64_t parts = 1;
    if (by_step) parts = run.steps;
    run.time_ns = (run.total_ns + parts / 2) / parts;
    time.scale(index, run.time_ns, parts);
    const Nanos kernel_time = time.sum_of(index, ComparedKind::layer_type);
    layers.scale(index, kernel_time, parts);
    kernels.scale(index, kernel_time, parts);
    result.runs.push_back(std::move(run));
  }
  for (auto& run : result.runs)
    if (run.time_ns > 0)
      run.speedup = static_cast<double>(result.runs[0].time_ns) / static_cast<double>(run.time_ns);
  for (const auto& id : level_order) result.levels.push_back({id, levels[id]});
  kernels.label_kernels(analyses);
  result.time = time.take();
  result.layers = layers.take();
  result.kernels = kernels.take();
  return result;
}

}  // namespace gf
