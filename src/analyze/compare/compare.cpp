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
    for (const Analysis& a : analyses)
      for (const auto& kernel : a.kernels) by_name.try_emplace(kernel.name, &kernel);
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
      for (std::size_t r = 0; r < runs_; ++r) row.change_ns.push_back(row.ns[r] - row.ns[0]);
    auto largest = [](const std::vector<Nanos>& v) {
      Nanos most = 0;
      for (Nanos n : v) most = std::max<Nanos>(most, std::abs(n));
      return most;
    };
    std::stable_sort(rows_.begin(), rows_.end(), [&](const auto& a, const auto& b) {
      if (largest(a.change_ns) != largest(b.change_ns))
        return largest(a.change_ns) > largest(b.change_ns);
      return largest(a.ns) > largest(b.ns);
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
std::int64_t steps_in(const Analysis& a) {
  constexpr double kClear = 0.6;  // correlation from which a period is taken for a step
  if (!only_samples(a)) return static_cast<std::int64_t>(a.window.steps.size());
  const auto& d = a.samples.devices.front();
  if (a.samples.devices.size() != 1 || !d.step_ns || d.step_confidence.value_or(0) < kClear)
    return 0;
  return std::llround(static_cast<double>(a.window.duration_ns) / *d.step_ns);
}

std::string layer_name(const LayerRow& layer) {
  return layer.name +
         (layer.phase == TrainingPhase::other ? "" : fmt::format(" ({})", name_of(layer.phase)));
}

}  // namespace

Comparison compare(const std::vector<Analysis>& analyses) {
  Comparison result;
  const std::size_t n = analyses.size();
  const bool by_step = std::all_of(analyses.begin(), analyses.end(),
                                   [](const Analysis& a) { return steps_in(a) > 0; });
  result.per = by_step ? "step" : "window";
  Rows time(n), layers(n), kernels(n);
  std::map<std::string, std::vector<Share>> levels;
  std::vector<std::string> level_order;
  for (std::size_t r = 0; r < n; ++r) {
    const Analysis& a = analyses[r];
    ComparedRun run;
    run.path = a.source.path;
    run.device = a.devices.empty() ? "" : a.devices[0].name;
    run.steps = steps_in(a);
    run.step_source =
        only_samples(a) && run.steps > 0 ? "period of the device's activity" : a.window.step_source;
    for (const auto& d : a.devices) {
      run.total_ns += d.span_ns;
      if (only_samples(a)) {  // no layer to give busy time to: its bars instead
        for (const auto& bar : d.waterfall)
          if (bar.ns > 0) time.add(r, ComparedKind::bar, name_of(bar.id), bar.ns);
        continue;
      }
      for (const auto& cause : d.idle)
        time.add(r, ComparedKind::idle, name_of(cause.cause), cause.ns);
      if (d.copy_only_ns > 0) time.add(r, ComparedKind::copy, "copies and sets", d.copy_only_ns);
    }
    for (const auto& type : a.layer_types)
      time.add(r, ComparedKind::layer_type, name_of(type.type), type.ns, type.kernels);
    for (const auto& layer : a.layers)
      layers.add(r, ComparedKind::layer, layer_name(layer), layer.ns, layer.kernels);
    for (const auto& kernel : a.kernels)
      kernels.add(r, ComparedKind::kernel, kernel.name, kernel.ns, kernel.count);
    for (const auto& level : a.levels) {
      auto [at, added] = levels.try_emplace(level.id, n);
      if (added) level_order.push_back(level.id);
      at->second[r] = level.value;
    }
    const std::int64_t parts = by_step ? run.steps : 1;
    run.time_ns = (run.total_ns + parts / 2) / parts;
    time.scale(r, run.time_ns, parts);
    const Nanos kernel_time = time.sum_of(r, ComparedKind::layer_type);
    layers.scale(r, kernel_time, parts);
    kernels.scale(r, kernel_time, parts);
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
