#include "analyze/compare/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/format.h"
#include "core/statistics.h"
#include "core/text.h"

namespace gf {

namespace {

// What a capture's mean step differs by from that of the next capture of the same program, beyond
// what its own steps tell: the root mean square over 16 processes of three programs on H200s is
// 0.18 % of the kernel time (docs/lab/gate.md, docs/results/gate_runs_h200.json.gz). It stands in
// where there is one capture of each version, of which nothing else tells it.
constexpr double kWander = 0.002;

constexpr std::size_t kFewestSteps = 3;
constexpr std::size_t kFewestForMemory = 8;  // below, steps are taken as independent

// A step is far off its capture's middle one from so many times of it and so many robust standard
// deviations (of logarithms).
constexpr double kFarTimes = 1.5, kFarDeviations = 8;
constexpr std::int64_t kRareIn = 16;  // rare: one step of so many, or one of a capture, at most
constexpr double kLongTimes = 1.2;    // a step of a tail
constexpr double kChance = 0.05;      // two numbers of long steps differ beyond it

constexpr std::int64_t kMostCaptures = 1000;

double mean_of(const StepTimes& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The mean of a capture's steps, and the variance of its logarithm as its steps tell it.
struct CaptureMean {
  double mean = 0;
  double variance = 0;
  double degrees = 0;  // of freedom; 0: nothing tells the variance
};

/// How many steps in a row tell as much as one independent step: 1 for white noise, 19 for an
/// autoregression of 0.9. The larger of two estimates: from the correlation of neighbours, as of an
/// autoregression, without the bias of short series (Kendall 1954), which is right where memory
/// fades evenly; and the sum of correlations up to the first pair of lags that is none (Geyer's
/// initial monotone sequence), which is right where noise hides a slow part.
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

CaptureMean mean_with_noise(const StepTimes& values) {
  CaptureMean out{mean_of(values), 0, 0};
  if (values.size() < kFewestSteps || out.mean <= 0) return out;
  const auto n = static_cast<double>(values.size());
  const double memory = values.size() < kFewestForMemory ? 1 : memory_of(values, out.mean);
  double square = 0;
  for (const double value : values) square += (value - out.mean) * (value - out.mean);
  // The mean follows what it is the mean of, the more so the longer the memory.
  const double variance = square / (n - memory);
  out.variance = variance * memory / n / (out.mean * out.mean);
  // Bartlett: of an autoregression of that memory, whose squares remember each other for less.
  out.degrees = std::max(1.0, 2 * memory * n / (memory * memory + 1) - 1);
  return out;
}

/// Half widths, in logarithms.
struct HalfWidths {
  double told = 0, pass = 0;
};

HalfWidths half_widths(double variance, double degrees) {
  const auto whole = static_cast<std::int64_t>(std::clamp(degrees, 1.0, 1e9));
  const double error = std::sqrt(variance);
  return {student_quantile95(whole) * error, student_quantile99(whole) * error};
}

HalfWidths wider(const HalfWidths& one, const HalfWidths& other) {
  return {std::max(one.told, other.told), std::max(one.pass, other.pass)};
}

/// Of several variances that add, by Welch and Satterthwaite.
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
    for (const auto& capture : first) rows_.push_back({-0.5, 0, std::log(capture.mean)});
    for (const auto& capture : second) rows_.push_back({0.5, 0, std::log(capture.mean)});
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
  /// Of one capture's mean.
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

double middle_of(const MeasuredSide& side) {
  double sum = 0;
  for (const auto& capture : side.captures) sum += std::log(std::max(median(capture), 1e-9));
  return std::exp(sum / static_cast<double>(side.captures.size()));
}

/// The steps of a capture that are far longer than its others, where these are rare.
std::vector<bool> far_off(const StepTimes& values) {
  std::vector<bool> far(values.size(), false);
  if (values.size() < kFewestForMemory) return far;
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(std::max(value, 1e-9)));
  const double middle = median(logs);
  constexpr double kNormalDeviation = 1.4826;
  const double reach = std::max(
      std::log(kFarTimes), kFarDeviations * kNormalDeviation * median_absolute_deviation(logs));
  // Apart from the others: where the tail is even, its end is an arbitrary place.
  constexpr double kGap = 0.7;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double away = logs[i] - middle;
    if (away > kGap * reach && away <= reach) return std::vector<bool>(values.size(), false);
    far[i] = away > reach;
  }
  const auto most = std::max<std::ptrdiff_t>(1, std::ssize(values) / kRareIn);
  if (std::ranges::count(far, true) > most) return std::vector<bool>(values.size(), false);
  return far;
}

/// The probability that so many or more of `marked` steps are on one of two sides by chance.
double by_chance(const LongSteps& one, const LongSteps& other) {
  const auto choose = [](std::int64_t of, std::int64_t some) {
    return std::lgamma(static_cast<double>(of) + 1) - std::lgamma(static_cast<double>(some) + 1) -
           std::lgamma(static_cast<double>(of - some) + 1);
  };
  const std::int64_t marked = one.steps + other.steps;
  if (marked == 0) return 1;
  const double all = choose(one.of + other.of, marked);
  const auto at = [&](std::int64_t here) {
    if (here > one.of || marked - here > other.of) return 0.0;
    return std::exp(choose(one.of, here) + choose(other.of, marked - here) - all);
  };
  const double seen = at(one.steps);
  double sum = 0;
  constexpr double kAsRare = 1 + 1e-9;
  for (std::int64_t here = 0; here <= marked; ++here)
    if (const double each = at(here); each <= seen * kAsRare) sum += each;
  return sum;
}

template <class IsLong>
LongSteps count_long(const MeasuredSide& side, IsLong&& is_long) {
  LongSteps out;
  for (std::size_t capture = 0; capture < side.captures.size(); ++capture) {
    const auto& values = side.captures[capture];
    if (values.empty()) continue;
    const double middle = median(values);
    out.of += std::ssize(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (is_long(capture, i, values[i] / middle)) {
        ++out.steps;
        out.times += values[i] / middle;
      }
  }
  if (out.steps > 0) out.times /= static_cast<double>(out.steps);
  return out;
}

using Marks = std::vector<std::vector<bool>>;

Marks far_off_in(const MeasuredSide& side) {
  Marks marks;
  for (const auto& capture : side.captures) marks.push_back(far_off(capture));
  return marks;
}

LongSteps count_marked(const MeasuredSide& side, const Marks& marks) {
  return count_long(side,
                    [&](std::size_t capture, std::size_t i, double) { return marks[capture][i]; });
}

void leave_out(MeasuredSide& side, const Marks& marks) {
  for (std::size_t capture = 0; capture < side.captures.size(); ++capture) {
    std::size_t i = 0;
    std::erase_if(side.captures[capture], [&](double) { return marks[capture][i++]; });
  }
}

/// Tells rare hiccups apart: steps that are far off, one in sixteen or one of a capture at most,
/// and not more of them on one side than chance makes. They say little of the mean, and their noise
/// would hide every change. What is not so rare, or came with the change, stays in the sums.
void tell_rare_apart(MeasuredSide& before, MeasuredSide& after, MeasuredRatio& out) {
  const Marks first = far_off_in(before), second = far_off_in(after);
  const LongSteps one = count_marked(before, first), other = count_marked(after, second);
  if (by_chance(one, other) < kChance) return;
  out.rare_before = one;
  out.rare_after = other;
  leave_out(before, first);
  leave_out(after, second);
}

std::vector<CaptureMean> means_of(const MeasuredSide& side) {
  std::vector<CaptureMean> means;
  for (const auto& capture : side.captures) means.push_back(mean_with_noise(capture));
  return means;
}

/// Of the mean over captures, as the steps within each tell it.
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

bool few(const MeasuredRatio& measured) { return measured.captures < kCapturesThatTell; }

}  // namespace

std::optional<MeasuredRatio> measure_ratio(const MeasuredSide& before, const MeasuredSide& after) {
  for (const auto* side : {&before, &after}) {
    if (side->captures.empty()) return std::nullopt;
    for (const auto& capture : side->captures)
      if (capture.empty() || mean_of(capture) <= 0) return std::nullopt;
  }
  MeasuredRatio out;
  MeasuredSide first_side = before, second_side = after;
  tell_rare_apart(first_side, second_side, out);
  const auto first = means_of(first_side), second = means_of(second_side);
  out.captures = std::ssize(first.size() < second.size() ? first : second);
  SumOfVariances noise = within(first, second);
  double change = 0;
  HalfWidths reach;
  if (first.size() + second.size() < 4 || out.captures < 2) {
    double own = 0;
    for (const auto* side : {&first, &second}) {
      double sum = 0;
      for (const auto& capture : *side) {
        if (capture.degrees == 0) return std::nullopt;
        sum += std::log(capture.mean) / static_cast<double>(side->size());
        own = std::max(own, capture.variance);
      }
      change += side == &first ? -sum : sum;
      noise.add(kWander * kWander, 1e9);
    }
    reach = half_widths(noise.variance, noise.degrees());
    out.spread = std::sqrt(own + kWander * kWander);
  } else {
    const CapturesInLine line(first_side, second_side, first, second);
    change = line.change();
    reach = half_widths(line.variance(), line.degrees());
    out.spread = line.spread();
    // Few captures may be alike by chance: they differ by what their steps tell all the same. With
    // more of them, what varies inside a capture in the same way in each (a warm-up) is no noise.
    if (few(out)) {
      reach = wider(reach, half_widths(noise.variance, noise.degrees()));
      const double sides = 2.0 / static_cast<double>(out.captures);
      out.spread = std::max(out.spread, std::sqrt(noise.variance / sides));
    }
    out.in_turns = line.in_turns();
  }
  const double less = std::log1p(before.missing) - std::log1p(-after.extra);
  const double more = std::log1p(after.missing) - std::log1p(-before.extra);
  out.doubt = std::max(less, more);
  out.ratio = std::exp(change);
  out.low = std::exp(change - reach.told - less);
  out.high = std::exp(change + reach.told + more);
  out.pass_low = std::exp(change - reach.pass - less);
  out.pass_high = std::exp(change + reach.pass + more);
  out.median_ratio = middle_of(after) / middle_of(before);
  const auto in_tail = [](std::size_t, std::size_t, double times) { return times > kLongTimes; };
  out.long_before = count_long(first_side, in_tail);
  out.long_after = count_long(second_side, in_tail);
  return out;
}

ComparedVerdict verdict_of(const MeasuredRatio& measured, double limit) {
  if (measured.pass_high < 1 + limit && measured.pass_low > 1 / (1 + limit))
    return ComparedVerdict::no_difference;
  if (measured.low > 1) return ComparedVerdict::slower;
  if (measured.high < 1) return ComparedVerdict::faster;
  return ComparedVerdict::undecided;
}

CheckOutcome against_limit(const MeasuredRatio& measured, double limit, bool more) {
  const bool coarse = few(measured) && std::abs(limit) < kResolution;
  const double beyond = coarse ? kResolution : more ? limit : -limit;
  const double within = coarse ? kResolution : 0;
  const bool failed = more ? measured.low > 1 + beyond : measured.high < 1 - beyond;
  const bool ok =
      more ? measured.pass_high < 1 + limit - within : measured.pass_low > 1 + limit + within;
  return failed ? CheckOutcome::failed : ok ? CheckOutcome::ok : CheckOutcome::undecided;
}

namespace {

/// The fewest captures of each whose half width is below `reach`.
template <class Quantile>
std::optional<std::int64_t> enough(const MeasuredRatio& measured, double reach, double limit,
                                   Quantile&& quantile) {
  reach -= measured.doubt;
  if (!(reach > 0)) return std::nullopt;
  std::int64_t captures = std::max<std::int64_t>(2, measured.captures + 1);
  if (std::abs(limit) < kResolution) captures = std::max(captures, kCapturesThatTell);
  for (; captures <= kMostCaptures; ++captures) {
    const std::int64_t degrees = 2 * captures - (captures > 2 ? 3 : 2);
    const double error = measured.spread * std::sqrt(2 / static_cast<double>(captures));
    if (quantile(degrees) * error < reach) return captures;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> captures_to_decide(const MeasuredRatio& measured, double limit) {
  const double away = std::log(measured.ratio) - std::log1p(limit);
  return away > 0 ? enough(measured, away, limit, student_quantile95)
                  : enough(measured, -away, limit, student_quantile99);
}

std::optional<std::int64_t> captures_to_tell(const MeasuredRatio& measured, double limit) {
  const double change = std::abs(std::log(measured.ratio));
  const auto different = enough(measured, change, limit, student_quantile95);
  const auto equal = enough(measured, std::log1p(limit) - change, limit, student_quantile99);
  if (different && equal) return std::min(different, equal);
  return different ? different : equal;
}

namespace {

std::string share_of(const LongSteps& steps) {
  return fmt::format("{} of {} steps", steps.steps, steps.of);
}

std::string percent_of(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

void remark_on_rare(const MeasuredRatio& measured, std::vector<std::string>& out) {
  const auto& before = measured.rare_before;
  const auto& after = measured.rare_after;
  if (before.steps + after.steps == 0) return;
  std::string text = "Rare long steps are not in the ratio: ";
  if (before.steps > 0)
    text += fmt::format("{} of the first ({:.3g} times the middle step)", share_of(before),
                        before.times);
  if (before.steps > 0 && after.steps > 0) text += ", ";
  if (after.steps > 0)
    text += fmt::format("{} of the second ({:.3g} times)", share_of(after), after.times);
  out.push_back(text + ". Their numbers differ no more than by chance.");
}

void remark_on_tail(const MeasuredRatio& measured, std::vector<std::string>& out) {
  constexpr double kWorthTelling = 0.05;  // more of the steps
  const auto share = [](const LongSteps& steps) {
    return steps.of > 0 ? static_cast<double>(steps.steps) / static_cast<double>(steps.of) : 0;
  };
  const auto& before = measured.long_before;
  const auto& after = measured.long_after;
  if (std::abs(share(after) - share(before)) < kWorthTelling || by_chance(before, after) > kChance)
    return;
  const bool more = share(after) > share(before);
  const auto& longer = more ? after : before;
  out.push_back(fmt::format(
      "A tail: {} of the {} take {:.3g} times its middle step, {} of the {}; the middle "
      "steps differ by {}.",
      share_of(longer), more ? "second" : "first", longer.times, share_of(more ? before : after),
      more ? "first" : "second", percent_of(measured.median_ratio)));
}

}  // namespace

std::vector<std::string> remarks_on(const MeasuredRatio& measured) {
  std::vector<std::string> out;
  remark_on_rare(measured, out);
  remark_on_tail(measured, out);
  if (measured.captures == 1)
    out.push_back(
        "A single capture does not show what differs from run to run: record several of each "
        "version in turns (A B A B).");
  else if (!measured.in_turns)
    out.push_back(
        "One version was recorded after the other: a change of the machine looks like one of the "
        "program. Record in turns (A B A B).");
  return out;
}

}  // namespace gf
