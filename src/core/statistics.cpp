#include "core/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gf {

double quantile(std::vector<double> values, double q) {
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(at));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(low), values.end());
  const double a = values[low];
  if (low + 1 >= values.size()) return a;
  const double b =
      *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(low) + 1, values.end());
  return a + (at - static_cast<double>(low)) * (b - a);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double median_absolute_deviation(const std::vector<double>& values) {
  const double m = median(values);
  std::vector<double> away(values.size());
  std::transform(values.begin(), values.end(), away.begin(),
                 [m](double v) { return std::abs(v - m); });
  return median(std::move(away));
}

namespace {

constexpr double kQuantiles[] = {.05, .25, .5, .75, .95};
constexpr double Distribution::* kQuantileMembers[] = {&Distribution::p5, &Distribution::p25,
                                                       &Distribution::median, &Distribution::p75,
                                                       &Distribution::p95};

/// Shares in equal bins; `share(i)` is that of value i.
template <class Share>
void fill_shape(Distribution& d, std::span<const double> values, Share&& share) {
  if (d.max <= d.min) return;
  constexpr int kBins = 20;
  d.shape.assign(kBins, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int bin = static_cast<int>((values[i] - d.min) / (d.max - d.min) * kBins);
    d.shape[static_cast<std::size_t>(std::clamp(bin, 0, kBins - 1))] += share(i);
  }
}

}  // namespace

Distribution distribution(std::vector<double> values) {
  Distribution d;
  d.count = values.size();
  if (values.empty()) return d;
  const auto n = static_cast<double>(values.size());
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  d.min = *min;
  d.max = *max;
  d.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  fill_shape(d, values, [each = 1 / n](std::size_t) { return each; });
  // Each quantile is the first value that enough others do not exceed. From the middle outwards, so
  // that each parts what is left.
  auto rank = [&](std::size_t q) {
    return values.begin() + static_cast<std::ptrdiff_t>(std::ceil(kQuantiles[q] * n)) - 1;
  };
  auto select = [&](std::size_t q, auto from, auto to) {
    const auto at = rank(q);
    if (at < to) std::nth_element(from, at, to);
    d.*kQuantileMembers[q] = *at;
    return at;
  };
  const auto middle = select(2, values.begin(), values.end());
  select(0, values.begin(), select(1, values.begin(), middle));
  select(4, select(3, middle, values.end()), values.end());
  return d;
}

Distribution distribution(std::span<const double> values, std::span<const double> weights) {
  Distribution d;
  d.count = values.size();
  if (values.empty()) return d;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (total <= 0) return distribution(std::vector<double>(values.begin(), values.end()));
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  d.min = values[order.front()];
  d.max = values[order.back()];
  d.mean = std::inner_product(values.begin(), values.end(), weights.begin(), 0.0) / total;
  std::size_t next = 0;
  double seen = 0;
  for (std::size_t i : order) {
    seen += weights[i];
    while (next < std::size(kQuantiles) && seen >= kQuantiles[next] * total)
      d.*kQuantileMembers[next++] = values[i];
  }
  while (next < std::size(kQuantiles)) d.*kQuantileMembers[next++] = d.max;
  fill_shape(d, values, [&](std::size_t i) { return weights[i] / total; });
  return d;
}

}  // namespace gf
