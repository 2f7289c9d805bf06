// The first stable step, against its definition carried out step by step: medians of every suffix
// anew, where the program keeps them while it takes steps out.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "analyze/steps/steps.h"
#include "core/statistics.h"

namespace gf {
namespace {

double most_spread_of(std::size_t count, bool whole_capture) {
  if (count == 3) return whole_capture ? 0.019 : 0.0105;
  if (count < 8) return std::vector{0.0192, 0.024, 0.028, 0.032}[count - 4];
  return count < 12 ? 0.035 : 0.04;
}

double spread_of(const std::vector<double>& durations) {
  if (durations.size() >= 8)
    return 1.4826 * median_absolute_deviation(durations) / median(durations);
  double mean = 0, squares = 0;
  for (const double duration : durations) mean += duration / static_cast<double>(durations.size());
  for (const double duration : durations) squares += (duration - mean) * (duration - mean);
  return std::sqrt(squares / static_cast<double>(durations.size() - 1)) / mean;
}

std::optional<std::size_t> first_stable_by_definition(const std::vector<StepInfo>& steps) {
  std::vector<double> durations;
  for (const auto& step : steps) durations.push_back(static_cast<double>(step.duration_ns));
  if (durations.size() < 3) return std::nullopt;
  const auto half = static_cast<std::ptrdiff_t>(durations.size() / 2);
  const std::vector<double> late(durations.begin() + half, durations.end());
  const double middle = median(late);
  const double allowed =
      std::clamp(3 * median_absolute_deviation(late), 0.05 * middle, 0.15 * middle);
  for (std::ptrdiff_t i = 0; i <= half && i + 3 <= std::ssize(durations); ++i) {
    const std::vector<double> rest(durations.begin() + i, durations.end());
    if (std::all_of(rest.begin(), rest.begin() + 3,
                    [&](double duration) { return std::abs(duration - middle) <= allowed; }) &&
        spread_of(rest) <= most_spread_of(rest.size(), i == 0))
      return static_cast<std::size_t>(i);
  }
  return std::nullopt;
}

RC_GTEST_PROP(StableStep, IsThatOfItsDefinition, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 60);
  const auto wild = *rc::gen::inRange<std::size_t>(0, count + 1);  // so many steps warm up
  const Nanos middle = *rc::gen::element<Nanos>(0, 3, 1000, 1'000'003);
  const Nanos calm = *rc::gen::element<Nanos>(0, 10, 35, 45, 60, 75, 120);  // thousandths
  std::vector<StepInfo> steps;
  for (std::size_t i = 0; i < count; ++i) {
    const Nanos spread = middle * (i < wild ? 300 : calm) / 1000;
    const Nanos duration = middle + *rc::gen::inRange<Nanos>(-spread, spread + 1);
    steps.push_back({static_cast<std::int64_t>(i), 0, duration, false});
  }
  const auto found = first_stable(steps);
  RC_ASSERT(found == first_stable_by_definition(steps));
  RC_CLASSIFY(found && *found > 0, "stable after some steps");
  RC_CLASSIFY(!found, "never stable");
}

}  // namespace
}  // namespace gf
