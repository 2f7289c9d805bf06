#include "core/period_doubts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

namespace gf {

namespace {

constexpr double kPauses = 1.0 / 30;  // hold half of the variance: dips of twice that
constexpr int kHarmonics = 8;         // the rest is below a hundredth of the first

double sinc(double turns) {
  const double angle = std::numbers::pi * turns;
  if (std::abs(angle) < 1e-9) return 1;
  return std::sin(angle) / angle;
}

}  // namespace

bool only_pauses(std::span<const float> signal) {
  if (signal.empty()) return false;
  const double mean =
      std::accumulate(signal.begin(), signal.end(), 0.0) / static_cast<double>(signal.size());
  std::vector<double> deviations;
  deviations.reserve(signal.size());
  std::size_t above = 0;
  for (const float value : signal) {
    const double away = static_cast<double>(value) - mean;
    if (away > 0) ++above;
    deviations.push_back(away * away);
  }
  if (2 * above <= signal.size()) return false;  // mostly low, with bursts of work
  std::sort(deviations.begin(), deviations.end(), std::greater<>());
  double left = std::accumulate(deviations.begin(), deviations.end(), 0.0) / 2;
  std::size_t few = 0;
  while (few < deviations.size() && left > 0) left -= deviations[few++];
  return static_cast<double>(few) < kPauses * static_cast<double>(signal.size());
}

double most_variance_of_faster(double samples, double mean) {
  // The slowest of the faster ones has 1 - 1/samples periods a sample, and no level of this mean
  // varies more at its first harmonic than one that is either 0 or 1.
  const double share = std::clamp(mean, 0.0, 1.0);
  const double periods = 1 - 1 / samples;
  double variance = 0;
  for (int harmonic = 1; harmonic <= kHarmonics; ++harmonic) {
    const double amplitude = share * sinc(harmonic * share) * sinc(harmonic * periods);
    variance += 2 * amplitude * amplitude;
  }
  return variance;
}

}  // namespace gf
