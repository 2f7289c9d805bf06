// The pieces of a device's window that energy is given to: kernels by step, layer and name, time
// without kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/context.h"
#include "analyze/energy/split.h"
#include "analyze/energy/work.h"
#include "analyze/layers/layers.h"

namespace gf {

/// In the place of a layer, a type and a kernel: time without kernels, and all time of a window
/// whose kernels are not known.
inline constexpr std::uint32_t kIdleLeaf = UINT32_MAX, kCopiesLeaf = UINT32_MAX - 1,
                               kWholeLeaf = UINT32_MAX - 2;
/// In the place of a step: outside of all.
inline constexpr std::uint32_t kNoStep = UINT32_MAX;

struct Leaves {
  std::vector<EnergyLeaf> list;
  Nanos kernel_ns = 0;   // of all kernels
  Nanos counted_ns = 0;  // of those whose work is known
};

/// The kernels of a device with their places in the timeline.
struct PlacedKernels {
  std::vector<KernelInstance> instances;
  std::vector<std::size_t> position;
};
PlacedKernels placed_kernels(const Capture& capture, const DeviceTimeline& line);

/// The leaves of a device; `columns` of the model, 0 without one.
Leaves energy_leaves(const Context& context, const DeviceTimeline& line,
                     const PlacedKernels& kernels, const LayerGroups& layers,
                     const KernelWork& work, std::size_t columns);

/// Makes the sums of the leaves what was sampled over the whole window; what no leaf claims goes by
/// the time of running kernels.
void scale_to(const SampledWindow& window, std::vector<EnergyLeaf>& leaves);

}  // namespace gf
