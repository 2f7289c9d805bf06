#include <algorithm>
#include <array>
#include <vector>

#include "analyze/attribution/attribution.h"
#include "analyze/layers/layer_type.h"
#include "analyze/layers/layers.h"

namespace gf {
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

/// What the operations around a kernel make of its type: from the inside out the first with a type,
/// and every one around it that decides over it. All operations from one outwards are one map of
/// types to types; few different maps occur, so they are numbered.
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
    if (number == kNoRow) return type;
    return maps_[number][static_cast<std::size_t>(type)];
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

std::vector<LayerType> classify_layers(const Capture& capture, const Attribution& attribution) {
  TypeCache by_operation(capture.strings.size(), layer_of_operation),
      by_kernel(capture.strings.size(), layer_of_kernel),
      by_scope(capture.strings.size(),
               [](std::string_view scope) { return layer_of_operation(type_in_scope(scope)); });
  TypeCache by_module(attribution.modules.size(), layer_of_module);
  const auto& activities = capture.activities;
  const auto& ops = capture.host_ops;

  std::vector<LayerType> layers(activities.size(), LayerType::other);
  TypeMaps maps;
  Inherited map_of(attribution);
  auto type_from = [&](std::uint32_t op) {
    const auto number = map_of.of(op, [&](std::uint32_t outside, std::uint32_t row) {
      const auto here = ops.kind[row] == HostKind::op
                            ? by_operation.of(static_cast<std::uint32_t>(ops.name[row]),
                                              capture.text(ops.name[row]))
                            : LayerType::other;
      return maps.around(outside, here);
    });
    return maps.apply(number, LayerType::other);
  };
  for (std::uint32_t activity = 0; activity < activities.size(); ++activity) {
    const auto kernel = by_kernel.of(static_cast<std::uint32_t>(activities.name[activity]),
                                     capture.text(activities.name[activity]));
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
      if (type == LayerType::other) type = kernel;
    }
    layers[activity] = type;
  }
  find_unnamed_communication(capture, attribution, layers);
  return layers;
}

}  // namespace gf
