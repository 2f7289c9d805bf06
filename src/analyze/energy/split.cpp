#include "analyze/energy/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/apportion.h"

namespace gf {

namespace {

/// Held within what a GPU takes in a week: a damaged model or count must not overflow.
std::int64_t nano(double joules) {
  return std::llround(std::clamp(std::isnan(joules) ? 0 : joules * 1e9, -5e17, 5e17));
}

/// A total that may be negative, over the leaves.
std::vector<std::int64_t> signed_apportion(std::int64_t total, const std::vector<double>& weights) {
  auto parts = apportion(std::abs(total), weights);
  if (total < 0)
    for (auto& part : parts) part = -part;
  return parts;
}

/// Running kernels take the rest by their time. Who only waits, and takes part in it since its SMs
/// were not counted, takes as much as its time is of all: the mean power and no more.
std::vector<double> rest_weights(const std::vector<EnergyLeaf>& leaves) {
  double works = 0, waits = 0, all = 0;
  for (const auto& leaf : leaves) {
    const auto ns = static_cast<double>(leaf.ns);
    all += ns;
    if (leaf.runs) (leaf.waits.value_or(false) ? waits : works) += ns;
  }
  const double of_waiting = all > waits ? works / (all - waits) : 1;
  std::vector<double> weights;
  for (const auto& leaf : leaves) {
    double weight = works > 0 && !leaf.runs ? 0 : 1;
    if (works > 0 && leaf.runs && leaf.waits.value_or(false)) weight = of_waiting;
    weights.push_back(weight * static_cast<double>(leaf.ns));
  }
  return weights;
}

EnergyRow row_of(const std::vector<const EnergyLeaf*>& leaves, const EnergyEvaluator* model,
                 std::int64_t total) {
  EnergyRow row;
  for (const auto* leaf : leaves) {
    row.kernels += leaf->count;
    row.ns += leaf->ns;
    std::int64_t of_leaf = 0;
    for (const auto nj : leaf->nj) of_leaf += nj;
    row.nj += of_leaf;
    if (leaf->waits) row.wait_nj = row.wait_nj.value_or(0) + (*leaf->waits ? of_leaf : 0);
  }
  if (total > 0) row.share = static_cast<double>(row.nj) / static_cast<double>(total);
  row.parts = energy_parts(leaves, model, false);
  return row;
}

}  // namespace

void split_energy(std::int64_t total, const EnergyEvaluator& model,
                  std::vector<EnergyLeaf>& leaves) {
  const std::size_t components = model.components().size();
  std::vector<std::vector<double>> joules(components);  // by component and leaf
  for (auto& leaf : leaves) {
    leaf.nj.assign(components + 1, 0);
    const auto by = model.by_component(leaf.work);
    for (std::size_t component = 0; component < components; ++component)
      joules[component].push_back(by[component]);
  }
  std::int64_t rest = total;
  for (std::size_t component = 0; component < components; ++component) {
    double sum = 0;
    for (const double joule : joules[component]) sum += joule;
    const auto whole = nano(sum);
    const auto parts = signed_apportion(whole, joules[component]);
    for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i].nj[component] = parts[i];
    rest -= whole;
  }
  const auto parts = signed_apportion(rest, rest_weights(leaves));
  for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i].nj[components] = parts[i];
}

void split_by_time(std::int64_t total, std::vector<EnergyLeaf>& leaves) {
  std::vector<double> weights;
  for (const auto& leaf : leaves) weights.push_back(static_cast<double>(leaf.ns));
  const auto parts = signed_apportion(total, weights);
  for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i].nj = {parts[i]};
}

namespace {

/// Joules of one standard error, by component and of all together (last): errors of one kernel add
/// up, those of different kernels and features are independent.
std::vector<double> doubts(const std::vector<const EnergyLeaf*>& leaves,
                           const EnergyEvaluator& model) {
  std::map<std::uint32_t, EnergyWork> by_kernel;
  for (const auto* leaf : leaves)
    if (!leaf->doubt.empty()) {
      auto& sum = by_kernel.try_emplace(leaf->kernel, model.no_work()).first->second;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += leaf->doubt[i];
    }
  std::vector<double> squares(model.components().size() + 1, 0.0);
  for (const auto& [kernel, work] : by_kernel)
    for (std::size_t i = 0; i < work.size(); ++i) {
      const double joules = model.joules(i) * work[i];
      squares[model.component_of(i)] += joules * joules;
      squares.back() += joules * joules;
    }
  for (double& square : squares) square = std::sqrt(square);
  return squares;
}

/// Joules that the model may lack, at most, of work that it has no term for.
double lacking_joules(const std::vector<const EnergyLeaf*>& leaves, const EnergyEvaluator& model) {
  double lacks = 0;
  for (const auto* leaf : leaves) {
    if (leaf->termless == 0) continue;
    double dynamic = 0;
    for (std::size_t component = 0; component < model.components().size(); ++component)
      if (model.components()[component] != "static")
        dynamic += static_cast<double>(leaf->nj[component]) * 1e-9;
    lacks += lacking(leaf->termless) * dynamic;
  }
  return lacks;
}

/// Both half-widths of an interval around `value`, widened by an independent one.
Interval95 widened(Interval95 interval, double value, double half) {
  const double below = value - interval.low, above = interval.high - value;
  return {value - std::sqrt(below * below + half * half),
          value + std::sqrt(above * above + half * half)};
}

}  // namespace

std::vector<EnergyPart> energy_parts(const std::vector<const EnergyLeaf*>& leaves,
                                     const EnergyEvaluator* model, bool whole) {
  std::vector<EnergyPart> parts;
  if (!model) return parts;
  const std::size_t components = model->components().size();
  std::vector<std::int64_t> sums(components + 1, 0);
  EnergyWork work = model->no_work();
  std::int64_t total = 0;
  for (const auto* leaf : leaves) {
    for (std::size_t feature = 0; feature < sums.size(); ++feature) {
      sums[feature] += leaf->nj[feature];
      total += leaf->nj[feature];
    }
    for (std::size_t i = 0; i < work.size(); ++i) work[i] += leaf->work[i];
  }
  const auto doubt = whole ? std::vector<double>(components + 1, 0.0) : doubts(leaves, *model);
  auto add = [&](std::string id, std::int64_t nj, Interval95 joules) {
    EnergyPart part{std::move(id), nj, std::min(nj, nano(joules.low)),
                    std::max(nj, nano(joules.high)), std::nullopt};
    if (total > 0) part.share = static_cast<double>(nj) / static_cast<double>(total);
    parts.push_back(std::move(part));
  };
  for (std::size_t feature = 0; feature < components; ++feature) {
    if (sums[feature] == 0) continue;
    auto interval = widened(model->interval(work, feature),
                            static_cast<double>(sums[feature]) * 1e-9, 1.96 * doubt[feature]);
    interval.low = std::max(0.0, interval.low);
    add(model->components()[feature], sums[feature], interval);
  }
  const double all = static_cast<double>(total) * 1e-9,
               rest = static_cast<double>(sums.back()) * 1e-9;
  const auto sum = model->interval_of_sum(work);
  const auto interval = widened({all - sum.high, all - sum.low}, rest, 1.96 * doubt.back());
  add("rest", sums.back(), {interval.low - lacking_joules(leaves, *model), interval.high});
  return parts;
}

std::vector<EnergyRow> energy_rows(
    const std::vector<EnergyLeaf>& leaves, const EnergyEvaluator* model, std::int64_t total,
    std::size_t most, bool largest_first,
    const std::function<std::uint64_t(const EnergyLeaf&)>& key,
    const std::function<void(const EnergyLeaf&, EnergyRow&)>& describe) {
  struct Group {
    std::int64_t nj = 0;
    std::vector<const EnergyLeaf*> leaves;
  };
  std::map<std::uint64_t, Group> by_key;
  for (const auto& leaf : leaves) {
    auto& group = by_key[key(leaf)];
    for (const auto nj : leaf.nj) group.nj += nj;
    group.leaves.push_back(&leaf);
  }
  std::vector<const Group*> order;
  for (const auto& [name, group] : by_key) order.push_back(&group);
  if (largest_first)
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* left, const auto* right) { return left->nj > right->nj; });
  std::size_t shown = most == 0 ? order.size() : std::min(most, order.size());
  std::vector<EnergyRow> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(row_of(order[i]->leaves, model, total));
    describe(*order[i]->leaves.front(), rows.back());
  }
  if (shown < order.size()) {
    std::vector<const EnergyLeaf*> others;
    for (std::size_t i = shown; i < order.size(); ++i)
      others.insert(others.end(), order[i]->leaves.begin(), order[i]->leaves.end());
    rows.push_back(row_of(others, model, total));
    rows.back().name = fmt::format("({} others)", order.size() - shown);
  }
  return rows;
}

std::optional<EnergyRow> waiting_row(const std::vector<EnergyLeaf>& leaves,
                                     const EnergyEvaluator* model, std::int64_t total) {
  std::vector<const EnergyLeaf*> waits;
  for (const auto& leaf : leaves) {
    if (!leaf.waits) return std::nullopt;
    if (*leaf.waits) waits.push_back(&leaf);
  }
  EnergyRow row = row_of(waits, model, total);
  row.name = row.type = "(waiting)";
  row.wait_nj = row.nj;
  return row;
}

namespace {

/// Finds leaves by what they stand for, and adds them.
class LeafTable {
 public:
  LeafTable(std::size_t columns, bool waiting_known)
      : columns_(columns), waiting_known_(waiting_known) {}
  EnergyLeaf& at(std::uint32_t step, std::uint32_t type, std::uint32_t layer, std::uint32_t kernel,
                 bool waits = false) {
    const auto [it, added] = known_.try_emplace({step, type, layer, kernel, waits}, list_.size());
    if (added) {
      EnergyLeaf& leaf = list_.emplace_back();
      if (waiting_known_) leaf.waits = waits;
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
  bool waiting_known_;
  std::vector<EnergyLeaf> list_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>,
           std::size_t>
      known_;
};

/// Finds the step that holds an instant.
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
  }
}

/// Adds a time of SMs with work, and gives it to the leaf.
void add_active(const KernelWork& work, std::uint32_t row, Nanos exclusive, EnergyLeaf& leaf) {
  const double seconds = static_cast<double>(exclusive) * 1e-9;
  if (row < work.doubts.size()) {
    leaf.doubt.resize(leaf.work.size(), 0.0);
    leaf.doubt[EnergyEvaluator::kActive] += work.doubts[row][EnergyEvaluator::kActive] * seconds;
  }
  if (!std::isnan(work.active[row]))
    leaf.work[EnergyEvaluator::kActive] += work.active[row] * seconds;
}

/// The share of the time that a leaf takes: of the running kernels' when any runs.
double share_of_time(const EnergyLeaf& leaf, Nanos running, Nanos all) {
  if (running > 0) {
    return !leaf.runs ? 0 : static_cast<double>(leaf.ns) / static_cast<double>(running);
  }
  return all > 0 ? static_cast<double>(leaf.ns) / static_cast<double>(all) : 0;
}

}  // namespace

PlacedKernels placed_kernels(const Capture& capture, const DeviceTimeline& line) {
  PlacedKernels out;
  for (std::size_t i = 0; i < line.rows.size(); ++i)
    if (capture.activities.kind[line.rows[i]] == ActivityKind::kernel) {
      out.instances.push_back({line.rows[i], line.exclusive_ns[i], line.spans[i].length()});
      out.position.push_back(i);
    }
  return out;
}

namespace {

/// The kinds of work of kernels that the model has no term for, by counters where these show them,
/// else by names.
class TermlessKernels {
 public:
  TermlessKernels(const Context& context, const Chip* chip, const KernelWork& work,
                  const EnergyEvaluator& model)
      : context_(context), chip_(chip), work_(work), model_(model) {}
  TermlessKinds of(std::uint32_t activity, std::uint32_t row) {
    const Text name = context_.capture.activities.name[activity];
    const auto [at, added] = by_name_.try_emplace(name, TermlessKinds{0});
    if (added)
      at->second =
          without_terms(termless_by_name(context_.names, name, chip_), model_, work_.counted);
    if (row >= work_.termless.size()) return at->second;
    const auto counted = without_terms(work_.termless_counted, model_, work_.counted);
    return static_cast<TermlessKinds>((work_.termless[row] & counted) |
                                      (at->second & ~work_.termless_counted));
  }

 private:
  const Context& context_;
  const Chip* chip_;
  const KernelWork& work_;
  const EnergyEvaluator& model_;
  std::map<Text, TermlessKinds> by_name_;
};

}  // namespace

Leaves energy_leaves(const Context& context, const DeviceTimeline& line,
                     const PlacedKernels& kernels, const LayerGroups& layers,
                     const KernelWork& work, const EnergyEvaluator* model) {
  const auto columns = model ? model->columns() : 0;
  std::optional<TermlessKernels> termless;
  if (model && !work.rows.empty())
    termless.emplace(context, chip_at(context.capture, line.device), work, *model);
  const auto& activities = context.capture.activities;
  const StepOf steps(context.window.steps);
  LeafTable table(columns, line.waiting.has_value());
  Leaves out;
  out.termless_ns.resize(termless_work().size());
  for (std::size_t i = 0; i < kernels.instances.size(); ++i) {
    const KernelInstance& kernel = kernels.instances[i];
    const auto leaf_at = [&](bool waits) -> EnergyLeaf& {
      return table.at(steps.at(line.spans[kernels.position[i]].start),
                      static_cast<std::uint32_t>(context.attribution.layer[kernel.activity]),
                      layers.group[i], static_cast<std::uint32_t>(activities.name[kernel.activity]),
                      waits);
    };
    std::uint32_t row = kNoRow;
    if (kernel.activity < work.row_of.size()) row = work.row_of[kernel.activity];
    const bool counted = row < work.rows.size();
    const Nanos working = line.working_ns(kernels.position[i]);
    out.kernel_ns += kernel.exclusive_ns;
    if (counted) out.counted_ns += kernel.exclusive_ns;
    // Who only waits takes static and active power, and none of what kernels do. Where its SMs were
    // not counted its active power is in the rest, of which it then takes a part.
    if (const Nanos waits = kernel.exclusive_ns - working; waits > 0) {
      auto& leaf = leaf_at(true);
      leaf.ns += waits;
      if (!counted || std::isnan(work.active[row])) leaf.runs = true;
      if (counted) add_active(work, row, waits, leaf);
    }
    auto& leaf = leaf_at(false);
    leaf.runs = true;
    ++leaf.count;
    leaf.ns += working;
    if (!counted) continue;
    if (termless) {
      const TermlessKinds kinds = termless->of(kernel.activity, row);
      leaf.termless |= kinds;
      for (std::size_t kind = 0; kind < out.termless_ns.size(); ++kind)
        if (kinds & (1u << kind)) out.termless_ns[kind] += working;
    }
    add_work(work, row, activities.duration_ns[kernel.activity], kernel, leaf);
    add_active(work, row, working, leaf);
  }
  auto without_kernel = [&](Interval span, std::uint32_t what) {
    steps.pieces(span,
                 [&](std::uint32_t step, Nanos ns) { table.at(step, what, what, what).ns += ns; });
  };
  line.each_gap([&](Interval gap) { without_kernel(gap, kIdleLeaf); });
  for (const auto& span : line.copying) without_kernel(span, kCopiesLeaf);
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
