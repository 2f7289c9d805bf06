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

}  // namespace
}  // namespace gf
