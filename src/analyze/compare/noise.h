// Is one run slower than another, or is it noise?
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gf {

/// The mean step of one run over that of another, with 95 % bounds.
struct RatioInterval {
  double ratio = 0, low = 0, high = 0;
  bool beyond_noise() const { return low > 1 || high < 1; }
};

/// Steps are drawn again from those of each run, 2 000 times. Few steps spread less than what they
/// were drawn from, so that deviations are widened by Student's factor for their number. Empty with
/// fewer than three steps on a side. The same steps always give the same answer.
std::optional<RatioInterval> bootstrap_ratio(std::span<const std::int64_t> first,
                                             std::span<const std::int64_t> other);

}  // namespace gf
