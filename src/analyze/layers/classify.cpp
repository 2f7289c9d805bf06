#include "analyze/attribution/attribution.h"
#include "analyze/layers/layer_type.h"
#include "analyze/layers/layers.h"

namespace gf {
namespace {

/// Types by text, each text looked at once.
class TypeCache {
 public:
  TypeCache(std::size_t texts, LayerType (*decide)(std::string_view)) : types_(texts, kUnknown), decide_(decide) {}
  LayerType of(std::size_t id, std::string_view text) {
    if (types_[id] == kUnknown) types_[id] = static_cast<std::uint8_t>(decide_(text));
    return static_cast<LayerType>(types_[id]);
  }

 private:
  static constexpr std::uint8_t kUnknown = 255;
  std::vector<std::uint8_t> types_;
  LayerType (*decide_)(std::string_view);
};

}  // namespace

void classify_layers(const Capture& capture, Attribution& attribution) {
  attribution.layer_types.assign(kLayerTypeNames.begin(), kLayerTypeNames.end());
  TypeCache by_operation(capture.strings.size(), layer_of_operation), by_kernel(capture.strings.size(), layer_of_kernel);
  TypeCache by_module(attribution.modules.size(), layer_of_module);
  const auto& activities = capture.activities;
  const auto& ops = capture.host_ops;

  // From the inside out: the first operation with a type, and every one around it that decides over it.
  auto climb = [&](std::uint32_t op) {
    LayerType type = LayerType::other;
    for (; op != kNoRow; op = attribution.op_parent[op]) {
      if (ops.kind[op] != HostKind::op) continue;
      const auto here = by_operation.of(static_cast<std::uint32_t>(ops.name[op]), capture.text(ops.name[op]));
      if (type == LayerType::other || outer_decides(here, type)) type = here;
    }
    return type;
  };
  for (std::uint32_t a = 0; a < activities.size(); ++a) {
    const auto kernel = by_kernel.of(static_cast<std::uint32_t>(activities.name[a]), capture.text(activities.name[a]));
    LayerType type = LayerType::other;
    if (activities.kind[a] != ActivityKind::kernel) type = LayerType::copy;
    else if (kernel == LayerType::communication) type = kernel;
    else {
      type = climb(attribution.op[a]);
      if (attribution.phase[a] == 3 && type != LayerType::communication && type != LayerType::copy) type = LayerType::optimiser;
      if (type == LayerType::other) type = climb(attribution.forward_op[a]);
      if (type == LayerType::other && attribution.module[a]) type = by_module.of(attribution.module[a], attribution.modules[attribution.module[a]]);
      if (type == LayerType::other) type = kernel;
    }
    attribution.layer[a] = static_cast<std::uint32_t>(type);
  }
}

}  // namespace gf
