// Splits a measured energy into components and over leaves, in whole nanojoules, and adds leaves up
// to rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyze/context.h"
#include "analyze/energy/model.h"
#include "analyze/energy/work.h"
#include "analyze/layers/layers.h"
#include "analyze/result.h"

namespace gf {

/// The smallest piece of a window that rows are made of: kernels of one layer and name in one step,
/// or time without kernels.
struct EnergyLeaf {
  std::uint32_t step = 0, type = 0, layer = 0, kernel = 0;
  std::int64_t count = 0;      // kernel instances
  Nanos ns = 0;                // exclusive time
  bool runs = false;           // a kernel runs: it takes its part of the rest
  std::optional<bool> waits;   // only for other ranks; empty: these are not known
  TermlessKinds termless = 0;  // kinds of its work that the model has no term for
  EnergyWork work;
  EnergyWork
      doubt;  // standard error of the work, the same error for all leaves of a kernel; empty: none
  std::vector<std::int64_t> nj;  // by component, the rest last
};

/// Fills `nj` of every leaf so that all of them sum to `total`: each component by what the model
/// says of the leaves' work, the rest by the time that kernels run (by all time when none does).
void split_energy(std::int64_t total, const EnergyEvaluator& model,
                  std::vector<EnergyLeaf>& leaves);
/// Without a model: everything is rest.
void split_by_time(std::int64_t total, std::vector<EnergyLeaf>& leaves);

/// Components of some leaves with their intervals, in the order of the model, the rest last; those
/// of no energy are left out. The doubt of leaves widens the intervals; not of all leaves together
/// (`whole`), whose sum is known.
std::vector<EnergyPart> energy_parts(const std::vector<const EnergyLeaf*>& leaves,
                                     const EnergyEvaluator* model, bool whole);

/// One row for each value of `key`; `describe` fills its names. More than `most` rows (0: all) end
/// in "(n others)".
std::vector<EnergyRow> energy_rows(
    const std::vector<EnergyLeaf>& leaves, const EnergyEvaluator* model, std::int64_t total,
    std::size_t most, bool largest_first,
    const std::function<std::uint64_t(const EnergyLeaf&)>& key,
    const std::function<void(const EnergyLeaf&, EnergyRow&)>& describe);

/// The leaves that only wait for other ranks; empty where these are not known.
std::optional<EnergyRow> waiting_row(const std::vector<EnergyLeaf>& leaves,
                                     const EnergyEvaluator* model, std::int64_t total);

// The pieces of a device's window that energy is given to: kernels by step, layer and name, time
// without kernels.

/// In the place of a layer, a type and a kernel: time without kernels, and all time of a window
/// whose kernels are not known.
inline constexpr std::uint32_t kIdleLeaf = UINT32_MAX, kCopiesLeaf = UINT32_MAX - 1,
                               kWholeLeaf = UINT32_MAX - 2;
/// In the place of a step: outside of all.
inline constexpr std::uint32_t kNoStep = UINT32_MAX;

struct Leaves {
  std::vector<EnergyLeaf> list;
  Nanos kernel_ns = 0;             // of all kernels
  Nanos counted_ns = 0;            // of those whose work is known
  std::vector<Nanos> termless_ns;  // of those with each kind of work that the model has no term for
};

/// The kernels of a device with their places in the timeline.
struct PlacedKernels {
  std::vector<KernelInstance> instances;
  std::vector<std::size_t> position;
};
PlacedKernels placed_kernels(const Capture& capture, const DeviceTimeline& line);

/// The leaves of a device; `model` is null without one.
Leaves energy_leaves(const Context& context, const DeviceTimeline& line,
                     const PlacedKernels& kernels, const LayerGroups& layers,
                     const KernelWork& work, const EnergyEvaluator* model);

/// Makes the sums of the leaves what was sampled over the whole window; what no leaf claims goes by
/// the time of running kernels.
void scale_to(const SampledWindow& window, std::vector<EnergyLeaf>& leaves);

}  // namespace gf
