// Operations of the host as trees: what comes before and after each, and which have to do with the
// device.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/context.h"

namespace gf {

/// By row of host_ops.
struct HostTree {
  explicit HostTree(const Context& context);

  std::vector<bool> device;                  // a call of the GPU runtime begins in it
  std::vector<std::uint32_t> before, after;  // operations inside the same one, on the same thread
  std::vector<std::uint32_t> op_of_call;     // by row of api_calls: innermost operation, or kNoRow
  std::vector<bool> launches;                // by row of threads: it starts work of the device
};

}  // namespace gf
