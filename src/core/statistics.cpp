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
  const double b = *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(low) + 1, values.end());
  return a + (at - static_cast<double>(low)) * (b - a);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double median_absolute_deviation(const std::vector<double>& values) {
  const double m = median(values);
  std::vector<double> away(values.size());
  std::transform(values.begin(), values.end(), away.begin(), [m](double v) { return std::abs(v - m); });
  return median(std::move(away));
}

Distribution distribution(std::span<const double> values, std::span<const double> weights) {
  Distribution d;
  d.count = values.size();
  if (values.empty()) return d;
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  double total = 0, sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    total += weight(i);
    sum += weight(i) * values[i];
  }
  if (total <= 0) return distribution(values);  // all weights zero: every value counts the same
  d.min = values[order.front()];
  d.max = values[order.back()];
  d.mean = sum / total;
  struct { double q; double* out; } wanted[] = {{.05, &d.p5}, {.25, &d.p25}, {.5, &d.median}, {.75, &d.p75}, {.95, &d.p95}};
  std::size_t next = 0;
  double seen = 0;
  for (std::size_t i : order) {
    seen += weight(i);
    while (next < std::size(wanted) && seen >= wanted[next].q * total) *wanted[next++].out = values[i];
  }
  while (next < std::size(wanted)) *wanted[next++].out = d.max;
  if (d.max > d.min) {
    constexpr int kBins = 20;
    d.shape.assign(kBins, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int bin = static_cast<int>((values[i] - d.min) / (d.max - d.min) * kBins);
      d.shape[static_cast<std::size_t>(std::clamp(bin, 0, kBins - 1))] += weight(i) / total;
    }
  }
  return d;
}

}  // namespace gf
