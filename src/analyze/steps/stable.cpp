#include <cmath>

#include "analyze/steps/steps.h"
#include "core/statistics.h"

namespace gf {

std::optional<std::size_t> first_stable(const std::vector<StepInfo>& steps) {
  constexpr std::size_t kInARow = 3;
  constexpr double kDeviations = 3;
  if (steps.size() < kInARow) return std::nullopt;
  std::vector<double> late;
  for (std::size_t i = steps.size() / 2; i < steps.size(); ++i)
    late.push_back(static_cast<double>(steps[i].duration_ns));
  const double middle = median(late), allowed = kDeviations * median_absolute_deviation(late);
  std::size_t in_a_row = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::abs(static_cast<double>(steps[i].duration_ns) - middle) <= allowed) {
      in_a_row = in_a_row + 1;
    } else {
      in_a_row = 0;
    }
    if (in_a_row == kInARow) return i + 1 - kInARow;
  }
  return std::nullopt;
}

}  // namespace gf
