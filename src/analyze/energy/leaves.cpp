#include "analyze/energy/leaves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace gf {

namespace {

/// Finds leaves by what they stand for, and adds them.
class LeafTable {
 public:
  explicit LeafTable(std::size_t columns) : columns_(columns) {}
  EnergyLeaf& at(std::uint32_t step, std::uint32_t type, std::uint32_t layer,
                 std::uint32_t kernel) {
    const auto [it, added] = known_.try_emplace({step, type, layer, kernel}, list_.size());
    if (added) {
      EnergyLeaf& leaf = list_.emplace_back();
      leaf.step = step;
      leaf.type = type;
      leaf.layer = layer;
      leaf.kernel = kernel;
      leaf.work.assign(columns_, 0.0);
    }
    return list_[it->second];
  }
  std::vector<EnergyLeaf> take() { return std::move(list_); }

 private:
  std::size_t columns_;
  std::vector<EnergyLeaf> list_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t>
      known_;
};

/// Which step a moment lies in.
class StepOf {
 public:
  explicit StepOf(const std::vector<StepInfo>& steps) : steps_(steps) {}
  std::uint32_t at(Nanos time) const {
    const auto it = std::upper_bound(
        steps_.begin(), steps_.end(), time,
        [](Nanos moment, const StepInfo& step_info) { return moment < step_info.start_ns; });
    if (it == steps_.begin()) return kNoStep;
    const auto step = static_cast<std::size_t>(it - steps_.begin()) - 1;
    if (time < steps_[step].start_ns + steps_[step].duration_ns)
      return static_cast<std::uint32_t>(step);
    return kNoStep;
  }
  /// f(step, length) for the pieces of a span.
  template <class F>
  void pieces(Interval span, F apply) const {
    while (span.start < span.end) {
      const auto it = std::upper_bound(
          steps_.begin(), steps_.end(), span.start,
          [](Nanos moment, const StepInfo& step_info) { return moment < step_info.start_ns; });
      const auto step = at(span.start);
      Nanos end = span.end;
      if (it != steps_.end()) end = std::min(end, it->start_ns);
      if (step != kNoStep) end = std::min(end, steps_[step].start_ns + steps_[step].duration_ns);
      apply(step, end - span.start);
      span.start = end;
    }
  }

 private:
  const std::vector<StepInfo>& steps_;
};

/// Adds the work of one instance of a kernel, of which `inside` of its `whole` time lies in the
/// window.
void add_work(const KernelWork& work, std::uint32_t row, Nanos whole, const KernelInstance& kernel,
              EnergyLeaf& leaf) {
  const double inside = static_cast<double>(kernel.duration_ns);
  const double exclusive_s = static_cast<double>(kernel.exclusive_ns) * 1e-9;
  double times = 1;
  if (work.per_ns)
    times = inside;
  else if (whole > 0)
    times = inside / static_cast<double>(whole);
  for (std::size_t feature = EnergyEvaluator::kFeatures; feature < leaf.work.size(); ++feature)
    leaf.work[feature] += work.rows[row][feature] * times;
  if (row < work.doubts.size()) {
    leaf.doubt.resize(leaf.work.size(), 0.0);
    for (std::size_t feature = EnergyEvaluator::kFeatures; feature < leaf.work.size(); ++feature)
      leaf.doubt[feature] += work.doubts[row][feature] * times;
    leaf.doubt[EnergyEvaluator::kActive] +=
        work.doubts[row][EnergyEvaluator::kActive] * exclusive_s;
  }
  if (!std::isnan(work.active[row]))
    leaf.work[EnergyEvaluator::kActive] += work.active[row] * exclusive_s;
}

/// The share of the time that a leaf takes: of the running kernels' when any runs.
double share_of_time(const EnergyLeaf& leaf, Nanos running, Nanos all) {
  if (running > 0) {
    if (!leaf.runs) return 0;
    return static_cast<double>(leaf.ns) / static_cast<double>(running);
  }
  if (all > 0) return static_cast<double>(leaf.ns) / static_cast<double>(all);
  return 0;
}

}  // namespace

PlacedKernels placed_kernels(const Capture& capture, const DeviceTimeline& line) {
  PlacedKernels out;
  for (std::size_t i = 0; i < line.rows.size(); ++i)
    if (capture.activities.kind[line.rows[i]] == ActivityKind::kernel) {
      out.instances.push_back(
          {line.rows[i], line.exclusive_ns[i], line.spans[i].length(), line.working_ns(i)});
      out.position.push_back(i);
    }
  return out;
}

Leaves energy_leaves(const Context& context, const DeviceTimeline& line,
                     const PlacedKernels& kernels, const LayerGroups& layers,
                     const KernelWork& work, std::size_t columns) {
  const auto& activities = context.capture.activities;
  const StepOf steps(context.window.steps);
  LeafTable table(columns);
  Leaves out;
  for (std::size_t i = 0; i < kernels.instances.size(); ++i) {
    const KernelInstance& kernel = kernels.instances[i];
    auto& leaf =
        table.at(steps.at(line.spans[kernels.position[i]].start),
                 static_cast<std::uint32_t>(context.attribution.layer[kernel.activity]),
                 layers.group[i], static_cast<std::uint32_t>(activities.name[kernel.activity]));
    leaf.runs = true;
    ++leaf.count;
    leaf.ns += kernel.exclusive_ns;
    out.kernel_ns += kernel.exclusive_ns;
    if (kernel.activity >= work.row_of.size()) continue;
    const auto row = work.row_of[kernel.activity];
    if (row >= work.rows.size()) continue;
    out.counted_ns += kernel.exclusive_ns;
    add_work(work, row, activities.duration_ns[kernel.activity], kernel, leaf);
  }
  auto without_kernel = [&](const Intervals& spans, std::uint32_t what) {
    for (const auto& span : spans)
      steps.pieces(
          span, [&](std::uint32_t step, Nanos ns) { table.at(step, what, what, what).ns += ns; });
  };
  without_kernel(line.idle, kIdleLeaf);
  without_kernel(subtract(line.busy, line.kernel_busy), kCopiesLeaf);
  out.list = table.take();
  return out;
}

void scale_to(const SampledWindow& window, std::vector<EnergyLeaf>& leaves) {
  Nanos running = 0, all = 0;
  for (const auto& leaf : leaves) {
    if (leaf.runs) running += leaf.ns;
    all += leaf.ns;
  }
  for (std::size_t feature = 0; feature < window.work.size(); ++feature) {
    if (feature == EnergyEvaluator::kStatic || feature == EnergyEvaluator::kWarmth ||
        !window.counted[feature])
      continue;
    double sum = 0;
    for (const auto& leaf : leaves) sum += leaf.work[feature];
    for (auto& leaf : leaves) {
      double share = sum > 0 ? leaf.work[feature] / sum : share_of_time(leaf, running, all);
      leaf.work[feature] = window.work[feature] * share;
      if (sum > 0 && !leaf.doubt.empty()) leaf.doubt[feature] *= window.work[feature] / sum;
    }
  }
}

}  // namespace gf
