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
  const std::size_t count = signal.size(), most = count / 4;
  if (count < 64) return {};
  double mean = 0;
  for (float value : signal) mean += value;
  mean /= static_cast<double>(count);
  std::vector<float> values(signal.begin(), signal.end());
  double power = 0;
  for (auto& value : values) {
    value -= static_cast<float>(mean);
    power += static_cast<double>(value) * value;
  }
  if (power <= 1e-9 * static_cast<double>(count)) return {};
  std::vector<double> correlation(most + 2, 0);
  for (std::size_t lag = 1; lag <= most + 1; ++lag) {
    float sum = 0;
    for (std::size_t i = 0; i + lag < count; ++i) sum += values[i] * values[i + lag];
    correlation[lag] = static_cast<double>(sum) / power * static_cast<double>(count) /
                       static_cast<double>(count - lag);
  }
  // Peaks behind the first fall below zero: near lag 0 every smooth signal resembles itself.
  std::size_t from = 1;
  while (from <= most && correlation[from] > 0) ++from;
  double best = 0;
  for (std::size_t lag = std::max<std::size_t>(from, 4); lag <= most; ++lag)
    if (correlation[lag] >= correlation[lag - 1] && correlation[lag] >= correlation[lag + 1])
      best = std::max(best, correlation[lag]);
  if (best < kLeast) return {};
  for (std::size_t lag = std::max<std::size_t>(from, 4); lag <= most; ++lag) {
    if (correlation[lag] < correlation[lag - 1] || correlation[lag] < correlation[lag + 1] ||
        correlation[lag] < 0.85 * best)
      continue;
    // Multiples of the period tell its length with less rounding: follow the comb of peaks.
    double length = static_cast<double>(lag), at = length, confidence = correlation[lag];
    for (int multiple = 2; at + length <= static_cast<double>(most); ++multiple) {
      const auto guess = static_cast<std::size_t>(at + length + 0.5);
      const std::size_t reach = std::max<std::size_t>(1, lag / 8);
      std::size_t peak = guess;
      for (std::size_t j = guess > reach ? guess - reach : 1; j <= std::min(guess + reach, most);
           ++j)
        if (correlation[j] > correlation[peak]) peak = j;
      if (peak > most || correlation[peak] < 0.5 * best) break;
      at = static_cast<double>(peak);
      length = at / multiple;
    }
    return Period{length, std::min(confidence, 1.0)};
  }
  return {};
}

}  // namespace gf
