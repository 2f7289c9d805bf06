#include "analyze/compare/noise.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/statistics.h"
#include "core/student.h"

namespace gf {

namespace {

constexpr std::size_t kFewest = 3, kDraws = 2000;
constexpr double kNormal = 1.959964;  // 97.5 % quantile of the normal distribution

/// The steps of one run, drawn again and again.
class Resampled {
 public:
  explicit Resampled(std::span<const std::int64_t> steps) : steps_(steps) {
    for (const auto step : steps) mean_ += static_cast<double>(step);
    const auto count = static_cast<double>(steps.size());
    mean_ /= count;
    const double few = student_quantile95(std::ssize(steps) - 1);
    widened_ = few / kNormal * std::sqrt(count / (count - 1));
  }
  double mean() const { return mean_; }
  double draw(std::mt19937_64& random) const {
    double sum = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      sum += static_cast<double>(steps_[random() % steps_.size()]);
    const double drawn = sum / static_cast<double>(steps_.size());
    return std::max(mean_ + widened_ * (drawn - mean_), 1e-3 * mean_);
  }

 private:
  std::span<const std::int64_t> steps_;
  double mean_ = 0, widened_ = 1;
};

}  // namespace

std::optional<RatioInterval> bootstrap_ratio(std::span<const std::int64_t> first,
                                             std::span<const std::int64_t> other) {
  if (first.size() < kFewest || other.size() < kFewest) return std::nullopt;
  const Resampled before(first), after(other);
  if (before.mean() <= 0 || after.mean() <= 0) return std::nullopt;
  std::mt19937_64 random(1);
  std::vector<double> ratios(kDraws);
  for (auto& ratio : ratios) {
    const double drawn = after.draw(random);
    ratio = drawn / before.draw(random);
  }
  return RatioInterval{after.mean() / before.mean(), quantile(ratios, 0.025),
                       quantile(ratios, 0.975)};
}

}  // namespace gf
