// GPUs of a machine that did the same share lines: what a reader looks for is the one that did not.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace gf {

/// Within 2 % of the larger; shares within a point.
inline bool nearly_equal(double left, double right) {
  return std::abs(left - right) <= std::max(0.02 * std::max(std::abs(left), std::abs(right)), 0.01);
}

/// Neighbors that are alike to the first of them, by `same(first, other)`.
template <class T, class Same>
std::vector<std::span<const T>> runs_alike(const std::vector<T>& all, Same same) {
  std::vector<std::span<const T>> runs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (runs.empty() || !same(runs.back().front(), all[i]))
      runs.emplace_back(&all[i], 1);
    else
      runs.back() = {runs.back().data(), runs.back().size() + 1};
  }
  return runs;
}

/// "GPU 3", or "GPU 0-15" of several.
inline std::string gpu_numbers(std::int64_t first, std::int64_t last) {
  if (first == last) return fmt::format("GPU {}", first);
  return fmt::format("GPU {}-{}", first, last);
}

}  // namespace gf
