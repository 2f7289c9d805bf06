// Layers: the type of every device activity, and kernel time by type and by module or operator.
#pragma once

#include <memory>
#include <vector>

#include "analyze/context.h"
#include "analyze/utilization/instances.h"
#include "analyze/utilization/kernel_levels.h"

namespace gf {

/// The layer type of each activity: by the operations around the launch, then by the forward
/// operation, the module class and the kernel name (docs/layers.md). Optimizer phases make
/// everything but communication and copies Optimizer.
std::vector<LayerType> classify_layers(const Capture& capture, const Names& names,
                                       const Attribution& attribution);

/// Gives kernels without a type that of communication, in a job of several ranks: those that take
/// few SMs and run on a stream of communication, or for long in an operation that sends.
void find_unnamed_communication(const Capture& capture, const Names& names,
                                const Attribution& attribution, std::vector<LayerType>& layers);

// Kernel time of all devices by layer, largest first. Each kernel instance is in exactly one row of
// each table, so the ns of a table sum to the kernel-busy time of all devices.

/// One row a layer type, all phases.
std::vector<LayerRow> layer_types(const Context& context, const KernelLevels& levels);
/// One row a type, module or operator, and phase. More rows than options.max_rows end in one row
/// "(n others)".
std::vector<LayerRow> layer_rows(const Context& context, const KernelLevels& levels);

/// Kernel instances by type, module or operator, and phase: what layer_rows() makes rows of.
struct LayerGroups {
  std::vector<std::uint32_t> group;  // by position in the instances
  std::vector<LayerRow> rows;        // by group: type, name and phase
};
LayerGroups group_layers(const Context& context, const std::vector<KernelInstance>& instances);
/// Those of the context's kernels: the ones that it has, or made now.
std::shared_ptr<const LayerGroups> layer_groups_of(const Context& context);

}  // namespace gf
