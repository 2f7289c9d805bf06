// What the tables of device activities and of report kernels both say of a launch.
#pragma once

#include <cstdint>

namespace gf {

/// Copies name, stream, context, shape and resources of a kernel between the two tables.
template <class From, class To>
void copy_launch(const From& from, std::uint32_t row, To& to, std::uint32_t copy) {
  to.name[copy] = from.name[row];
  to.context[copy] = from.context[row];
  to.stream[copy] = from.stream[row];
  to.grid_x[copy] = from.grid_x[row];
  to.grid_y[copy] = from.grid_y[row];
  to.grid_z[copy] = from.grid_z[row];
  to.block_x[copy] = from.block_x[row];
  to.block_y[copy] = from.block_y[row];
  to.block_z[copy] = from.block_z[row];
  to.registers[copy] = from.registers[row];
  to.shared_bytes[copy] = from.shared_bytes[row];
}

}  // namespace gf
