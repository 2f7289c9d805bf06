// Global alignment of two sequences of symbols: the pairing of equal symbols, in order on both
// sides, that has the most pairs. Where several pairings have the most, the durations choose, and
// the pairs that are not in all of them say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace gf {

struct Alignment {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> partner;  // by position in a: position in b, or kNone
  std::vector<bool>
      ambiguous;  // by position in a: some equally good pairing gives it another partner, or none
};

/// cost(i, j) >= 0 says how badly the durations of a[i] and b[j] agree; it decides between pairings
/// of equally many pairs. Time and memory grow with a.size() * b.size(): callers cut long sequences
/// first.
Alignment align_exactly(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right,
                        const std::function<double(std::size_t, std::size_t)>& cost = {});

}  // namespace gf
