#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "analyze/steps/steps.h"
#include "core/statistics.h"

namespace gf {

namespace {

// Steps count as far off from this share of the middle one on, and from so many spreads: those of a
// program whose steps vary are not.
constexpr double kFarShare = 0.2, kFarRanges = 4, kFarDeviations = 5;
constexpr std::size_t kFewestAlike = 2, kFewestBesideOutlier = 3, kManyAlike = 8;

/// The steps that others are held to.
class Alike {
 public:
  explicit Alike(std::vector<double> durations) {
    constexpr double kNormal = 1.4826;  // standard deviations in a median absolute deviation
    middle_ = median(durations);
    const auto [least, most] = std::ranges::minmax(durations);
    const double spread = durations.size() < kManyAlike
                              ? kFarRanges * (most - least)
                              : kFarDeviations * kNormal * median_absolute_deviation(durations);
    reach_ = std::max(kFarShare * middle_, spread);
  }

  bool far(double duration) const { return std::abs(duration - middle_) > reach_; }
  bool far_longer(double duration) const { return duration - middle_ > reach_; }
  double distance(double duration) const { return std::abs(duration - middle_); }

 private:
  double middle_ = 0, reach_ = 0;
};

/// How many steps at the beginning are far longer than those of the last half.
std::size_t start_up_of(std::span<const double> durations) {
  const std::size_t half = durations.size() / 2;
  const auto rest = durations.subspan(half);
  if (rest.size() < kFewestAlike) return 0;
  const Alike alike({rest.begin(), rest.end()});
  std::size_t count = 0;
  while (count < half && alike.far_longer(durations[count])) ++count;
  return count;
}

/// The only one that is far from all others: two and more are the program's own way.
std::optional<std::size_t> outlier_of(std::span<const double> durations) {
  if (durations.size() <= kFewestBesideOutlier) return std::nullopt;
  const Alike all({durations.begin(), durations.end()});
  const auto farthest =
      std::ranges::max_element(durations, {}, [&](double each) { return all.distance(each); });
  const auto at = static_cast<std::size_t>(farthest - durations.begin());
  std::vector<double> others(durations.begin(), durations.end());
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
  const Alike alike(others);
  if (!alike.far(durations[at])) return std::nullopt;
  if (std::ranges::any_of(others, [&](double each) { return alike.far(each); }))
    return std::nullopt;
  return at;
}

}  // namespace

void name_far_off(std::vector<StepInfo>& steps) {
  std::vector<double> durations;
  for (const auto& step : steps) durations.push_back(static_cast<double>(step.duration_ns));
  const std::size_t begun = start_up_of(durations);
  for (std::size_t i = 0; i < begun; ++i) steps[i].role = StepRole::start_up;
  if (const auto outlier = outlier_of(std::span<const double>(durations).subspan(begun)))
    steps[begun + *outlier].role = StepRole::outlier;
}

std::vector<StepInfo> ordinary_steps(const std::vector<StepInfo>& steps) {
  std::vector<StepInfo> ordinary;
  for (const auto& step : steps)
    if (step.role == StepRole::ordinary) ordinary.push_back(step);
  return ordinary.empty() ? steps : ordinary;
}

}  // namespace gf
