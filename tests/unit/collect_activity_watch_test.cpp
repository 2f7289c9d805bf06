#include <gtest/gtest.h>

#include "collect/record/activity_watch.h"

namespace gf {
namespace {

constexpr Nanos kStart = 1'000 * kNsPerSecond, kTick = 50 * kNsPerMs;

/// A program that begins at kStart; levels go in every 10 ms, the watch is asked every 50 ms.
struct Program {
  ActivityWatch watch;
  Nanos now = kStart;
  std::vector<std::pair<WindowReason, Nanos>> windows;  // and when, after the start

  explicit Program(bool kernels_at_once = true) {
    watch.program_began(kStart);
    if (kernels_at_once) watch.kernels_came();
  }
  template <class Level>
  void runs(Nanos length, Level level) {
    for (const Nanos end = now + length; now < end; now += kTick) {
      for (Nanos at = now; at < now + kTick; at += kTick / 5) {
        const double busy = level(at - kStart);
        watch.add(at, at + kTick / 5, busy, busy / 2);
      }
      if (const auto why = watch.due(now)) windows.emplace_back(*why, now - kStart);
    }
  }
};

TEST(ActivityWatch, OpensWhenTheWorkIsSteady) {
  Program program;
  program.runs(8 * kNsPerSecond, [](Nanos at) {  // loading: a burst now and then
    return at / (300 * kNsPerMs) % 3 == 0 ? 0.6 : 0.0;
  });
  EXPECT_TRUE(program.windows.empty());
  program.runs(10 * kNsPerSecond,
               [](Nanos at) { return 0.7 + 0.02 * static_cast<double>(at / kTick % 2); });
  ASSERT_EQ(program.windows.size(), 1u);
  EXPECT_EQ(program.windows[0].first, WindowReason::steady);
  EXPECT_GE(program.windows[0].second, 10 * kNsPerSecond);  // two seconds of it are seen before
  EXPECT_LE(program.windows[0].second, 11 * kNsPerSecond);
}

TEST(ActivityWatch, OpensWhenWorkBeginsLongAfterTheProgram) {
  Program program(false);
  program.runs(9 * kNsPerSecond, [](Nanos) { return 0.01; });
  EXPECT_TRUE(program.windows.empty());
  program.runs(30 * kNsPerSecond, [](Nanos) { return 0.8; });
  ASSERT_EQ(program.windows.size(), 2u);
  EXPECT_EQ(program.windows[0].first, WindowReason::begun);
  EXPECT_LE(program.windows[0].second, 9 * kNsPerSecond + 200 * kNsPerMs);
  EXPECT_EQ(program.windows[1].first, WindowReason::steady);
  EXPECT_GE(program.windows[1].second - program.windows[0].second, 15 * kNsPerSecond);
}

TEST(ActivityWatch, WorkOfTheFirstWindowIsNotUnseen) {
  Program program(false);  // its kernels are read late
  program.runs(kNsPerSecond, [](Nanos) { return 0.8; });
  program.runs(20 * kNsPerSecond, [](Nanos) { return 0.0; });
  EXPECT_TRUE(program.windows.empty());
}

TEST(ActivityWatch, OpensAgainWhereTheWorkChangesAndEveryMinute) {
  Program program;
  program.runs(30 * kNsPerSecond, [](Nanos) { return 0.8; });
  program.runs(20 * kNsPerSecond, [](Nanos) { return 0.3; });
  ASSERT_EQ(program.windows.size(), 2u);
  EXPECT_EQ(program.windows[1].first, WindowReason::changed);
  EXPECT_NEAR(static_cast<double>(program.windows[1].second), 32.5e9, 1e9);
  program.runs(60 * kNsPerSecond, [](Nanos) { return 0.3; });
  ASSERT_EQ(program.windows.size(), 3u);
  EXPECT_EQ(program.windows[2].first, WindowReason::periodic);
}

TEST(ActivityWatch, OpensInTheEndWhereNothingIsSteady) {
  Program program;
  program.runs(60 * kNsPerSecond, [](Nanos at) { return at / kNsPerSecond % 2 == 0 ? 0.9 : 0.1; });
  ASSERT_GE(program.windows.size(), 1u);
  EXPECT_EQ(program.windows[0].first, WindowReason::unsteady);
  EXPECT_NEAR(static_cast<double>(program.windows[0].second), 22.5e9, 1e9);
}

TEST(ActivityWatch, IdleGpusAndOtherPeoplesWorkOpenNothing) {
  Program idle;
  idle.runs(90 * kNsPerSecond, [](Nanos) { return 0.0; });
  EXPECT_TRUE(idle.windows.empty());
  ActivityWatch before;  // the program has not begun
  for (Nanos at = kStart; at < kStart + 10 * kNsPerSecond; at += kTick) {
    before.add(at, at + kTick, 0.9, 0.9);
    EXPECT_FALSE(before.due(at));
  }
}

TEST(ActivityWatch, ReadingsOfASecondServeAsWell) {
  ActivityWatch watch;
  watch.program_began(kStart);
  std::optional<Nanos> opened;
  for (Nanos at = kStart; at < kStart + 10 * kNsPerSecond && !opened; at += kNsPerSecond) {
    watch.add(at, at + kNsPerSecond, 0.9, 0.9);
    if (watch.due(at + kNsPerSecond)) opened = at - kStart;
  }
  ASSERT_TRUE(opened);
  EXPECT_LE(*opened, 4 * kNsPerSecond);
}

/// A driver that is asked every 10 ms, from a program's start on.
struct Driver {
  ArrivalWatch watch;
  Nanos now = kStart;
  bool says(const std::set<std::int64_t>& holders, std::int64_t memory, Nanos took) {
    now += 10 * kNsPerMs + took;
    return watch.saw(now, took, holders, memory);
  }
};

TEST(ArrivalWatch, AProgramIsThereOnceTheDriverServesOthersAgain) {
  Driver driver;
  const std::int64_t others = 10ll << 30;
  for (int look = 0; look < 40; ++look) EXPECT_FALSE(driver.says({7}, others, kNsPerMs));
  EXPECT_FALSE(driver.says({7}, others, 300 * kNsPerMs));  // the driver loads
  EXPECT_FALSE(driver.says({7, 8}, others + (500 << 20), 80 * kNsPerMs));
  const Nanos seen = driver.now;
  EXPECT_FALSE(driver.says({7, 8}, others, kNsPerMs));
  EXPECT_FALSE(driver.says({7, 8}, others, 200 * kNsPerMs));  // is held again
  EXPECT_FALSE(driver.says({7, 8}, others, kNsPerMs));
  EXPECT_FALSE(driver.says({7, 8}, others, kNsPerMs));
  EXPECT_TRUE(driver.says({7, 8}, others, kNsPerMs));
  EXPECT_EQ(driver.watch.arrived(), seen);
}

TEST(ArrivalWatch, ADriverThatStaysSlowIsWaitedForNoLongerThanASecond) {
  Driver driver;
  driver.says({}, 0, kNsPerMs);
  Nanos ready = 0;
  for (int look = 0; look < 100 && ready == 0; ++look)
    if (driver.says({8}, 0, 30 * kNsPerMs)) ready = driver.now;
  EXPECT_GE(ready - driver.watch.arrived(), kNsPerSecond);
  EXPECT_LE(ready - driver.watch.arrived(), kNsPerSecond + 40 * kNsPerMs);
}

TEST(ArrivalWatch, MemoryTellsWhereProcessesAreOutOfSight) {
  ArrivalWatch watch;
  Nanos now = kStart;
  const auto says = [&](std::int64_t memory) {
    return watch.saw(now += 10 * kNsPerMs, kNsPerMs, std::nullopt, memory);
  };
  EXPECT_FALSE(says(3 << 20));
  EXPECT_FALSE(says(2 << 20));
  EXPECT_FALSE(says(60 << 20));  // less than a context
  EXPECT_FALSE(says(500 << 20));
  EXPECT_FALSE(says(500 << 20));
  EXPECT_TRUE(says(500 << 20));
}

TEST(ArrivalWatch, WhoeverLeavesOrSaysNothingIsNoArrival) {
  ArrivalWatch watch;
  Nanos now = kStart;
  const auto says = [&](const std::optional<std::set<std::int64_t>>& holders) {
    return watch.saw(now += 10 * kNsPerMs, kNsPerMs, holders, std::nullopt);
  };
  EXPECT_FALSE(says(std::set<std::int64_t>{7, 9}));
  for (int look = 0; look < 5; ++look) EXPECT_FALSE(says(std::set<std::int64_t>{9}));
  for (int look = 0; look < 5; ++look) EXPECT_FALSE(says(std::nullopt));
}

}  // namespace
}  // namespace gf
