#include "core/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace gf {

namespace {

/// Edits of one letter, where two letters in the wrong order count as one.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> before, above(other.size() + 1), row(other.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t changed = above[j] + (one[i] == other[j] ? 0 : 1);
      row[j + 1] = std::min({changed, row[j] + 1, above[j + 1] + 1});
      if (i > 0 && j > 0 && one[i] == other[j - 1] && one[i - 1] == other[j])
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = above;
    above = row;
  }
  return above.back();
}

}  // namespace

std::string nearest(std::string_view asked, const std::vector<std::string>& names) {
  std::string best;
  std::size_t least = std::max<std::size_t>(asked.size() / 3, 1) + 1;
  for (const auto& name : names) {
    const auto steps = distance(asked, name);
    if (steps >= least) continue;
    least = steps;
    best = name;
  }
  return best;
}

std::string did_you_mean(std::string_view asked, const std::vector<std::string>& names) {
  const auto meant = nearest(asked, names);
  return meant.empty() ? meant : ": did you mean " + meant + "?";
}

}  // namespace gf
