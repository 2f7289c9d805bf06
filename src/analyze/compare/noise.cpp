#include "analyze/compare/noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/statistics.h"

namespace gf {

namespace {

// Difference between the mean steps of two captures of the same program, beyond
// what its own steps tell: the root mean square over 16 processes of three programs on H200s is
// 0.18 % of the kernel time (docs/lab/gate.md, docs/results/gate_runs_h200.json.gz). It stands in
// where there is one capture of each version, of which nothing else tells it.
constexpr double kWander = 0.002;

constexpr std::size_t kFewestSteps = 3;

/// The mean of a capture's steps on a scale, and its variance as its steps tell it.
struct CaptureMean {
  double mean = 0;
  double variance = 0;
  double degrees = 0;  // of freedom; 0: nothing tells the variance
  double wander = 0;   // kWander on this scale
};

/// The number of consecutive steps that carry as much information as one independent step: 1 for
/// white noise, 19 for an autoregression of 0.9. The larger of two estimates: from the correlation
/// of neighbours, as of an autoregression, without the bias of short series (Kendall 1954), which
/// is right where memory fades evenly; and the sum of correlations up to the first pair of lags
/// that is none (Geyer's initial monotone sequence), which is right where noise hides a slow part.
double memory_of(const StepTimes& values, double mean) {
  const std::size_t count = values.size();
  const auto n = static_cast<double>(count);
  std::vector<double> away(count);
  std::ranges::transform(values, away.begin(), [mean](double value) { return value - mean; });
  const double square = std::inner_product(away.begin(), away.end(), away.begin(), 0.0);
  if (square <= 0) return 1;
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = 0; i + lag < count; ++i) sum += away[i] * away[i + lag];
    return sum / square + 1 / n;
  };
  constexpr double kMost = 0.98;
  const double next = std::clamp(correlation(1) / (1 - 3 / n), 0.0, kMost);
  const double fading = (1 + next) / (1 - next);
  double sum = -1, least = 2;
  for (std::size_t lag = 0; lag + 1 < count / 2; lag += 2) {
    const double pair = (lag == 0 ? 1 : correlation(lag)) + correlation(lag + 1);
    if (pair <= 0) break;
    least = std::min(least, pair);
    sum += 2 * least;
  }
  return std::clamp(std::max(fading, sum), 1.0, n / 2);
}

CaptureMean mean_with_noise(const StepTimes& values, StepScale scale) {
  const double mean = mean_of(values);
  const bool logarithm = scale == StepScale::logarithm;
  CaptureMean out{logarithm ? std::log(mean) : mean, 0, 0, logarithm ? kWander : kWander * mean};
  if (values.size() < kFewestSteps) return out;
  const auto n = static_cast<double>(values.size());
  const double memory = values.size() < kFewestForMemory ? 1 : memory_of(values, mean);
  double square = 0;
  for (const double value : values) square += (value - mean) * (value - mean);
  // The mean follows what it is the mean of, the more so the longer the memory.
  out.variance = square / (n - memory) * memory / n;
  if (logarithm) out.variance /= mean * mean;
  // Bartlett: of an autoregression of that memory, whose squares remember each other for less.
  out.degrees = std::max(1.0, 2 * memory * n / (memory * memory + 1) - 1);
  return out;
}

HalfWidths half_widths(double variance, double degrees) {
  const auto whole = static_cast<std::int64_t>(std::clamp(degrees, 1.0, 1e9));
  const double error = std::sqrt(variance);
  return {student_quantile95(whole) * error, student_quantile99(whole) * error};
}

HalfWidths wider(const HalfWidths& one, const HalfWidths& other) {
  return {std::max(one.told, other.told), std::max(one.pass, other.pass)};
}

/// The sum of several variances, by Welch and Satterthwaite.
struct SumOfVariances {
  double variance = 0, by_degrees = 0;
  void add(double more, double degrees) {
    variance += more;
    by_degrees += more * more / degrees;
  }
  double degrees() const { return by_degrees > 0 ? variance * variance / by_degrees : 1e9; }
};

/// The captures' means as a line over the order of recording, and a step from one version to the
/// other: what drifts evenly over the session is told from the change. Without the order, or with
/// too few captures for a line, two groups.
class CapturesInLine {
 public:
  CapturesInLine(const MeasuredSide& before, const MeasuredSide& after,
                 const std::vector<CaptureMean>& first, const std::vector<CaptureMean>& second) {
    for (const auto& capture : first) rows_.push_back({-0.5, 0, capture.mean});
    for (const auto& capture : second) rows_.push_back({0.5, 0, capture.mean});
    const std::size_t all = rows_.size();
    known_ = before.recorded_at.size() == first.size() && after.recorded_at.size() == second.size();
    if (known_) {
      std::vector<double> at = before.recorded_at;
      at.insert(at.end(), after.recorded_at.begin(), after.recorded_at.end());
      for (std::size_t i = 0; i < all; ++i)
        for (std::size_t j = 0; j < all; ++j)
          rows_[i].place += at[j] < at[i] || (at[j] == at[i] && j < i) ? 1.0 : 0.0;
    }
    solve();
  }

  double change() const { return change_; }
  double variance() const { return variance_; }
  double degrees() const { return degrees_; }
  /// The spread of one capture's mean.
  double spread() const { return std::sqrt(residual_); }
  bool in_turns() const { return !known_ || shared_ < kShared; }

 private:
  // The share of the version's variance that the order tells: 0.05 for A B A B A B A B, 0.76 for
  // A A A A B B B B.
  static constexpr double kShared = 0.5;
  static constexpr std::size_t kFewestForLine = 6;

  struct Row {
    double version, place, value;
  };

  void solve() {
    const auto n = static_cast<double>(rows_.size());
    Row mean{0, 0, 0};
    for (const auto& row : rows_) {
      mean.version += row.version / n;
      mean.place += row.place / n;
      mean.value += row.value / n;
    }
    double vv = 0, pp = 0, yy = 0, vp = 0, vy = 0, py = 0;
    for (const auto& row : rows_) {
      const double v = row.version - mean.version, p = row.place - mean.place;
      const double y = row.value - mean.value;
      vv += v * v;
      pp += p * p;
      yy += y * y;
      vp += v * p;
      vy += v * y;
      py += p * y;
    }
    shared_ = pp > 0 ? vp * vp / (vv * pp) : 0;
    const bool line = known_ && rows_.size() >= kFewestForLine && pp > 0 && shared_ < 1;
    const double own = line ? vv * (1 - shared_) : vv;  // of the version, beside the line
    change_ = line ? (vy - vp * py / pp) / own : vy / vv;
    double left = yy - change_ * change_ * own - (line ? py * py / pp : 0);
    degrees_ = n - (line ? 3 : 2);
    residual_ = std::max(left, 0.0) / degrees_;
    variance_ = residual_ / own;
  }

  std::vector<Row> rows_;
  bool known_ = false;
  double change_ = 0, variance_ = 0, degrees_ = 0, residual_ = 0, shared_ = 0;
};

std::vector<CaptureMean> means_of(const MeasuredSide& side, StepScale scale) {
  std::vector<CaptureMean> means;
  for (const auto& capture : side.captures) means.push_back(mean_with_noise(capture, scale));
  return means;
}

/// The variance of the mean over captures, by the steps within each.
SumOfVariances within(const std::vector<CaptureMean>& first,
                      const std::vector<CaptureMean>& second) {
  SumOfVariances sum;
  for (const auto* side : {&first, &second}) {
    const auto captures = static_cast<double>(side->size());
    for (const auto& capture : *side)
      if (capture.degrees > 0) sum.add(capture.variance / (captures * captures), capture.degrees);
  }
  return sum;
}

/// By the steps alone: a side has one capture.
std::optional<ChangeOfMeans> change_by_steps(const std::vector<CaptureMean>& first,
                                             const std::vector<CaptureMean>& second) {
  ChangeOfMeans out;
  SumOfVariances noise = within(first, second);
  double own = 0, wander = 0;
  for (const auto* side : {&first, &second}) {
    double sum = 0, square = 0;
    for (const auto& capture : *side) {
      if (capture.degrees == 0) return std::nullopt;
      sum += capture.mean / static_cast<double>(side->size());
      square = std::max(square, capture.wander * capture.wander);
      own = std::max(own, capture.variance);
    }
    out.change += side == &first ? -sum : sum;
    if (square > 0) noise.add(square, 1e9);
    wander = std::max(wander, square);
  }
  out.reach = half_widths(noise.variance, noise.degrees());
  out.spread = std::sqrt(own + wander);
  return out;
}

}  // namespace

double mean_of(const StepTimes& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<ChangeOfMeans> change_of_means(const MeasuredSide& before, const MeasuredSide& after,
                                             StepScale scale) {
  const auto first = means_of(before, scale), second = means_of(after, scale);
  const std::int64_t captures = std::ssize(first.size() < second.size() ? first : second);
  if (captures < 2) {
    auto out = change_by_steps(first, second);
    if (out) out->captures = captures;
    return out;
  }
  ChangeOfMeans out;
  out.captures = captures;
  const CapturesInLine line(before, after, first, second);
  out.change = line.change();
  out.reach = half_widths(line.variance(), line.degrees());
  out.spread = line.spread();
  out.in_turns = line.in_turns();
  // Few captures may be alike by chance: they differ by what their steps tell all the same. With
  // more of them, what varies inside a capture in the same way in each (a warm-up) is no noise.
  if (captures < kCapturesThatTell) {
    const SumOfVariances noise = within(first, second);
    out.reach = wider(out.reach, half_widths(noise.variance, noise.degrees()));
    const double sides = 2.0 / static_cast<double>(captures);
    out.spread = std::max(out.spread, std::sqrt(noise.variance / sides));
  }
  return out;
}

}  // namespace gf
