#include <algorithm>
#include <limits>

#include "analyze/match/match.h"

namespace gf {

namespace {

// Steps into a cell that keep the number of pairs at its maximum; a cell may have several.
constexpr std::uint8_t kPair = 1, kSkipA = 2, kSkipB = 4;

struct Lattice {
  std::size_t rows, columns;  // sizes of a and b, plus one
  std::vector<std::uint8_t> steps;
  std::uint8_t at(std::size_t row, std::size_t column) const {
    return steps[row * columns + column];
  }
};

/// Longest common subsequence by its recurrence, keeping every optimal step.
Lattice build(std::span<const std::uint32_t> one, std::span<const std::uint32_t> right) {
  Lattice lattice{one.size() + 1, right.size() + 1, {}};
  lattice.steps.resize(lattice.rows * lattice.columns);
  std::vector<std::uint32_t> previous(lattice.columns, 0), current(lattice.columns, 0);
  for (std::size_t j = 1; j < lattice.columns; ++j) lattice.steps[j] = kSkipB;
  for (std::size_t i = 1; i < lattice.rows; ++i) {
    std::uint8_t* steps = lattice.steps.data() + i * lattice.columns;
    const std::uint32_t symbol = one[i - 1];
    steps[0] = kSkipA;
    std::uint32_t left = 0;
    for (std::size_t j = 1; j < lattice.columns; ++j) {
      const std::uint32_t up = previous[j];
      std::uint32_t pair = symbol == right[j - 1] ? previous[j - 1] + 1 : 0;
      const std::uint32_t best = std::max(std::max(up, left), pair);
      steps[j] = 0;
      if (pair == best && pair > 0) steps[j] |= kPair;
      if (up == best) steps[j] |= kSkipA;
      if (left == best) steps[j] |= kSkipB;
      current[j] = left = best;
    }
    std::swap(previous, current);
  }
  return lattice;
}

/// One optimal path: for each row the columns it visits, and the partners on it.
struct Path {
  std::vector<std::uint32_t> low, high;  // by row of the lattice
  std::vector<std::uint32_t> partner;    // by position in a
};

/// Traces back from the end. Optimal paths form a lattice between two extreme ones: the one that
/// skips in b as late as it can (traced back: skips b first) and the one that skips in a as late as
/// it can. A pair that both contain is in every one.
Path trace(const Lattice& lattice, bool skip_b_first) {
  Path path;
  path.low.assign(lattice.rows, 0);
  path.high.assign(lattice.rows, 0);
  path.partner.assign(lattice.rows - 1, SequenceMatch::kNone);
  std::size_t row = lattice.rows - 1, column = lattice.columns - 1;
  path.low[row] = path.high[row] = static_cast<std::uint32_t>(column);
  while (row > 0 || column > 0) {
    const std::uint8_t steps = lattice.at(row, column);
    std::uint8_t first = kSkipA, last = kSkipB;
    if (skip_b_first) std::swap(first, last);
    std::uint8_t step = last;
    if (steps & first) {
      step = first;
    } else if (steps & kPair) {
      step = kPair;
    }
    if (step == kSkipB) {
      path.low[row] = static_cast<std::uint32_t>(--column);
      continue;
    }
    if (step == kPair) path.partner[row - 1] = static_cast<std::uint32_t>(--column);
    --row;
    path.low[row] = path.high[row] = static_cast<std::uint32_t>(column);
  }
  return path;
}

/// The cheapest of all optimal paths; searched between the extremes only.
std::vector<std::uint32_t> cheapest(const Lattice& lattice, const Path& one, const Path& other,
                                    const std::function<double(std::size_t, std::size_t)>& cost) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<std::uint32_t> low(lattice.rows), high(lattice.rows);
  std::vector<std::size_t> begin(lattice.rows + 1, 0);
  for (std::size_t i = 0; i < lattice.rows; ++i) {
    low[i] = std::min(one.low[i], other.low[i]);
    high[i] = std::max(one.high[i], other.high[i]);
    begin[i + 1] = begin[i] + high[i] - low[i] + 1;
  }
  std::vector<double> sum(begin.back(), kFar);
  std::vector<std::uint8_t> chosen(begin.back(), 0);
  const auto inside = [&](std::size_t i, std::size_t j) { return j >= low[i] && j <= high[i]; };
  const auto cell = [&](std::size_t i, std::size_t j) { return begin[i] + j - low[i]; };
  sum[0] = 0;
  for (std::size_t i = 0; i < lattice.rows; ++i)
    for (std::size_t j = low[i]; j <= high[i]; ++j) {
      const std::uint8_t steps = lattice.at(i, j);
      const auto take = [&](std::uint8_t step, double value) {
        if (value < sum[cell(i, j)]) {
          sum[cell(i, j)] = value;
          chosen[cell(i, j)] = step;
        }
      };
      if (steps & kPair && inside(i - 1, j - 1))
        take(kPair, sum[cell(i - 1, j - 1)] + cost(i - 1, j - 1));
      if (steps & kSkipA && inside(i - 1, j)) take(kSkipA, sum[cell(i - 1, j)]);
      if (steps & kSkipB && j > 0 && inside(i, j - 1)) take(kSkipB, sum[cell(i, j - 1)]);
    }
  std::vector<std::uint32_t> partner(lattice.rows - 1, SequenceMatch::kNone);
  for (std::size_t i = lattice.rows - 1, j = lattice.columns - 1; i > 0 || j > 0;) {
    switch (chosen[cell(i, j)]) {
      case kPair:
        partner[--i] = static_cast<std::uint32_t>(--j);
        break;
      case kSkipA:
        --i;
        break;
      case kSkipB:
        --j;
        break;
      default:
        return one.partner;  // costs that are not numbers: any optimal path serves
    }
  }
  return partner;
}

}  // namespace

SequenceMatch align_exactly(std::span<const std::uint32_t> left,
                            std::span<const std::uint32_t> right,
                            const std::function<double(std::size_t, std::size_t)>& cost) {
  SequenceMatch out;
  out.partner.assign(left.size(), SequenceMatch::kNone);
  out.ambiguous.assign(left.size(), false);
  if (std::ranges::equal(left, right)) {  // the only pairing with all pairs
    for (std::uint32_t i = 0; i < left.size(); ++i) out.partner[i] = i;
    return out;
  }
  const Lattice lattice = build(left, right);
  const Path one = trace(lattice, true), other = trace(lattice, false);
  out.partner = cost ? cheapest(lattice, one, other, cost) : one.partner;
  for (std::size_t i = 0; i < left.size(); ++i)
    out.ambiguous[i] = out.partner[i] != SequenceMatch::kNone &&
                       (one.partner[i] != out.partner[i] || other.partner[i] != out.partner[i]);
  return out;
}

}  // namespace gf
