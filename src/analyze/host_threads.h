// Events of each host thread in order of time: the shared base of attribution, idle causes and
// runtime phases.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/capture.h"

namespace gf {

/// Rows of host_ops and api_calls, thread after thread; inside a thread by start, longer first (so
/// that an enclosing span comes before what it encloses), then by row.
class HostThreads {
 public:
  HostThreads() = default;
  explicit HostThreads(const Capture& capture);

  std::size_t threads() const { return op_begin_.empty() ? 0 : op_begin_.size() - 1; }
  /// Rows of host_ops on a thread (row of capture.threads).
  std::span<const std::uint32_t> ops(std::uint32_t thread) const {
    return part(ops_, op_begin_, thread);
  }
  /// Rows of api_calls on a thread.
  std::span<const std::uint32_t> calls(std::uint32_t thread) const {
    return part(calls_, call_begin_, thread);
  }

 private:
  static std::span<const std::uint32_t> part(const std::vector<std::uint32_t>& rows,
                                             const std::vector<std::size_t>& begin,
                                             std::uint32_t thread) {
    if (thread == kNoRow || thread + 1 >= begin.size()) return {};
    return {rows.data() + begin[thread], begin[thread + 1] - begin[thread]};
  }
  std::vector<std::uint32_t> ops_, calls_;
  std::vector<std::size_t> op_begin_, call_begin_;
};

}  // namespace gf
