#include "analyze/kernels/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/utilization/instances.h"
#include "analyze/utilization/levels.h"
#include "model/kernel_name.h"

namespace gf {
namespace {

std::string triple(std::int32_t first, std::int32_t second, std::int32_t third) {
  if (first < 0) return {};
  return fmt::format("({}, {}, {})", first, second, third);
}

/// Time by number, mostly the one of the call before.
class Tally {
 public:
  void add(std::uint32_t key, Nanos ns) {
    if (!last_ || last_->first != key) last_ = &*times_.try_emplace(key, 0).first;
    last_->second += ns;
  }
  /// The key with the most time; ties go to the smaller key.
  std::uint32_t heaviest() const {
    return std::max_element(times_.begin(), times_.end(),
                            [](const auto& left, const auto& right) {
                              if (left.second != right.second) return left.second < right.second;
                              return left.first > right.first;
                            })
        ->first;
  }

 private:
  std::unordered_map<std::uint32_t, Nanos> times_;
  std::pair<const std::uint32_t, Nanos>* last_ = nullptr;
};

}  // namespace

std::vector<KernelRow> kernel_table(const Context& context, const KernelLevels& levels) {
  const Capture& capture = context.capture;
  const auto& activities = capture.activities;
  const auto instances = kernel_instances(context);
  std::unordered_map<std::uint32_t, std::uint32_t> group_of_name;
  std::vector<std::uint32_t> group(instances.size());
  for (std::size_t i = 0; i < instances.size(); ++i)
    group[i] = group_of_name
                   .try_emplace(static_cast<std::uint32_t>(activities.name[instances[i].activity]),
                                static_cast<std::uint32_t>(group_of_name.size()))
                   .first->second;
  const Groups groups(group, group_of_name.size());
  const Nanos window = device_window(context);

  struct Order {
    std::size_t group;
    Nanos ns;
    std::string_view name;
  };
  std::vector<Order> order;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    Nanos ns = 0;
    for (const auto member : groups.members(index)) ns += instances[member].exclusive_ns;
    order.push_back(
        {index, ns, capture.text(activities.name[instances[groups.members(index)[0]].activity])});
  }
  std::sort(order.begin(), order.end(), [](const Order& left, const Order& right) {
    return std::tie(right.ns, left.name) < std::tie(left.ns, right.name);
  });

  std::vector<KernelRow> rows;
  std::size_t shown = 0;
  if (context.options.max_rows == 0) {
    shown = order.size();
  } else {
    shown = std::min(context.options.max_rows, order.size());
  }
  std::vector<std::uint32_t> members;
  std::vector<double> weights, durations;
  std::vector<std::array<I32, 3>> grids;
  for (std::size_t index = 0; index < shown; ++index) {
    const auto part = groups.members(order[index].group);
    const auto first = instances[part[0]].activity;
    KernelRow row;
    row.name = order[index].name;
    row.short_name = short_kernel_name(order[index].name);
    row.ns = order[index].ns;
    row.count = static_cast<std::int64_t>(part.size());
    row.grid = triple(activities.grid_x[first], activities.grid_y[first], activities.grid_z[first]);
    row.block =
        triple(activities.block_x[first], activities.block_y[first], activities.block_z[first]);
    row.registers = activities.registers[first];
    row.shared_bytes = activities.shared_bytes[first];
    if (window > 0) row.share = static_cast<double>(row.ns) / static_cast<double>(window);
    Tally types, operators;
    grids.clear();
    members.clear();
    weights.clear();
    durations.clear();
    for (const auto instance : part) {
      const auto& kernel = instances[instance];
      members.push_back(kernel.activity);
      weights.push_back(static_cast<double>(kernel.exclusive_ns));
      durations.push_back(static_cast<double>(kernel.duration_ns));
      row.duration_sum_ns += kernel.duration_ns;
      row.counted += levels.counted(kernel.activity);
      types.add(context.attribution.layer[kernel.activity], kernel.exclusive_ns);
      const auto op = context.attribution.op[kernel.activity];
      operators.add(op == kNoRow ? 0 : static_cast<std::uint32_t>(capture.host_ops.name[op]),
                    kernel.exclusive_ns);
      const std::array grid{activities.grid_x[kernel.activity], activities.grid_y[kernel.activity],
                            activities.grid_z[kernel.activity]};
      if (grids.empty() || grids.back() != grid) grids.push_back(grid);
    }
    std::sort(grids.begin(), grids.end());
    row.grids = std::unique(grids.begin(), grids.end()) - grids.begin();
    row.layer_type = context.attribution.layer_types[types.heaviest()];
    row.operator_name = capture.text(static_cast<Text>(operators.heaviest()));
    row.duration = distribution(durations);
    row.levels = level_spreads(members, weights, levels);
    rows.push_back(std::move(row));
  }
  if (shown < order.size()) {
    KernelRow rest;
    rest.name = rest.short_name = fmt::format("({} others)", order.size() - shown);
    durations.clear();
    for (std::size_t row = shown; row < order.size(); ++row)
      for (const auto member : groups.members(order[row].group)) {
        rest.ns += instances[member].exclusive_ns;
        rest.duration_sum_ns += instances[member].duration_ns;
        rest.counted += levels.counted(instances[member].activity);
        ++rest.count;
        durations.push_back(static_cast<double>(instances[member].duration_ns));
      }
    rest.duration = distribution(durations);
    if (window > 0) rest.share = static_cast<double>(rest.ns) / static_cast<double>(window);
    rows.push_back(std::move(rest));
  }
  return rows;
}

std::vector<CurvePoint> tensor_curve(const Context& context, const KernelLevels& levels) {
  if (!levels.has(KernelLevel::tensor_issue)) return {};
  std::vector<std::pair<double, Nanos>> points;
  Nanos all = 0;
  for (const auto& kernel_instance : kernel_instances(context)) {
    const double use = levels.of(kernel_instance.activity, KernelLevel::tensor_issue);
    if (std::isnan(use) || kernel_instance.exclusive_ns <= 0) continue;
    points.emplace_back(use, kernel_instance.exclusive_ns);
    all += kernel_instance.exclusive_ns;
  }
  std::sort(points.begin(), points.end());
  std::vector<CurvePoint> curve;
  constexpr double kStep = 1.0 / 400;
  Nanos below = 0;
  if (!points.empty() && points.front().first > 0) curve.push_back({0, 0});
  for (std::size_t i = 0; i < points.size(); ++i) {
    below += points[i].second;
    if (i + 1 < points.size() && points[i + 1].first == points[i].first) continue;
    const double share = static_cast<double>(below) / static_cast<double>(all);
    const bool last = i + 1 == points.size();
    if (last || curve.empty() || share - curve.back().time_share >= kStep)
      curve.push_back({points[i].first, share});
  }
  return curve;
}

}  // namespace gf
