#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "analyze/steps/steps.h"
#include "core/statistics.h"

namespace gf {

namespace {

constexpr std::size_t kInARow = 3;
// Steps further than this from the median are not like it, however much the others spread; those
// closer are, however little they do.
constexpr double kDeviations = 3, kLeastAllowed = 0.05, kMostAllowed = 0.15;
constexpr std::size_t kFewSteps = 8;  // a median deviation says little of fewer

/// The largest spread, as a share of a step, that n steps may have. Few steps of a wild program
/// look calm by chance, so that fewer are allowed less; tests/unit/analyze_steps_test.cpp simulates
/// that a spread of 1 % is accepted and one of 15 % refused, 99 times of 100 each.
double most_spread(std::size_t n, bool whole_capture) {
  constexpr double kOfFew[] = {0.0192, 0.024, 0.028, 0.032};  // of 4, 5, 6, 7
  if (n <= kInARow) return whole_capture ? 0.019 : 0.0105;
  if (n < kFewSteps) return kOfFew[n - 4];
  return n < 12 ? 0.035 : 0.04;
}

/// Durations that can be taken out one by one, and asked for their median at any time: a tree of
/// counts over their ranks. Medians are those of core/statistics.h, to the last bit.
class Remaining {
 public:
  explicit Remaining(const std::vector<double>& durations)
      : sorted_(durations), counts_(durations.size() + 1), left_(durations.size()) {
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t node = 1; node < counts_.size(); ++node) counts_[node] = node & (~node + 1);
  }

  /// Takes out one that is still in. O(log n)
  void remove(double duration) {
    // Equal ones are taken from the front of their run, so that the ones left are its end.
    const std::size_t run = rank(std::lower_bound(sorted_.begin(), sorted_.end(), duration));
    std::size_t node = position(before(run)) + 1;
    for (; node < counts_.size(); node += node & (~node + 1)) --counts_[node];
    --left_;
  }

  double median() const {
    return middle([this](std::size_t k) { return at(k); });
  }

  /// Median distance from `centre`. O(log² n)
  double median_distance(double centre) const {
    const std::size_t below =
        before(rank(std::lower_bound(sorted_.begin(), sorted_.end(), centre)));
    return middle([&](std::size_t k) { return distance(k, centre, below); });
  }

 private:
  std::size_t rank(std::vector<double>::const_iterator value) const {
    return static_cast<std::size_t>(value - sorted_.begin());
  }

  /// The number left of the first `rank` of all.
  std::size_t before(std::size_t rank) const {
    std::size_t count = 0;
    for (; rank > 0; rank &= rank - 1) count += counts_[rank];
    return count;
  }

  /// The rank among all of the k-th that is left, from 0.
  std::size_t position(std::size_t k) const {
    std::size_t node = 0;
    for (std::size_t step = std::bit_floor(counts_.size() - 1); step > 0; step /= 2)
      if (node + step < counts_.size() && counts_[node + step] <= k) k -= counts_[node += step];
    return node;
  }

  double at(std::size_t k) const { return sorted_[position(k)]; }

  /// The k-th distance from the center, from 0, where `below` of those left lie below it: the k + 1
  /// nearest are the last ones below it and the first ones above, so many of each.
  double distance(std::size_t k, double centre, std::size_t below) const {
    std::size_t fewest = k + 1 > left_ - below ? k + 1 - (left_ - below) : 0;
    std::size_t most = std::min(k + 1, below);
    while (fewest < most) {  // how many of them lie below
      const std::size_t lower = (fewest + most) / 2;
      if (centre - at(below - 1 - lower) < at(below + k - lower) - centre)
        fewest = lower + 1;
      else
        most = lower;
    }
    double farthest = 0;
    if (fewest > 0) farthest = centre - at(below - fewest);
    if (fewest <= k) farthest = std::max(farthest, at(below + k - fewest) - centre);
    return farthest;
  }

  template <class Kth>
  double middle(const Kth& kth) const {
    const double lower = kth((left_ - 1) / 2);
    return left_ % 2 == 1 ? lower : lower + 0.5 * (kth(left_ / 2) - lower);
  }

  std::vector<double> sorted_;
  std::vector<std::size_t> counts_;  // a Fenwick tree
  std::size_t left_;
};

/// Spread of few durations as a share of their middle: the standard deviation.
double spread_of_few(std::span<const double> durations) {
  double mean = 0;
  for (const double d : durations) mean += d / static_cast<double>(durations.size());
  double squares = 0;
  for (const double d : durations) squares += (d - mean) * (d - mean);
  return std::sqrt(squares / static_cast<double>(durations.size() - 1)) / mean;
}

/// With more values, a standard deviation that single outliers do not move.
double spread_of_many(const Remaining& durations) {
  constexpr double kNormal = 1.4826;  // standard deviations in a median absolute deviation
  const double middle = durations.median();
  return kNormal * durations.median_distance(middle) / middle;
}

}  // namespace

std::optional<std::size_t> first_stable(const std::vector<StepInfo>& steps) {
  if (steps.size() < kInARow) return std::nullopt;
  std::vector<double> durations;
  for (const auto& step : steps) durations.push_back(static_cast<double>(step.duration_ns));
  const std::size_t half = steps.size() / 2;
  const std::vector<double> late(durations.begin() + static_cast<std::ptrdiff_t>(half),
                                 durations.end());
  const double middle = median(late);
  const double allowed = std::clamp(kDeviations * median_absolute_deviation(late),
                                    kLeastAllowed * middle, kMostAllowed * middle);
  const auto near = [&](double duration) { return std::abs(duration - middle) <= allowed; };
  Remaining remaining(durations);
  for (std::size_t i = 0; i <= half && i + kInARow <= steps.size(); ++i) {
    const auto rest = std::span<const double>(durations).subspan(i);
    const auto first = rest.first(kInARow);
    if (std::all_of(first.begin(), first.end(), near)) {
      const double spread =
          rest.size() < kFewSteps ? spread_of_few(rest) : spread_of_many(remaining);
      if (spread <= most_spread(rest.size(), i == 0)) return i;
    }
    remaining.remove(durations[i]);
  }
  return std::nullopt;
}

}  // namespace gf
