#include "analyze/layers/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyze/attribution/attribution.h"
#include "analyze/layers/layer_type.h"
#include "analyze/utilization/instances.h"
#include "analyze/utilization/levels.h"
#include "core/number_map.h"
#include "model/kernel_name.h"

namespace gf {
namespace {

/// The source of a layer's name: a module, the name of an operation, the kernel's own, or what the
/// source says of it.
struct NameKey {
  enum Kind : std::uint8_t { module, text, kernel, scope } kind;
  std::uint32_t id;  // of attribution.modules or a text
};

NameKey name_key(const Context& context, NamingOperations& naming, bool scopes_first,
                 std::uint32_t left) {
  const auto& capture = context.capture;
  const auto& attribution = context.attribution;
  if (attribution.module[left]) return {NameKey::module, attribution.module[left]};
  const auto has_typed_scope = [&] {
    return !type_in_scope(capture.text(capture.activities.scope[left])).empty();
  };
  const auto scope_key = [&] {
    return NameKey{NameKey::scope, static_cast<std::uint32_t>(capture.activities.scope[left])};
  };
  if (scopes_first && has_typed_scope()) return scope_key();
  auto name_of_op = [&](std::uint32_t op) { return capture.host_ops.name[naming.of(op)]; };
  const auto forward = attribution.forward_op[left];
  if (forward != kNoRow &&
      !sums_gradients(capture, context.names, attribution, attribution.op[left])) {
    const auto name = name_of_op(forward);
    // A wrapper (a compiled function) stands for a whole graph: the backward operation itself says
    // more.
    if (capture.text(name).find("::") != std::string_view::npos)
      return {NameKey::text, static_cast<std::uint32_t>(name)};
  }
  if (attribution.op[left] != kNoRow)
    return {NameKey::text, static_cast<std::uint32_t>(name_of_op(attribution.op[left]))};
  if (has_typed_scope()) return scope_key();
  return {NameKey::kernel, static_cast<std::uint32_t>(capture.activities.name[left])};
}

std::string name_text(const Context& context, NameKey key) {
  switch (key.kind) {
    case NameKey::module:
      return context.attribution.modules[key.id];
    case NameKey::text:
      return std::string(context.capture.text(static_cast<Text>(key.id)));
    case NameKey::scope:
      return std::string(around_operation(context.capture.text(static_cast<Text>(key.id))));
    default:
      return short_kernel_name(context.capture.text(static_cast<Text>(key.id)));
  }
}

/// Rows of the instances grouped by `group`; `describe` fills type, name and phase from a group's
/// first activity and number.
template <class Describe>
std::vector<LayerRow> rows_of(const Context& context, const KernelLevels& levels,
                              const std::vector<KernelInstance>& instances,
                              const std::vector<std::uint32_t>& group, std::size_t count,
                              Describe describe) {
  const Groups groups(group, count);
  const Nanos window = device_window(context);
  std::vector<LayerRow> rows;
  std::vector<std::uint32_t> group_of_row;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    const auto part = groups.members(index);
    if (part.empty()) continue;
    LayerRow row;
    describe(row, instances[part[0]].activity, index);
    row.kernels = static_cast<std::int64_t>(part.size());
    for (const auto instance : part) row.ns += instances[instance].exclusive_ns;
    if (window > 0) row.share = static_cast<double>(row.ns) / static_cast<double>(window);
    group_of_row.push_back(static_cast<std::uint32_t>(index));
    rows.push_back(std::move(row));
  }
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](auto left, auto right) {
    if (rows[left].ns != rows[right].ns) return rows[left].ns > rows[right].ns;
    auto words = [&](std::size_t row) {
      return std::tuple(name_of(rows[row].type), std::string_view(rows[row].name),
                        name_of(rows[row].phase));
    };
    return words(left) < words(right);
  });
  std::vector<LayerRow> sorted;
  std::vector<std::uint32_t> members;
  std::vector<double> weights;
  for (const auto row : order) {
    members.clear();
    weights.clear();
    for (const auto member : groups.members(group_of_row[row])) {
      members.push_back(instances[member].activity);
      weights.push_back(static_cast<double>(instances[member].exclusive_ns));
    }
    rows[row].levels = level_spreads(members, weights, levels);
    sorted.push_back(std::move(rows[row]));
  }
  return sorted;
}

void keep(std::vector<LayerRow>& rows, std::size_t most) {
  if (most == 0 || rows.size() <= most) return;
  LayerRow rest;
  rest.name = fmt::format("({} others)", rows.size() - most);
  for (std::size_t i = most; i < rows.size(); ++i) {
    rest.kernels += rows[i].kernels;
    rest.ns += rows[i].ns;
    if (rows[i].share) rest.share = rest.share.value_or(0) + *rows[i].share;
  }
  rows.resize(most);
  rows.push_back(std::move(rest));
}

}  // namespace

LayerGroups group_layers(const Context& context, const std::vector<KernelInstance>& instances) {
  const auto& attribution = context.attribution;
  NamingOperations naming(context.capture, context.names, attribution);
  const bool scopes_first = names_scopes(context.capture);
  LayerGroups out;
  out.group.resize(instances.size());
  std::unordered_map<std::string, std::uint32_t>
      groups;       // by type, phase and name: different kernels can share a short name
  NumberMap known;  // the same by numbers, so that texts are made once
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto activity = instances[i].activity;
    const auto key = name_key(context, naming, scopes_first, activity);
    const auto type = attribution.layer[activity];
    const std::uint64_t tag = static_cast<std::uint64_t>(type) * 4 + attribution.phase[activity];
    const auto [number, fresh] = known.place(static_cast<std::uint64_t>(key.id) << 16 |
                                             static_cast<std::uint64_t>(key.kind) << 14 | tag);
    if (fresh) {
      std::string name = name_text(context, key);
      const auto [group, added] = groups.try_emplace(fmt::format("{}/{}", tag, name),
                                                     static_cast<std::uint32_t>(groups.size()));
      *number = group->second;
      if (added) {
        LayerRow& row = out.rows.emplace_back();
        row.type = type;
        row.name = std::move(name);
        row.phase = static_cast<TrainingPhase>(attribution.phase[activity]);
      }
    }
    out.group[i] = *number;
  }
  return out;
}

std::shared_ptr<const LayerGroups> layer_groups_of(const Context& context) {
  if (context.layer_groups) return context.layer_groups;
  return std::make_shared<const LayerGroups>(group_layers(context, context.kernels));
}

std::vector<LayerRow> layer_types(const Context& context, const KernelLevels& levels) {
  const auto& attribution = context.attribution;
  const auto& instances = context.kernels;
  std::vector<std::uint32_t> group(instances.size());
  for (std::size_t i = 0; i < instances.size(); ++i)
    group[i] = static_cast<std::uint32_t>(attribution.layer[instances[i].activity]);
  return rows_of(context, levels, instances, group, EnumNames<LayerType>::names.size(),
                 [&](LayerRow& row, std::uint32_t left, std::size_t) {
                   row.type = attribution.layer[left];
                   row.name = name_of(row.type);
                   row.phase = TrainingPhase::all;
                 });
}

std::vector<LayerRow> layer_rows(const Context& context, const KernelLevels& levels) {
  const auto& instances = context.kernels;
  const auto named = layer_groups_of(context);
  auto rows =
      rows_of(context, levels, instances, named->group, named->rows.size(),
              [&](LayerRow& row, std::uint32_t, std::size_t member) { row = named->rows[member]; });
  keep(rows, context.options.max_rows);
  return rows;
}

namespace {

/// Types by text, each text looked at once.
class TypeCache {
 public:
  TypeCache(std::size_t texts, LayerType (*decide)(std::string_view))
      : types_(texts, kUnknown), decide_(decide) {}
  LayerType of(std::size_t id, std::string_view text) {
    if (types_[id] == kUnknown) types_[id] = static_cast<std::uint8_t>(decide_(text));
    return static_cast<LayerType>(types_[id]);
  }

 private:
  static constexpr std::uint8_t kUnknown = 255;
  std::vector<std::uint8_t> types_;
  LayerType (*decide_)(std::string_view);
};

/// The effect of the operations around a kernel on its type: from the inside out the first with a
/// type, and every one around it that decides over it. All operations from one outwards are one map
/// of types to types; few different maps occur, so they are numbered.
class TypeMaps {
 public:
  TypeMaps() {
    for (std::size_t map = 0; map < maps_[0].size(); ++map)
      maps_[0][map] = static_cast<LayerType>(map);
  }
  /// The number of: first `here`, then what lies outside it (a number, or kNoRow for nothing).
  std::uint32_t around(std::uint32_t outside, LayerType here) {
    if (outside == kNoRow) outside = 0;
    const std::uint32_t known = steps_[outside][static_cast<std::size_t>(here)];
    if (known != kNoRow) return known;
    return steps_[outside][static_cast<std::size_t>(here)] =
               number_of(composed(maps_[outside], here));
  }
  LayerType apply(std::uint32_t number, LayerType type) const {
    return number == kNoRow ? type : maps_[number][static_cast<std::size_t>(type)];
  }

 private:
  static constexpr std::size_t kTypes = EnumNames<LayerType>::names.size();
  using Map = std::array<LayerType, kTypes>;
  static Map composed(const Map& outside, LayerType here) {
    Map map;
    for (std::size_t index = 0; index < kTypes; ++index) {
      const auto type = static_cast<LayerType>(index);
      map[index] = outside[static_cast<std::size_t>(
          type == LayerType::other || outer_decides(here, type) ? here : type)];
    }
    return map;
  }
  std::uint32_t number_of(const Map& map) {
    const auto at = std::ranges::find(maps_, map);
    if (at != maps_.end()) return static_cast<std::uint32_t>(at - maps_.begin());
    maps_.push_back(map);
    steps_.push_back(kNoSteps);
    return static_cast<std::uint32_t>(maps_.size() - 1);
  }

  static constexpr std::array<std::uint32_t, kTypes> kNoSteps = [] {
    std::array<std::uint32_t, kTypes> none{};
    none.fill(kNoRow);
    return none;
  }();
  std::vector<Map> maps_{Map{}};  // the first changes nothing
  std::vector<std::array<std::uint32_t, kTypes>> steps_{kNoSteps};
};

}  // namespace

std::vector<LayerType> classify_layers(const Capture& capture, const Names& names,
                                       const Attribution& attribution) {
  TypeCache by_scope(capture.strings.size(), [](std::string_view scope) {
    return layer_of_operation(type_in_scope(scope));
  });
  TypeCache by_module(attribution.modules.size(), layer_of_module);
  const auto& activities = capture.activities;
  const auto& ops = capture.host_ops;

  std::vector<LayerType> layers(activities.size(), LayerType::other);
  TypeMaps maps;
  Inherited map_of(attribution);
  auto type_from = [&](std::uint32_t op) {
    const auto number = map_of.of(op, [&](std::uint32_t outside, std::uint32_t row) {
      const auto here =
          ops.kind[row] == HostKind::op ? layer_in(names.host(ops.name[row])) : LayerType::other;
      if (here == LayerType::elementwise && sums_gradients(capture, names, attribution, row))
        outside = kNoRow;
      return maps.around(outside, here);
    });
    return maps.apply(number, LayerType::other);
  };
  for (std::uint32_t activity = 0; activity < activities.size(); ++activity) {
    const auto kernel = layer_in(names.kernel(activities.name[activity]));
    LayerType type = LayerType::other;
    if (activities.kind[activity] != ActivityKind::kernel)
      type = LayerType::copy;
    else if (kernel == LayerType::communication)
      type = kernel;
    else {
      type = type_from(attribution.op[activity]);
      if (attribution.phase[activity] == 3 && type != LayerType::communication &&
          type != LayerType::copy)
        type = LayerType::optimiser;
      if (type == LayerType::other) type = type_from(attribution.forward_op[activity]);
      if (type == LayerType::other && attribution.module[activity])
        type = by_module.of(attribution.module[activity],
                            attribution.modules[attribution.module[activity]]);
      if (type == LayerType::other)
        type = by_scope.of(static_cast<std::uint32_t>(activities.scope[activity]),
                           capture.text(activities.scope[activity]));
      // TensorRT names a fused layer after all its parts ("conv1 + relu1"): what multiplies is none
      // of those that do not.
      const bool fused = type == LayerType::activation || type == LayerType::elementwise;
      const bool multiplies = kernel == LayerType::convolution || kernel == LayerType::matmul;
      if (type == LayerType::other || (fused && multiplies)) type = kernel;
    }
    layers[activity] = type;
  }
  find_unnamed_communication(capture, names, attribution, layers);
  return layers;
}

}  // namespace gf
