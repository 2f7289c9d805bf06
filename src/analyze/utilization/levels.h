// The ladder: how deep the devices are used, from "a kernel runs" down to achieved tensor
// operations.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/utilization/kernel_levels.h"

namespace gf {

/// The levels over some devices (docs/ladder.md). Kernels without counters make an interval: low
/// takes them as 0, high as their upper level; value is low. A level that no counter gives has no
/// value and says what to collect.
std::vector<Level> ladder(const Context& context, std::span<const DeviceTimeline> devices,
                          const KernelLevels& kernel_levels);

/// The spread of every known level over some kernel instances, weighted by their exclusive time.
std::vector<LevelSpread> level_spreads(std::span<const std::uint32_t> activities,
                                       std::span<const double> weights,
                                       const KernelLevels& kernel_levels);

// Levels, waterfalls, layers and kernels: what needs attribution and counters.

/// Kernel time by layer and by kernel.
struct KernelSections {
  std::vector<LayerRow> layer_types, layers;
  std::vector<KernelRow> kernels;
  std::vector<CurvePoint> tensor_curve;
};
/// Needs the timelines, the attribution with layers and the matching; what context.omitted names
/// stays empty.
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
