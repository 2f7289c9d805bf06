// The unknowns of the fit. A kernel (one name, grid and block) need not run at one rate: where it
// stands in the step decides what lies in the caches and what it works on. Its instances are told
// apart by their neighbours, which in a program of steps is the position in the step; what is too
// rare or too short for an unknown of its own shares one with the rest of its kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/kernel_rates/kernel_groups.h"

namespace gf {

struct KernelColumns {
  std::vector<KernelGroup> groups;  // most time first
  std::vector<std::uint32_t>
      group_of;  // by row of activities; kNoRow for what is no kernel of the device
  std::vector<std::uint32_t> column_of;        // the same, of columns; copies and sets have some
  std::vector<std::uint32_t> group_of_column;  // groups past the largest share the last one, `kept`
  std::vector<double> ns;                      // time of each column
  std::vector<std::int64_t>
      places;              // by group: instances in one step; in a program without steps, all
  std::uint32_t kept = 0;  // groups that have columns of their own
};

KernelColumns kernel_columns(const Capture& capture, std::uint32_t device);

}  // namespace gf
