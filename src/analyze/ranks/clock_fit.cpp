#include "analyze/ranks/clock_fit.h"

#include <algorithm>
#include <cmath>

namespace gf {

namespace {

Nanos middle(std::vector<Nanos> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  const Nanos below = *std::max_element(values.begin(), half);
  return below + (*half - below) / 2;
}

/// Median of the slopes between pairs half of the time apart (Siegel and Theil's idea at n pairs).
double slope_of(const std::vector<ClockPair>& pairs) {
  std::vector<double> slopes;
  const std::size_t half = pairs.size() / 2;
  for (std::size_t i = 0; i + half < pairs.size(); ++i) {
    const auto& early = pairs[i];
    const auto& late = pairs[i + half];
    if (late.at <= early.at) continue;
    slopes.push_back(static_cast<double>(late.difference - early.difference) /
                     static_cast<double>(late.at - early.at));
  }
  if (slopes.empty()) return 0;
  const auto at = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), at, slopes.end());
  return *at;
}

void settle(const std::vector<ClockPair>& pairs, ClockFit& fit) {
  fit.offset = 0;
  std::vector<Nanos> rest;
  for (const auto& pair : pairs) rest.push_back(pair.difference - fit.at(pair.at));
  fit.offset = middle(rest);
  for (auto& value : rest) value = std::abs(value - fit.offset);
  fit.residual = middle(std::move(rest));
}

}  // namespace

ClockFit fit_clock(std::vector<ClockPair> pairs) {
  ClockFit fit;
  fit.pairs = pairs.size();
  if (pairs.empty()) return fit;
  std::sort(pairs.begin(), pairs.end(), [](const ClockPair& left, const ClockPair& right) {
    if (left.at != right.at) return left.at < right.at;
    return left.difference < right.difference;
  });
  fit.about = pairs.front().at + (pairs.back().at - pairs.front().at) / 2;
  settle(pairs, fit);
  constexpr std::size_t kFewest = 8;      // for a slope
  constexpr double kCertain = 4;          // standard errors
  constexpr double kSpread = 1.4826;      // of a normal distribution, from its median deviation
  constexpr double kWorstDrift = 200e-6;  // clocks of computers keep time better than this
  const double span = static_cast<double>(pairs.back().at - pairs.front().at);
  if (pairs.size() < kFewest || span <= 0) return fit;
  ClockFit sloped = fit;
  sloped.drift = slope_of(pairs);
  settle(pairs, sloped);
  const double error = kSpread * static_cast<double>(std::max<Nanos>(sloped.residual, 1)) *
                       std::sqrt(12.0 / static_cast<double>(pairs.size())) * 1.6 / span;
  if (std::abs(sloped.drift) > kCertain * error && std::abs(sloped.drift) < kWorstDrift)
    return sloped;
  return fit;
}

}  // namespace gf
