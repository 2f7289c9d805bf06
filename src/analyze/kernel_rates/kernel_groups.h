// A device's kernels by what makes them the same work: name, grid and block.
#pragma once

#include <cstdint>
#include <vector>

#include "core/time.h"
#include "model/capture.h"

namespace gf {

struct KernelGroup {
  std::uint32_t first = kNoRow;  // row of activities of the first instance
  std::int64_t instances = 0;
  Nanos ns = 0;  // of all instances
};

struct KernelGroups {
  std::vector<KernelGroup> groups;  // most time first
  std::vector<std::uint32_t>
      group_of;  // by row of activities; kNoRow for what is no kernel of the device
};

KernelGroups group_kernels(const Capture& capture, std::uint32_t device);

}  // namespace gf
