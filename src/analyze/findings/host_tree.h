// Operations of the host as trees: which have to do with the device, and what comes before and
// after each.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/context.h"
#include "core/lazy.h"

namespace gf {

/// By row of host_ops.
struct HostTree {
  explicit HostTree(const Context& context);

  std::vector<bool> device;               // a call of the GPU runtime begins in it
  std::vector<std::uint32_t> op_of_call;  // by row of api_calls: innermost operation, or kNoRow
  std::vector<bool> launches;             // by row of threads: it starts work of the device
};

/// Operations inside the same one, on the same thread, by row of host_ops.
struct HostSiblings {
  explicit HostSiblings(const Context& context);

  std::vector<std::uint32_t> before;
  /// Worked out when first asked for: few rules look ahead.
  const std::vector<std::uint32_t>& after() const;

 private:
  Lazy<std::vector<std::uint32_t>> after_;
};

}  // namespace gf
