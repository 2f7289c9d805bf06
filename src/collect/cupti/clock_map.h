// Puts GPU timestamps on the host's clock without a CUDA context. A sample cannot be decoded before
// it ended: every drain gives an upper bound of (host - GPU), tight when the newest sample is
// fresh. The least bound of the last minute is taken, so that the map follows drift between the
// clocks; samples lie at most one decode interval late.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "core/time.h"

namespace gf {

class ClockMap {
 public:
  /// A sample that ended at `gpu_ns` was in hand at `host_ns`.
  void observe(std::int64_t gpu_ns, Nanos host_ns) {
    const std::int64_t bound = host_ns - gpu_ns;
    while (!bounds_.empty() && bounds_.back().bound >= bound) bounds_.pop_back();
    bounds_.push_back({host_ns, bound});
    while (bounds_.front().at < host_ns - kMemory) bounds_.pop_front();
  }
  bool known() const { return !bounds_.empty(); }
  std::int64_t offset() const {
    if (bounds_.empty()) return 0;
    return bounds_.front().bound;
  }
  Nanos host(std::int64_t gpu_ns) const { return gpu_ns + offset(); }

 private:
  static constexpr Nanos kMemory = 60 * kNsPerSecond;
  struct Bound {
    Nanos at;
    std::int64_t bound;
  };
  std::deque<Bound> bounds_;  // bounds rise, so the front is the least of the window
};

}  // namespace gf
