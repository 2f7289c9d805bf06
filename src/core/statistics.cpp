#include "core/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/assert.h"

namespace gf {

double quantile(std::vector<double> values, double quantile) {
  GF_ASSERT(!values.empty() && quantile >= 0 && quantile <= 1);
  const double at = quantile * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(at));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(low), values.end());
  const double lower = values[low];
  if (low + 1 >= values.size()) return lower;
  const double upper =
      *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(low) + 1, values.end());
  return lower + (at - static_cast<double>(low)) * (upper - lower);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double median_absolute_deviation(const std::vector<double>& values) {
  const double centre = median(values);
  std::vector<double> away(values.size());
  std::transform(values.begin(), values.end(), away.begin(),
                 [centre](double value) { return std::abs(value - centre); });
  return median(std::move(away));
}

namespace {

constexpr double kQuantiles[] = {.05, .25, .5, .75, .95};
constexpr double Distribution::* kQuantileMembers[] = {&Distribution::p5, &Distribution::p25,
                                                       &Distribution::median, &Distribution::p75,
                                                       &Distribution::p95};

/// Shares in equal bins; `share(i)` is that of value i.
template <class Share>
void fill_shape(Distribution& distribution, std::span<const double> values, Share&& share) {
  if (distribution.max <= distribution.min) return;
  constexpr int kBins = 20;
  distribution.shape.assign(kBins, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int bin = static_cast<int>((values[i] - distribution.min) /
                                     (distribution.max - distribution.min) * kBins);
    distribution.shape[static_cast<std::size_t>(std::clamp(bin, 0, kBins - 1))] += share(i);
  }
}

}  // namespace

Distribution distribution(std::vector<double> values) {
  Distribution result;
  result.count = values.size();
  if (values.empty()) return result;
  const auto count = static_cast<double>(values.size());
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  result.min = *min;
  result.max = *max;
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  fill_shape(result, values, [each = 1 / count](std::size_t) { return each; });
  // Each quantile is the first value that enough others do not exceed. From the middle outwards, so
  // that each parts what is left.
  auto rank = [&](std::size_t index) {
    return values.begin() + static_cast<std::ptrdiff_t>(std::ceil(kQuantiles[index] * count)) - 1;
  };
  auto select = [&](std::size_t index, auto from, auto to) {
    const auto at = rank(index);
    if (at < to) std::nth_element(from, at, to);
    result.*kQuantileMembers[index] = *at;
    return at;
  };
  const auto middle = select(2, values.begin(), values.end());
  select(0, values.begin(), select(1, values.begin(), middle));
  select(4, select(3, middle, values.end()), values.end());
  return result;
}

Distribution distribution(std::span<const double> values, std::span<const double> weights) {
  GF_ASSERT(values.size() == weights.size());
  Distribution result;
  result.count = values.size();
  if (values.empty()) return result;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (total <= 0) return distribution(std::vector<double>(values.begin(), values.end()));
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](auto left, auto right) { return values[left] < values[right]; });
  result.min = values[order.front()];
  result.max = values[order.back()];
  result.mean = std::inner_product(values.begin(), values.end(), weights.begin(), 0.0) / total;
  std::size_t next = 0;
  double seen = 0;
  for (std::size_t sample : order) {
    seen += weights[sample];
    while (next < std::size(kQuantiles) && seen >= kQuantiles[next] * total)
      result.*kQuantileMembers[next++] = values[sample];
  }
  while (next < std::size(kQuantiles)) result.*kQuantileMembers[next++] = result.max;
  fill_shape(result, values, [&](std::size_t i) { return weights[i] / total; });
  return result;
}

namespace {

constexpr double kInside = 0.95;
constexpr double kNormal = 1.959963984540054;  // 97.5 % quantile of the normal distribution
// From here on the series in 1/degrees is exact to the last digits.
constexpr std::int64_t kMany = 400;

/// The probability of being inside [-t, t] with t = sqrt(degrees) tan(angle): a finite sum
/// (Abramowitz and Stegun 26.7.3 and 26.7.4).
double inside(double angle, std::int64_t degrees) {
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = degrees == 1 ? 0 : term;
  for (std::int64_t factor = odd ? 3 : 2; factor < degrees; factor += 2) {
    term *= cosine * cosine * static_cast<double>(factor - 1) / static_cast<double>(factor);
    sum += term;
  }
  sum *= std::sin(angle);
  if (odd) sum = (sum + angle) * 2 / std::numbers::pi;
  return sum;
}

/// The first terms of the quantile in powers of 1/degrees (26.7.5).
double quantile_of_many(double degrees) {
  const double x = kNormal, square = x * x;
  const double first = x * (square + 1) / 4;
  const double second = x * ((5 * square + 16) * square + 3) / 96;
  const double third = x * (((3 * square + 19) * square + 17) * square - 15) / 384;
  const double fourth =
      x * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160;
  return x + (first + (second + (third + fourth / degrees) / degrees) / degrees) / degrees;
}

}  // namespace

double student_quantile95(std::int64_t degrees) {
  GF_ASSERT(degrees >= 1);
  if (degrees >= kMany) return quantile_of_many(static_cast<double>(degrees));
  double low = 0, high = std::numbers::pi / 2;
  for (int halving = 0; halving < 60; ++halving) {
    const double angle = (low + high) / 2;
    (inside(angle, degrees) < kInside ? low : high) = angle;
  }
  return std::sqrt(static_cast<double>(degrees)) * std::tan(low);
}

}  // namespace gf
