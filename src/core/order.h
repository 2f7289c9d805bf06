// Sorting what is nearly in order: profilers write events in order but for a few blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gf {

/// Sorts [first, last) by a strict total order. Linear for input in order; blocks that are in order
/// themselves are merged where they overlap, so that a few late blocks cost little more. O(n log n)
/// at worst.
template <class Iterator, class Less>
void sort_nearly_ordered(Iterator first, Iterator last, Less less) {
  const auto count = static_cast<std::size_t>(last - first);
  std::vector<std::size_t> runs{0};  // where the runs in order start, and the end
  for (std::size_t i = 1; i < count; ++i) {
    if (!less(first[static_cast<std::ptrdiff_t>(i)], first[static_cast<std::ptrdiff_t>(i - 1)]))
      continue;
    if (runs.size() > count / 16) return std::sort(first, last, less);
    runs.push_back(i);
  }
  if (runs.size() == 1) return;
  runs.push_back(count);
  auto at = [&](std::size_t i) { return first + static_cast<std::ptrdiff_t>(i); };
  while (runs.size() > 2) {
    std::size_t kept = 0;
    for (std::size_t index = 0; index + 1 < runs.size(); index += 2) {
      if (index + 2 < runs.size()) {
        const auto middle = at(runs[index + 1]), end = at(runs[index + 2]);
        const auto from = std::upper_bound(at(runs[index]), middle, *middle, less);
        if (from != middle)
          std::inplace_merge(from, middle, std::lower_bound(middle, end, *(middle - 1), less),
                             less);
      }
      runs[kept++] = runs[index];
    }
    runs[kept++] = count;
    runs.resize(kept);
  }
}

}  // namespace gf
