#include <algorithm>
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

/// Spread of durations as a share of their middle: the standard deviation of few, of more one that
/// single outliers do not move.
double relative_spread(std::span<const double> durations) {
  if (durations.size() >= kFewSteps) {
    constexpr double kNormal = 1.4826;  // standard deviations in a median absolute deviation
    std::vector<double> all(durations.begin(), durations.end());
    const double deviation = median_absolute_deviation(all);
    return kNormal * deviation / median(all);
  }
  double mean = 0;
  for (const double d : durations) mean += d / static_cast<double>(durations.size());
  double squares = 0;
  for (const double d : durations) squares += (d - mean) * (d - mean);
  return std::sqrt(squares / static_cast<double>(durations.size() - 1)) / mean;
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
  for (std::size_t i = 0; i <= half && i + kInARow <= steps.size(); ++i) {
    const auto rest = std::span<const double>(durations).subspan(i);
    const auto first = rest.first(kInARow);
    if (std::all_of(first.begin(), first.end(), near) &&
        relative_spread(rest) <= most_spread(rest.size(), i == 0))
      return i;
  }
  return std::nullopt;
}

}  // namespace gf
