// Sums of what a file says, which may be anything.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gf::work {

inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

/// a + b, held within what no memory has.
inline std::int64_t add_bounded(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) sum = b > 0 ? kMostBytes : -kMostBytes;
  return std::clamp(sum, -kMostBytes, kMostBytes);
}

inline std::int64_t whole_bounded(double value) {
  if (!(value > 0)) return 0;
  return static_cast<std::int64_t>(std::min(value, static_cast<double>(kMostBytes)));
}

}  // namespace gf::work
