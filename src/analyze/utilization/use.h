// Levels, waterfalls, layers and kernels: what needs attribution and counters.
#pragma once

#include <optional>
#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/utilization/kernel_levels.h"

namespace gf {

/// Where kernel time went, by layer and by kernel.
struct KernelSections {
  std::vector<LayerRow> layer_types, layers;
  std::vector<KernelRow> kernels;
  std::vector<CurvePoint> tensor_curve;
};
/// Needs the timelines, the attribution with layers and the matching.
KernelSections measure_layers(const Context& context, const KernelLevels& levels);

/// The ladder of all devices and of each, and each one's waterfall.
struct LevelSections {
  struct OfDevice {
    std::vector<Level> levels;
    std::vector<WaterfallBar> waterfall;
  };
  std::vector<Level> levels;
  std::vector<OfDevice> devices;
  std::optional<QualityNote> disagreement;  // of counters
};
/// `devices`: the use of context.devices with their idle causes.
LevelSections measure_levels(const Context& context, const KernelLevels& levels,
                             const std::vector<DeviceUse>& devices);

/// Puts sections where an answer has them.
void put(KernelSections sections, Analysis& analysis);
void put(LevelSections sections, Analysis& analysis);

}  // namespace gf
