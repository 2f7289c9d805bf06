// Groups of launches: kernels that are alike in all that a rule reads of a kernel's name, shape and
// operator. A long trace has thousands of groups and millions of kernels.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "analyze/context.h"
#include "analyze/traits.h"

namespace gf {

/// Columns that the launches of a group have in common: as in activities, -1 and NaN without data.
struct Launch {
  std::int64_t shared_bytes;
  std::uint64_t occupancy_bits;  // of a double, whose NaN is no key
  Text name;                     // of the kernel
  Text operation;                // innermost at the launch; none when none is known
  std::uint32_t program_op, device;
  std::int32_t grid_x, grid_y, grid_z, block_x, block_y, block_z, registers;
  LayerType type;
  TrainingPhase phase;
  std::uint16_t unused = 0;

  double occupancy() const { return std::bit_cast<double>(occupancy_bits); }
};
static_assert(sizeof(Launch) == 64 && std::has_unique_object_representations_v<Launch>);

struct LaunchGroup : Launch {
  Nanos exclusive_ns;       // of all its kernels in the window
  std::int64_t kernels;     // in the window, one at least
  NameWord word;            // of the kernel's name
  double blocks_per_sm;     // thread blocks over the SMs of the device; NaN without data
  double threads_of_block;  // NaN without data
};

struct LaunchGroups {
  std::vector<LaunchGroup> groups;  // in order of their first launches
  std::vector<std::uint32_t> of;    // by position in Context::kernels
};

/// The groups of a context whose kernels have layers: its own, or made anew.
std::shared_ptr<const LaunchGroups> launch_groups_of(const Context& context);

/// "aten::bmm": the innermost operation at the launch of an activity; none when none is known.
inline Text operation_of(const Context& context, std::uint32_t activity) {
  const auto op = context.attribution.op[activity];
  return op == kNoRow ? Text::none : context.capture.host_ops.name[op];
}

/// Thread blocks of a kernel over the SMs of its device; NaN without data.
double blocks_per_sm(const Capture& capture, std::uint32_t activity);
/// Threads of a block; NaN without data.
double threads_of_block(const Capture& capture, std::uint32_t activity);

/// Types whose kernels multiply matrices.
bool can_use_tensor_cores(LayerType type);
/// True for kernels that multiply matrices: by the type of their layer, or by their own name in a
/// layer of another type, as in a loss.
inline bool multiplies(const LaunchGroup& group) {
  return can_use_tensor_cores(group.type) || (group.word & kernel_is::product) != 0;
}

}  // namespace gf
