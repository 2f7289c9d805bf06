#include "core/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

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

/// A two-sided interval: the share inside, and the quantile of the normal distribution at its end.
struct TwoSided {
  double inside, normal;
};
constexpr TwoSided k95{0.95, 1.959963984540054}, k99{0.99, 2.5758293035489004};
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
double quantile_of_many(double degrees, double x) {
  const double square = x * x;
  const double first = x * (square + 1) / 4;
  const double second = x * ((5 * square + 16) * square + 3) / 96;
  const double third = x * (((3 * square + 19) * square + 17) * square - 15) / 384;
  const double fourth =
      x * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160;
  return x + (first + (second + (third + fourth / degrees) / degrees) / degrees) / degrees;
}

double student_quantile(TwoSided interval, std::int64_t degrees) {
  GF_ASSERT(degrees >= 1);
  if (degrees >= kMany) return quantile_of_many(static_cast<double>(degrees), interval.normal);
  double low = 0, high = std::numbers::pi / 2;
  for (int halving = 0; halving < 60; ++halving) {
    const double angle = (low + high) / 2;
    (inside(angle, degrees) < interval.inside ? low : high) = angle;
  }
  return std::sqrt(static_cast<double>(degrees)) * std::tan(low);
}

}  // namespace

double student_quantile95(std::int64_t degrees) { return student_quantile(k95, degrees); }

double student_quantile99(std::int64_t degrees) { return student_quantile(k99, degrees); }

namespace {

constexpr std::size_t kLongest = 8192;  // samples looked at: cost is its square over four
constexpr std::size_t kShortestLag = 4;
constexpr double kLeast = 0.3;
constexpr double kAsStrong = 0.85;   // of the strongest: as good, and the shortest such is taken
constexpr double kPerhaps = 0.5;     // of the strongest: not ruled out
constexpr double kFewest = 3;        // samples a period: below, its shape is not seen
constexpr double kFewestSeen = 1.9;  // down to here a period that is too short is recognized
constexpr int kDivisors = 64;
constexpr double kFewSamples = 8;  // a period: its peaks are as narrow as the lags are apart
constexpr int kRefinements = 20;   // lengths tried on either side

/// Autocorrelation by lag, each normalized by the number of its pairs.
using Correlation = std::vector<double>;

Correlation autocorrelation(const std::vector<float>& values, double power, std::size_t most) {
  const std::size_t count = values.size();
  Correlation correlation(most + 2, 0);
  for (std::size_t lag = 1; lag <= most + 1; ++lag) {
    float sum = 0;
    for (std::size_t i = 0; i + lag < count; ++i) sum += values[i] * values[i + lag];
    correlation[lag] = static_cast<double>(sum) / power * static_cast<double>(count) /
                       static_cast<double>(count - lag);
  }
  return correlation;
}

/// A lag after which the signal comes out alike, and how far its multiples do.
struct Comb {
  std::size_t lag = 0;
  double length = 0;  // the line through the multiples' peaks
  double reach = 0;   // lag of the last multiple
};

/// The place of a peak between lags, by the parabola through it and its neighbors.
double top_of(const Correlation& correlation, std::size_t peak) {
  const double before = correlation[peak - 1];
  const double after = correlation[peak + 1];
  const double bend = before - 2 * correlation[peak] + after;
  const auto lag = static_cast<double>(peak);
  return bend >= 0 ? lag : lag + std::clamp(0.5 * (before - after) / bend, -0.5, 0.5);
}

/// Multiples of a period tell its length with less rounding: follows the peaks.
Comb follow(const Correlation& correlation, std::size_t lag, double least) {
  const std::size_t most = correlation.size() - 2;
  const std::size_t slack = std::max<std::size_t>(1, lag / 8);
  Comb comb{lag, 0, static_cast<double>(lag)};
  double spacing = comb.reach;
  double products = top_of(correlation, lag);
  double squares = 1;
  for (int multiple = 2; comb.reach + spacing <= static_cast<double>(most); ++multiple) {
    const auto guess = static_cast<std::size_t>(std::llround(comb.reach + spacing));
    std::size_t peak = guess;
    for (std::size_t at = guess > slack ? guess - slack : 1; at <= std::min(guess + slack, most);
         ++at)
      if (correlation[at] > correlation[peak]) peak = at;
    if (peak > most || correlation[peak] < least) break;
    comb.reach = static_cast<double>(peak);
    spacing = comb.reach / multiple;
    products += multiple * top_of(correlation, peak);
    squares += multiple * multiple;
  }
  comb.length = products / squares;
  return comb;
}

/// The shortest lag that is about as strong as the strongest.
std::optional<Comb> shortest_strong(const Correlation& correlation) {
  const std::size_t most = correlation.size() - 2;
  // Peaks behind the first fall below zero: near lag 0 every smooth signal resembles itself.
  std::size_t from = 1;
  while (from <= most && correlation[from] > 0) ++from;
  std::vector<std::size_t> peaks;
  double best = 0;
  for (std::size_t lag = std::max(from, kShortestLag); lag <= most; ++lag) {
    if (correlation[lag] < correlation[lag - 1] || correlation[lag] < correlation[lag + 1])
      continue;
    peaks.push_back(lag);
    best = std::max(best, correlation[lag]);
  }
  if (best < kLeast) return {};
  for (const auto lag : peaks)
    if (correlation[lag] >= kAsStrong * best) return follow(correlation, lag, 0.5 * best);
  return {};
}

/// Correlation at lags that need not be whole, from the whole ones beside them:
/// it falls off around each as it does from lag 0 to 1.
class BetweenLags {
 public:
  BetweenLags(const Correlation& correlation, double strongest)
      : correlation_(correlation), fall_(1 - std::clamp(correlation[1] / strongest, -1.0, 1.0)) {}

  void add(double at) {
    const auto lag = static_cast<std::size_t>(std::llround(at));
    if (lag >= correlation_.size()) return;
    const double left = std::max(0.2, 1 - std::abs(at - static_cast<double>(lag)) * fall_);
    sum_ += correlation_[lag] * left;
    squares_ += left * left;
  }
  double strength() const { return sum_ / squares_; }
  double explained() const { return sum_ / std::sqrt(squares_); }

 private:
  const Correlation& correlation_;
  double fall_;
  double sum_ = 0, squares_ = 1e-12;
};

/// Periods that are not whole come out alike only after several of them: the most parts that a
/// comb's length falls into. Empty when they may be shorter than samples can show.
std::optional<int> parts_of(const Correlation& correlation, const Comb& comb) {
  const double strongest = correlation[comb.lag];
  int parts = 1;
  const int most = std::min(kDivisors, static_cast<int>(comb.length / kFewestSeen));
  for (int divisor = 2; divisor <= most; ++divisor) {
    const double length = comb.length / divisor;
    BetweenLags whole(correlation, strongest);
    for (int i = 1; i < divisor; ++i)  // those of smaller divisors were asked for with them
      if (std::gcd(i, divisor) == 1) whole.add(i * length);
    const double strength = whole.strength() / strongest;
    if (length < kFewest && strength >= kPerhaps) return {};
    if (strength >= kAsStrong) parts = divisor;
  }
  return parts;
}

/// The length near this one that explains the multiples best, as far as the comb reaches. Peaks
/// wider than that have been told by their tops.
double refined(const Correlation& correlation, const Comb& comb, double length) {
  if (length >= kFewSamples || comb.reach <= static_cast<double>(comb.lag)) return length;
  double best = 0, chosen = length;
  for (int i = -kRefinements; i <= kRefinements; ++i) {
    const double tried = length * (1 + 0.5 * i / kRefinements / comb.reach);
    BetweenLags whole(correlation, correlation[comb.lag]);
    for (double at = tried; at <= comb.reach + 0.5; at += tried) whole.add(at);
    if (whole.explained() > best) {
      best = whole.explained();
      chosen = tried;
    }
  }
  return chosen;
}

}  // namespace

std::optional<Period> find_period(std::span<const float> signal) {
  if (signal.size() > kLongest)
    signal = signal.subspan((signal.size() - kLongest) / 2,
                            kLongest);  // the middle: not start-up, not the end
  if (signal.size() < 64) return {};
  const auto count = static_cast<double>(signal.size());
  const double mean = std::accumulate(signal.begin(), signal.end(), 0.0) / count;
  std::vector<float> values(signal.begin(), signal.end());
  double power = 0;
  for (auto& value : values) {
    value -= static_cast<float>(mean);
    power += static_cast<double>(value) * value;
  }
  if (power <= 1e-9 * count || only_pauses(signal)) return {};
  const Correlation correlation = autocorrelation(values, power, signal.size() / 4);
  const auto comb = shortest_strong(correlation);
  if (!comb) return {};
  const auto parts = parts_of(correlation, *comb);
  if (!parts) return {};
  const double length = refined(correlation, *comb, comb->length / *parts);
  const double confidence = std::min(correlation[comb->lag], 1.0);
  if (confidence * power / count <= most_variance_of_faster(length, mean)) return {};
  return Period{length, confidence};
}

namespace {

constexpr double kPauses = 1.0 / 30;  // hold half of the variance: dips of twice that
constexpr int kHarmonics = 8;         // the rest is below a hundredth of the first

double sinc(double turns) {
  const double angle = std::numbers::pi * turns;
  return std::abs(angle) < 1e-9 ? 1 : std::sin(angle) / angle;
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

double root_of_squares(double one, double other) { return std::sqrt(one * one + other * other); }

}  // namespace gf
