#include "analyze/energy/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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

std::vector<double> rest_weights(const std::vector<EnergyLeaf>& leaves) {
  const bool any = std::any_of(leaves.begin(), leaves.end(),
                               [](const auto& leaf) { return leaf.runs && leaf.ns > 0; });
  std::vector<double> weights;
  for (const auto& leaf : leaves)
    weights.push_back(any && !leaf.runs ? 0.0 : static_cast<double>(leaf.ns));
  return weights;
}

EnergyRow row_of(const std::vector<const EnergyLeaf*>& leaves, const EnergyEvaluator* model,
                 std::int64_t total) {
  EnergyRow row;
  for (const auto* leaf : leaves) {
    row.kernels += leaf->count;
    row.ns += leaf->ns;
    for (const auto nj : leaf->nj) row.nj += nj;
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
  add("rest", sums.back(), widened({all - sum.high, all - sum.low}, rest, 1.96 * doubt.back()));
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

}  // namespace gf
