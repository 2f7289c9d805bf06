// How often two captures of one program are called different, and how often a real difference is
// found.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyze/compare/checks.h"

namespace gf {

namespace {

struct Told {
  double different = 0, covered = 0;  // share of pairs
};

Told simulate(std::size_t steps, double spread, double ratio) {
  constexpr int kPairs = 400;
  constexpr double kStep = 1e6;
  std::mt19937_64 random(steps * 1000 + static_cast<std::size_t>(1000 * ratio));
  std::normal_distribution<double> noise(1, spread);
  const auto draw = [&](double mean) {
    std::vector<std::int64_t> durations(steps);
    for (auto& duration : durations) duration = std::llround(mean * std::max(0.1, noise(random)));
    return durations;
  };
  Told told;
  for (int pair = 0; pair < kPairs; ++pair) {
    const auto interval = bootstrap_ratio(draw(kStep), draw(kStep * ratio));
    told.different += interval->beyond_noise() ? 1.0 / kPairs : 0;
    told.covered += interval->low <= ratio && ratio <= interval->high ? 1.0 / kPairs : 0;
  }
  return told;
}

}  // namespace

TEST(CompareNoise, TheSameProgramIsRarelyCalledDifferent) {
  for (const std::size_t steps : {3u, 5u, 10u, 30u})
    for (const double spread : {0.01, 0.1}) {
      const Told told = simulate(steps, spread, 1);
      EXPECT_LE(told.different, 0.08) << steps << " steps, spread " << spread;
      EXPECT_GE(told.covered, 0.92) << steps << " steps, spread " << spread;
    }
}

TEST(CompareNoise, ARealDifferenceIsFound) {
  EXPECT_GE(simulate(10, 0.01, 1.03).different, 0.99);
  EXPECT_GE(simulate(30, 0.03, 1.05).different, 0.99);
}

TEST(CompareNoise, TheSameStepsGiveTheSameAnswer) {
  const std::vector<std::int64_t> first{100, 103, 98, 101}, other{104, 107, 103, 105};
  const auto one = bootstrap_ratio(first, other), two = bootstrap_ratio(first, other);
  EXPECT_EQ(one->low, two->low);
  EXPECT_EQ(one->high, two->high);
  EXPECT_FALSE(bootstrap_ratio(std::vector<std::int64_t>{1, 2}, other));
}

}  // namespace gf
