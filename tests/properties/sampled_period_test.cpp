// Steps found in samples: periods that are not whole numbers of samples, and those that samples
// cannot tell.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/statistics.h"

namespace gf {
namespace {

/// A level that changes at some phases of its period.
struct Profile {
  std::vector<double> until;  // ascending, the last is 1
  std::vector<double> level;
};

double random_share(std::mt19937_64& random) {
  return std::uniform_real_distribution<double>()(random);
}

Profile random_profile(std::mt19937_64& random) {
  Profile profile;
  for (std::size_t parts = 2 + random() % 6; parts > 1; --parts)
    profile.until.push_back(random_share(random));
  std::sort(profile.until.begin(), profile.until.end());
  profile.until.push_back(1);
  for (std::size_t i = 0; i < profile.until.size(); ++i)
    profile.level.push_back(random_share(random));
  return profile;
}

/// Each sample the exact mean of the level over it, then noise.
std::vector<float> sampled(const Profile& profile, double period, double jitter, double noise,
                           std::size_t count, std::mt19937_64& random) {
  std::vector<double> sums(count, 0);
  std::normal_distribution<double> normal;
  double at = -random_share(random) * period;
  while (at < static_cast<double>(count)) {
    const double length = period * std::max(0.1, 1 + jitter * normal(random));
    double begin = at;
    for (std::size_t i = 0; i < profile.until.size(); ++i) {
      const double end = at + length * profile.until[i];
      for (double part = std::max(begin, 0.0); part < std::min(end, static_cast<double>(count));) {
        const auto sample = static_cast<std::size_t>(part);
        const double next = std::min(end, static_cast<double>(sample + 1));
        sums[sample] += profile.level[i] * (next - part);
        part = next;
      }
      begin = end;
    }
    at += length;
  }
  std::vector<float> signal;
  for (const double sum : sums)
    signal.push_back(static_cast<float>(std::clamp(sum + noise * normal(random), 0.0, 1.0)));
  return signal;
}

struct Tally {
  int right = 0, none = 0, wrong = 0;
};

Tally search(double period, double jitter) {
  Tally tally;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const Profile profile = random_profile(random);
    const auto found = find_period(sampled(profile, period, jitter, 0.02, 1500, random));
    if (!found) {
      ++tally.none;
    } else if (std::abs(found->samples / period - 1) < 0.02) {
      ++tally.right;
    } else {
      ++tally.wrong;
    }
  }
  return tally;
}

TEST(SampledPeriod, NeedNotBeWhole) {
  for (const double period : {4.385, 4.672, 5.6, 7.3, 9.31, 11.68, 13.52, 16.54, 23.7, 39.9})
    for (const double jitter : {0.0, 0.01, 0.03}) {
      const Tally tally = search(period, jitter);
      int least = 45;
      if (period < 7) least = 30;
      EXPECT_GE(tally.right, least) << period << " jitter " << jitter;
      EXPECT_LE(tally.wrong, 3) << period << " jitter " << jitter;
    }
}

TEST(SampledPeriod, ShortOnesAreRarelyTakenForMultiples) {
  for (const double period : {0.35, 0.846, 1.0, 1.31, 1.76, 2.0, 2.3, 2.67, 2.9, 3.3, 3.8})
    for (const double jitter : {0.0, 0.01, 0.03})
      EXPECT_LE(search(period, jitter).wrong, 6) << period << " jitter " << jitter;
}

TEST(SampledPeriod, IsToldToAFewThousandths) {
  // Sampled at 1 kHz, steps of 4.385 ms come out alike only every 18 of them.
  std::mt19937_64 random(7);
  const Profile profile{{0.1, 0.65, 1}, {0.2, 0.9, 0.6}};
  const auto found = find_period(sampled(profile, 4.385, 0.001, 0.01, 1540, random));
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->samples, 4.385, 0.01);
  EXPECT_GT(found->confidence, 0.7);
}

TEST(SampledPeriod, PausesAfterManyStepsAreNone) {
  std::mt19937_64 random(3);
  const Profile busy{{0.025, 1}, {0.2, 1}};
  EXPECT_FALSE(find_period(sampled(busy, 39, 0.001, 0.001, 4000, random)).has_value());
  // The same the other way round is a burst of work.
  const Profile bursts{{0.025, 1}, {0.8, 0}};
  EXPECT_TRUE(find_period(sampled(bursts, 39, 0.001, 0.001, 4000, random)).has_value());
}

RC_GTEST_PROP(SampledPeriod, FasterLevelsVaryLess, (unsigned seed)) {
  std::mt19937_64 random(seed);
  const Profile profile = random_profile(random);
  const double samples = 3 + 37 * random_share(random);
  // 1 - 1/samples or more periods a sample come out as one of `samples`.
  double periods = static_cast<double>(1 + random() % 3) + 1 / samples;
  if (random() % 2) periods -= 2 / samples;
  const auto signal = sampled(profile, 1 / periods, 0, 0, 2000, random);
  double mean = 0;
  for (const float value : signal) mean += static_cast<double>(value) / 2000;
  double variance = 0;
  for (const float value : signal) variance += (value - mean) * (value - mean) / 2000;
  RC_ASSERT(variance <= 1.05 * most_variance_of_faster(samples, mean) + 1e-9);
}

}  // namespace
}  // namespace gf
