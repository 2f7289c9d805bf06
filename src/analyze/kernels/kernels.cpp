#include "analyze/kernels/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/utilization/instances.h"
#include "analyze/utilization/levels.h"
#include "analyze/utilization/sm_fill.h"
#include "core/strings.h"
#include "model/kernel_name.h"

namespace gf {
namespace {

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

/// The instances of each kernel name, and the time that they claim.
struct Ranked {
  std::size_t group;
  Nanos ns;
  std::string_view name;
};

/// Groups in order of their time; ties by name.
std::vector<Ranked> rank(const Capture& capture, const std::vector<KernelInstance>& instances,
                         const Groups& groups) {
  std::vector<Ranked> order;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    const auto members = groups.members(index);
    Nanos ns = 0;
    for (const auto member : members) ns += instances[member].exclusive_ns;
    order.push_back(
        {index, ns, capture.text(capture.activities.name[instances[members[0]].activity])});
  }
  std::sort(order.begin(), order.end(), [](const Ranked& left, const Ranked& right) {
    return std::tie(right.ns, left.name) < std::tie(left.ns, right.name);
  });
  return order;
}

/// Rows of the table; its columns are kept from row to row.
class RowBuilder {
 public:
  RowBuilder(const Context& context, const KernelLevels& levels,
             const std::vector<KernelInstance>& instances)
      : context_(context),
        levels_(levels),
        instances_(instances),
        window_(device_window(context)) {}

  KernelRow of_group(const Ranked& ranked, std::span<const std::uint32_t> part) {
    const auto& activities = context_.capture.activities;
    const auto first = instances_[part[0]].activity;
    KernelRow row;
    row.name = ranked.name;
    row.short_name = short_kernel_name(ranked.name);
    row.grid = dimensions_text(activities.grid_x[first], activities.grid_y[first],
                               activities.grid_z[first]);
    row.block = dimensions_text(activities.block_x[first], activities.block_y[first],
                                activities.block_z[first]);
    row.registers = activities.registers[first];
    row.shared_bytes = activities.shared_bytes[first];
    if (const auto fill = sm_fill(context_.capture, levels_.chip(), first)) {
      row.waves = fill->waves;
      row.occupancy_limit = fill->occupancy_limit;
    }
    clear();
    for (const auto instance : part) add(instances_[instance], row);
    row.grids = distinct_grids(part);
    vote(part, row);
    finish(row);
    row.levels = level_spreads(members_, weights_, levels_);
    return row;
  }

  /// One row for all groups that are not shown.
  KernelRow of_others(std::span<const Ranked> hidden, const Groups& groups) {
    KernelRow row;
    row.name = row.short_name = fmt::format("({} others)", hidden.size());
    clear();
    for (const auto& ranked : hidden)
      for (const auto instance : groups.members(ranked.group)) add(instances_[instance], row);
    finish(row);
    return row;
  }

 private:
  void clear() {
    members_.clear();
    weights_.clear();
    durations_.clear();
  }
  void add(const KernelInstance& kernel, KernelRow& row) {
    members_.push_back(kernel.activity);
    weights_.push_back(static_cast<double>(kernel.exclusive_ns));
    durations_.push_back(static_cast<double>(kernel.duration_ns));
    row.ns += kernel.exclusive_ns;
    row.duration_sum_ns += kernel.duration_ns;
    row.counted += levels_.counted(kernel.activity);
    ++row.count;
  }
  void finish(KernelRow& row) const {
    row.duration = distribution(durations_);
    if (window_ > 0) row.share = static_cast<double>(row.ns) / static_cast<double>(window_);
  }
  std::int64_t distinct_grids(std::span<const std::uint32_t> part) {
    const auto& activities = context_.capture.activities;
    grids_.clear();
    for (const auto instance : part) {
      const auto activity = instances_[instance].activity;
      const std::array grid{activities.grid_x[activity], activities.grid_y[activity],
                            activities.grid_z[activity]};
      if (grids_.empty() || grids_.back() != grid) grids_.push_back(grid);
    }
    std::sort(grids_.begin(), grids_.end());
    return std::unique(grids_.begin(), grids_.end()) - grids_.begin();
  }
  /// The layer type and the operator that most of the row's time belongs to.
  void vote(std::span<const std::uint32_t> part, KernelRow& row) const {
    const auto& capture = context_.capture;
    Tally types, operators;
    for (const auto instance : part) {
      const auto& kernel = instances_[instance];
      types.add(static_cast<std::uint32_t>(context_.attribution.layer[kernel.activity]),
                kernel.exclusive_ns);
      const auto op = context_.attribution.op[kernel.activity];
      std::uint32_t name = 0;
      if (op != kNoRow) name = static_cast<std::uint32_t>(capture.host_ops.name[op]);
      operators.add(name, kernel.exclusive_ns);
    }
    row.layer_type = name_of(static_cast<LayerType>(types.heaviest()));
    row.operator_name = capture.text(static_cast<Text>(operators.heaviest()));
  }

  const Context& context_;
  const KernelLevels& levels_;
  const std::vector<KernelInstance>& instances_;
  Nanos window_;
  std::vector<std::uint32_t> members_;
  std::vector<double> weights_, durations_;
  std::vector<std::array<I32, 3>> grids_;
};

}  // namespace

std::string dimensions_text(std::int32_t first, std::int32_t second, std::int32_t third) {
  if (first < 0) return {};
  return fmt::format("({}, {}, {})", first, second, third);
}

std::vector<KernelRow> kernel_table(const Context& context, const KernelLevels& levels) {
  const Capture& capture = context.capture;
  const auto& instances = context.kernels;
  std::uint32_t names = 0;
  OncePerText group_of_name(capture.strings, [&](std::string_view) { return names++; });
  std::vector<std::uint32_t> group(instances.size());
  for (std::size_t i = 0; i < instances.size(); ++i)
    group[i] = group_of_name(capture.activities.name[instances[i].activity]);
  const Groups groups(group, names);
  const auto order = rank(capture, instances, groups);
  std::size_t shown = order.size();
  if (context.options.max_rows > 0) shown = std::min(context.options.max_rows, shown);

  RowBuilder builder(context, levels, instances);
  std::vector<KernelRow> rows;
  for (std::size_t index = 0; index < shown; ++index)
    rows.push_back(builder.of_group(order[index], groups.members(order[index].group)));
  if (shown < order.size())
    rows.push_back(builder.of_others(std::span(order).subspan(shown), groups));
  return rows;
}

std::vector<CurvePoint> tensor_curve(const Context& context, const KernelLevels& levels) {
  if (!levels.has(KernelLevel::tensor_issue)) return {};
  std::vector<std::pair<double, Nanos>> points;
  Nanos all = 0;
  for (const auto& kernel_instance : context.kernels) {
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
