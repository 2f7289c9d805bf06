#include "core/period.h"

#include <algorithm>
#include <vector>

namespace gf {

namespace {

constexpr std::size_t kLongest = 8192;  // samples looked at: cost is its square over four
constexpr double kLeast = 0.3;

}  // namespace

std::optional<Period> find_period(std::span<const float> signal) {
  if (signal.size() > kLongest)
    signal = signal.subspan((signal.size() - kLongest) / 2,
                            kLongest);  // the middle: not start-up, not the end
  const std::size_t n = signal.size(), most = n / 4;
  if (n < 64) return {};
  double mean = 0;
  for (float v : signal) mean += v;
  mean /= static_cast<double>(n);
  std::vector<float> x(signal.begin(), signal.end());
  double power = 0;
  for (auto& v : x) {
    v -= static_cast<float>(mean);
    power += static_cast<double>(v) * v;
  }
  if (power <= 1e-9 * static_cast<double>(n)) return {};
  std::vector<double> r(most + 2, 0);
  for (std::size_t lag = 1; lag <= most + 1; ++lag) {
    float sum = 0;
    for (std::size_t i = 0; i + lag < n; ++i) sum += x[i] * x[i + lag];
    r[lag] =
        static_cast<double>(sum) / power * static_cast<double>(n) / static_cast<double>(n - lag);
  }
  // Peaks behind the first fall below zero: near lag 0 every smooth signal resembles itself.
  std::size_t from = 1;
  while (from <= most && r[from] > 0) ++from;
  double best = 0;
  for (std::size_t lag = std::max<std::size_t>(from, 4); lag <= most; ++lag)
    if (r[lag] >= r[lag - 1] && r[lag] >= r[lag + 1]) best = std::max(best, r[lag]);
  if (best < kLeast) return {};
  for (std::size_t lag = std::max<std::size_t>(from, 4); lag <= most; ++lag) {
    if (r[lag] < r[lag - 1] || r[lag] < r[lag + 1] || r[lag] < 0.85 * best) continue;
    // Multiples of the period tell its length with less rounding: follow the comb of peaks.
    double length = static_cast<double>(lag), at = length, confidence = r[lag];
    for (int k = 2; at + length <= static_cast<double>(most); ++k) {
      const auto guess = static_cast<std::size_t>(at + length + 0.5);
      const std::size_t reach = std::max<std::size_t>(1, lag / 8);
      std::size_t peak = guess;
      for (std::size_t j = guess > reach ? guess - reach : 1; j <= std::min(guess + reach, most);
           ++j)
        if (r[j] > r[peak]) peak = j;
      if (peak > most || r[peak] < 0.5 * best) break;
      at = static_cast<double>(peak);
      length = at / k;
    }
    return Period{length, std::min(confidence, 1.0)};
  }
  return {};
}

}  // namespace gf
