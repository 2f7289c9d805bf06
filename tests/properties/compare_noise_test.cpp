// Rates at which two equal versions are called different, and at which a change passes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyze/compare/verdict.h"

namespace gf {

namespace {

using Noise = std::function<std::vector<double>(std::mt19937_64&, std::size_t)>;  // logarithms

Noise autoregression(double memory) {
  return [memory](std::mt19937_64& random, std::size_t steps) {
    constexpr double kSpread = 0.01;
    std::normal_distribution<double> normal;
    std::vector<double> out(steps);
    double value = kSpread * normal(random);
    for (auto& each : out) {
      each = value;
      value = memory * value + std::sqrt(1 - memory * memory) * kSpread * normal(random);
    }
    return out;
  };
}

/// A step of 1 ms by each logarithm, in captures that were recorded in turns.
std::optional<MeasuredRatio> measured(std::mt19937_64& random, const Noise& noise,
                                      std::size_t captures, std::size_t steps, double change) {
  MeasuredSide sides[2];
  for (std::size_t at = 0; at < 2 * captures; ++at) {
    StepTimes times = noise(random, steps);
    for (auto& time : times) time = 1e6 * std::exp(time) * (at % 2 == 1 ? 1 + change : 1);
    sides[at % 2].captures.push_back(std::move(times));
    sides[at % 2].recorded_at.push_back(static_cast<double>(at));
  }
  return measure_ratio(sides[0], sides[1]);
}

struct Told {
  double different = 0, equal = 0, failed = 0, passed = 0;  // share of pairs
};

Told simulate(const Noise& noise, std::size_t captures, std::size_t steps, double change,
              double limit) {
  constexpr int kPairs = 400;
  std::mt19937_64 random(steps * 1000 + captures);
  Told told;
  for (int pair = 0; pair < kPairs; ++pair) {
    const auto found = measured(random, noise, captures, steps, change);
    const auto verdict = verdict_of(*found);
    const auto outcome = against_limit(*found, limit);
    constexpr double kOne = 1.0 / kPairs;
    told.different +=
        verdict == ComparedVerdict::faster || verdict == ComparedVerdict::slower ? kOne : 0;
    told.equal += verdict == ComparedVerdict::no_difference ? kOne : 0;
    told.failed += outcome == CheckOutcome::failed ? kOne : 0;
    told.passed += outcome == CheckOutcome::ok ? kOne : 0;
  }
  return told;
}

const std::vector<double> kSome{1.00, 1.03, 0.98, 1.01, 1.02, 0.99, 1.00, 1.01};

StepTimes times(const std::vector<double>& values, double by = 1) {
  StepTimes out;
  for (const double value : values) out.push_back(1e6 * value * by);
  return out;
}

MeasuredSide side_of(std::vector<StepTimes> captures) {
  MeasuredSide side;
  side.captures = std::move(captures);
  return side;
}

StepTimes quiet(std::size_t steps, double by = 1) {
  StepTimes out;
  for (std::size_t i = 0; i < steps; ++i)
    out.push_back(1e6 * by * (1 + 0.001 * static_cast<double>(i * 7 % 5)));
  return out;
}

}  // namespace

TEST(Verdict, TheSameProgramIsRarelyCalledDifferent) {
  for (const double memory : {0.0, 0.85, 0.95})
    for (const std::size_t captures : {1u, 2u, 4u})
      for (const std::size_t steps : {3u, 12u, 40u, 100u}) {
        if (steps == 3 && memory > 0) continue;  // three steps tell no memory
        const Told told = simulate(autoregression(memory), captures, steps, 0, 0.01);
        EXPECT_LE(told.different, memory > 0.9 && steps == 12   ? 0.25
                                  : memory > 0 && captures == 1 ? 0.09
                                                                : 0.06)
            << memory << " " << captures << " captures of " << steps;
        EXPECT_LE(told.failed, 0.02) << memory << " " << captures << " captures of " << steps;
      }
}

TEST(Verdict, AChangeBeyondTheLimitDoesNotPass) {
  for (const double memory : {0.0, 0.85, 0.95})
    for (const std::size_t captures : {1u, 2u, 4u})
      for (const std::size_t steps : {12u, 40u, 100u})
        EXPECT_LE(simulate(autoregression(memory), captures, steps, 0.03, 0.01).passed, 0.01)
            << memory << " " << captures << " captures of " << steps;
}

TEST(Verdict, FourCapturesInTurnsFindThreePercent) {
  for (const std::size_t steps : {12u, 40u, 100u})
    EXPECT_GE(simulate(autoregression(0), 4, steps, 0.03, 0.01).failed, 0.95) << steps;
  EXPECT_GE(simulate(autoregression(0), 4, 40, 0, 0.03).passed, 0.95);
}

TEST(Verdict, AHiccupIsToldApart) {
  StepTimes before = quiet(40), after = quiet(40);
  after[17] *= 30;
  const auto found = measure_ratio(side_of({before}), side_of({after}));
  EXPECT_NEAR(found->ratio, 1, 0.001);
  EXPECT_EQ(verdict_of(*found), ComparedVerdict::no_difference);
  EXPECT_EQ(against_limit(*found, 0.03), CheckOutcome::ok);
  EXPECT_EQ(found->rare_after.steps, 1);
  ASSERT_FALSE(remarks_on(*found).empty());
  EXPECT_NE(remarks_on(*found)[0].find("1 of 40 steps of the second (30"), std::string::npos)
      << remarks_on(*found)[0];
  // Too many on one side to be chance: they are in the sum.
  MeasuredSide first, second;
  for (int capture = 0; capture < 8; ++capture) {
    first.captures.push_back(before);
    second.captures.push_back(after);
  }
  EXPECT_GT(measure_ratio(first, second)->ratio, 1.5);
}

TEST(Verdict, ATailIsInTheSumAndTold) {
  StepTimes after = quiet(40);
  for (std::size_t i = 3; i < after.size(); i += 4) after[i] *= 1.5;
  const auto found = measure_ratio(side_of({quiet(40)}), side_of({after}));
  EXPECT_NEAR(found->ratio, 1.125, 0.001);
  EXPECT_NEAR(found->median_ratio, 1, 0.002);
  EXPECT_EQ(against_limit(*found, 0.03), CheckOutcome::failed);
  EXPECT_NE(remarks_on(*found)[0].find("A tail: 10 of 40 steps of the second take 1.5 times"),
            std::string::npos)
      << remarks_on(*found)[0];
}

TEST(Verdict, EvenDriftOfTheMachineIsToldFromTheChange) {
  MeasuredSide before, after;
  for (int turn = 0; turn < 4; ++turn) {
    before.captures.push_back(quiet(20, 1 + 0.010 * turn));
    before.recorded_at.push_back(2 * turn);
    after.captures.push_back(quiet(20, (1 + 0.010 * turn + 0.005) * 1.02));
    after.recorded_at.push_back(2 * turn + 1);
  }
  const auto found = measure_ratio(before, after);
  EXPECT_NEAR(found->ratio, 1.02, 0.001);
  EXPECT_TRUE(found->in_turns);
  EXPECT_EQ(against_limit(*found, 0.01), CheckOutcome::failed);
  // A A A A B B B B: the order and the version say the same.
  for (std::size_t turn = 0; turn < 4; ++turn) {
    before.recorded_at[turn] = static_cast<double>(turn);
    after.recorded_at[turn] = static_cast<double>(4 + turn);
  }
  const auto apart = measure_ratio(before, after);
  EXPECT_FALSE(apart->in_turns);
  EXPECT_NE(remarks_on(*apart)[0].find("One version was recorded after the other"),
            std::string::npos);
}

TEST(Verdict, WhatDoubtsLeaveOpenWidens) {
  MeasuredSide before = side_of({quiet(40)}), after = before;
  after.missing = 0.4;
  EXPECT_EQ(against_limit(*measure_ratio(before, after), 0.03), CheckOutcome::undecided);
  EXPECT_GT(measure_ratio(before, after)->high, 1.4);
  EXPECT_LT(measure_ratio(after, before)->low, 0.72);
  before.extra = 0.1;  // twice in the first: it may be faster than it looks
  EXPECT_GT(measure_ratio(before, side_of({quiet(40)}))->high, 1.1);
}

// The test that culprits must pass: on times instead of ratios, with the same estimate of noise.
TEST(Verdict, ADifferenceOfTimesIsShownAsRarelyByChance) {
  constexpr int kPairs = 400;
  for (const double memory : {0.0, 0.85})
    for (const std::size_t captures : {1u, 4u}) {
      std::mt19937_64 random(captures);
      const Noise noise = autoregression(memory);
      int shown = 0, found = 0;
      for (int pair = 0; pair < kPairs; ++pair) {
        MeasuredSide sides[2];
        for (std::size_t at = 0; at < 2 * captures; ++at) {
          StepTimes times = noise(random, 40);
          for (auto& time : times) time = 1e6 * std::exp(time);
          sides[at % 2].captures.push_back(std::move(times));
        }
        shown += measure_difference(sides[0], sides[1])->low > 0;
        found += measure_difference(sides[0], sides[1], 0.9)->low > 0;  // a tenth more
      }
      EXPECT_LE(shown, 0.05 * kPairs) << memory << " " << captures;
      EXPECT_GE(found, 0.99 * kPairs) << memory << " " << captures;
    }
}

TEST(Verdict, ADifferenceFromNothingIsATime) {
  const MeasuredSide nothing = side_of({StepTimes(40, 0.0)}), some = side_of({quiet(40)});
  const auto fresh = measure_difference(nothing, some);
  EXPECT_NEAR(fresh->change, 1.002e6, 1e3);
  EXPECT_GT(fresh->low, 0.99e6);
  EXPECT_NEAR(measure_difference(some, some, 2)->change, -1.002e6, 1e3);
  EXPECT_FALSE(measure_difference(side_of({StepTimes{1, 2}}), some)) << "two steps tell no noise";
}

TEST(Verdict, CapturesThatWouldDecideDo) {
  const auto found = measure_ratio(side_of({times(kSome)}), side_of({times(kSome, 1.05)}));
  EXPECT_EQ(against_limit(*found, 0.04), CheckOutcome::undecided);
  const auto captures = captures_to_decide(*found, 0.04);
  ASSERT_TRUE(captures);
  EXPECT_GE(*captures, 2);
  EXPECT_FALSE(captures_to_decide(*found, found->ratio - 1)) << "as large as the limit";
}

TEST(Verdict, NothingIsSaidWithoutNoise) {
  const MeasuredSide some = side_of({times(kSome)});
  EXPECT_FALSE(measure_ratio(side_of({StepTimes{1, 2}}), some));
  EXPECT_FALSE(measure_ratio(side_of({StepTimes{}}), some));
  EXPECT_FALSE(measure_ratio(side_of({StepTimes{0, 0, 0}}), some));
  const MeasuredSide whole = side_of({StepTimes{1.0}, StepTimes{1.1}});
  EXPECT_TRUE(measure_ratio(whole, whole)) << "whole captures tell it";
}

}  // namespace gf
