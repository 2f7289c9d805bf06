#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "analyze/steps/steps.h"
#include "core/statistics.h"

namespace gf {

namespace {

constexpr double kFarTimes = 1.5;  // the middle step's time: below this, no step is far from it
constexpr std::size_t kFewestAfterStartUp = 3, kFewestBesideOutlier = 4;
// A pattern every so many steps is the program's own (workers that load the input, say): an
// outlier must be the only one where such a pattern would show twice.
constexpr std::size_t kPattern = 4;
constexpr double kAlike = 2;  // two far steps within this factor may be such a pattern's

enum class Place { first, any };

/// The distance to the longest of so many others, in ranges of those, that a step passes by chance
/// in about 0.2 % of captures, of logarithms of durations with a normal distribution: Dixon's
/// ratio, from simulation. The step at a place that is known beforehand passes 0.6 of it as rarely.
double most_by_chance(std::size_t others, Place place) {
  const double ranges = 0.4 + 9 / (static_cast<double>(others) - 2.6);
  return place == Place::first ? 0.6 * ranges : ranges;
}

bool far_longer(double duration, const std::vector<double>& others, Place place) {
  if (duration <= kFarTimes * median(others)) return false;
  const auto [least, most] = std::ranges::minmax(others);
  const auto logarithm = [](double each) { return std::log(std::max(each, 1.0)); };
  return logarithm(duration) - logarithm(most) >=
         most_by_chance(others.size(), place) * (logarithm(most) - logarithm(least));
}

/// Durations from `begin` on without that of the step `left_out`.
std::vector<double> others_of(const std::vector<double>& durations, std::size_t begin,
                              std::optional<std::size_t> left_out) {
  const std::size_t without = left_out.value_or(durations.size());
  std::vector<double> others;
  for (std::size_t i = begin; i < durations.size(); ++i)
    if (i != without) others.push_back(durations[i]);
  return others;
}

/// The longest step after the first where it is far from those from `begin` on.
std::optional<std::size_t> outlier_among(const std::vector<double>& durations, std::size_t begin) {
  if (durations.size() < kFewestBesideOutlier + 1) return std::nullopt;
  const auto longest = std::max_element(durations.begin() + 1, durations.end());
  const auto at = static_cast<std::size_t>(longest - durations.begin());
  if (at < kPattern && at + kPattern >= durations.size()) return std::nullopt;
  const auto others = others_of(durations, begin, at);
  if (others.size() < kFewestBesideOutlier || !far_longer(*longest, others, Place::any))
    return std::nullopt;
  return at;
}

/// The first step and a later one are alike, and too far apart for a third one to be seen.
bool may_be_pattern(const std::vector<double>& durations, std::size_t other) {
  const auto [less, more] = std::minmax(durations.front(), durations[other]);
  return other > 1 && 2 * other >= durations.size() && more < kAlike * less;
}

}  // namespace

void name_far_off(std::vector<StepInfo>& steps) {
  std::vector<double> durations;
  for (const auto& step : steps) durations.push_back(static_cast<double>(step.duration_ns));
  // The one is looked for without the other, so that neither hides the other.
  auto outlier = outlier_among(durations, 1);
  const auto rest = others_of(durations, 1, outlier);
  const bool start_up =
      rest.size() >= kFewestAfterStartUp && far_longer(durations.front(), rest, Place::first);
  if (!start_up) outlier = outlier_among(durations, 0);
  if (start_up && outlier && may_be_pattern(durations, *outlier)) return;
  if (start_up) steps.front().role = StepRole::start_up;
  if (outlier)
    steps[*outlier].role = start_up && *outlier == 1 ? StepRole::start_up : StepRole::outlier;
}

std::vector<StepInfo> ordinary_steps(const std::vector<StepInfo>& steps) {
  std::vector<StepInfo> ordinary;
  for (const auto& step : steps)
    if (step.role == StepRole::ordinary) ordinary.push_back(step);
  return ordinary.empty() ? steps : ordinary;
}

}  // namespace gf
