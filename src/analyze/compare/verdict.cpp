#include "analyze/compare/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/format.h"
#include "core/statistics.h"
#include "core/text.h"

namespace gf {

namespace {

// A step is far off its capture's middle one from so many times of it and so many robust standard
// deviations (of logarithms).
constexpr double kFarTimes = 1.5, kFarDeviations = 8;
constexpr std::int64_t kRareIn = 16;  // rare: one step of so many, or one of a capture, at most
constexpr double kLongTimes = 1.2;    // a step of a tail
constexpr double kChance = 0.05;      // two numbers of long steps differ beyond it

constexpr std::int64_t kMostCaptures = 1000;

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

/// Rare long steps of both sides, which are set apart.
struct RareSteps {
  LongSteps before, after;
};

/// Tells rare hiccups apart: steps that are far off, one in sixteen or one of a capture at most,
/// and not more of them on one side than chance makes. They say little of the mean, and their noise
/// would hide every change. What is not so rare, or came with the change, stays in the sums.
RareSteps tell_rare_apart(MeasuredSide& before, MeasuredSide& after) {
  const Marks first = far_off_in(before), second = far_off_in(after);
  const RareSteps rare{count_marked(before, first), count_marked(after, second)};
  if (by_chance(rare.before, rare.after) < kChance) return {};
  leave_out(before, first);
  leave_out(after, second);
  return rare;
}

bool few(const MeasuredRatio& measured) { return measured.captures < kCapturesThatTell; }

bool all_have_steps(const MeasuredSide& side) {
  return !side.captures.empty() &&
         std::ranges::none_of(side.captures, [](const StepTimes& times) { return times.empty(); });
}

bool all_take_time(const MeasuredSide& side) {
  return std::ranges::all_of(side.captures,
                             [](const StepTimes& times) { return mean_of(times) > 0; });
}

double mean_over(const MeasuredSide& side) {
  double sum = 0;
  for (const auto& capture : side.captures) sum += mean_of(capture);
  return sum / static_cast<double>(side.captures.size());
}

}  // namespace

std::optional<MeasuredRatio> measure_ratio(const MeasuredSide& before, const MeasuredSide& after) {
  for (const auto* side : {&before, &after})
    if (!all_have_steps(*side) || !all_take_time(*side)) return std::nullopt;
  MeasuredRatio out;
  MeasuredSide first = before, second = after;
  const RareSteps rare = tell_rare_apart(first, second);
  const auto measured = change_of_means(first, second, StepScale::logarithm);
  if (!measured) return std::nullopt;
  out.rare_before = rare.before;
  out.rare_after = rare.after;
  out.captures = measured->captures;
  out.in_turns = measured->in_turns;
  out.spread = measured->spread;
  const double less = std::log1p(before.missing) - std::log1p(-after.extra);
  const double more = std::log1p(after.missing) - std::log1p(-before.extra);
  const double change = measured->change;
  const HalfWidths& reach = measured->reach;
  out.doubt = std::max(less, more);
  out.ratio = std::exp(change);
  out.low = std::exp(change - reach.told - less);
  out.high = std::exp(change + reach.told + more);
  out.pass_low = std::exp(change - reach.pass - less);
  out.pass_high = std::exp(change + reach.pass + more);
  out.median_ratio = middle_of(after) / middle_of(before);
  const auto in_tail = [](std::size_t, std::size_t, double times) { return times > kLongTimes; };
  out.long_before = count_long(first, in_tail);
  out.long_after = count_long(second, in_tail);
  return out;
}

std::optional<MeasuredDifference> measure_difference(MeasuredSide before, MeasuredSide after,
                                                     double times) {
  for (const auto* side : {&before, &after})
    if (!all_have_steps(*side)) return std::nullopt;
  for (auto& capture : before.captures)
    for (double& step : capture) step *= times;
  tell_rare_apart(before, after);
  const auto measured = change_of_means(before, after, StepScale::time);
  if (!measured) return std::nullopt;
  const double was = mean_over(before), is = mean_over(after);
  MeasuredDifference out;
  out.change = measured->change;
  out.low = out.change - measured->reach.told - before.missing * was - after.extra * is;
  out.high = out.change + measured->reach.told + after.missing * is + before.extra * was;
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
