#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "collect/flight/watch.h"

namespace gf {
namespace {

constexpr Nanos kSampleLength = 10 * kNsPerMs, kOrigin = 1'000 * kNsPerSecond;
constexpr Nanos kOneMinute = 60 * kNsPerSecond, kOneHour = 60 * kOneMinute;

/// The state of a GPU in a sample: its activity, and that of its SMs.
struct GpuWork {
  double busy, sm_active;
};

/// Something out of the ordinary, over [start, start + length) of the program.
struct Planted {
  const char* kind;
  Nanos start, length;
  bool found = false;
};

/// A program whose steps pass faster or slower than the clock on the wall.
struct WatchedProgram {
  explicit WatchedProgram(unsigned seed) : random(seed) {}
  std::mt19937 random;
  FlightWatch watch;
  std::vector<Planted> planted;
  std::vector<FlightMoment> others;  // that nobody planted
  double progress = 0;               // of the work, in seconds
  Nanos now = kOrigin;

  const Planted* active(const char* kind) const {
    for (const auto& each : planted)
      if (each.kind == std::string_view(kind) && now - kOrigin >= each.start &&
          now - kOrigin < each.start + each.length)
        return &each;
    return nullptr;
  }

  void runs(Nanos length, const std::function<GpuWork(double)>& work) {
    for (const Nanos end = now + length; now < end; now += kSampleLength) {
      const bool stands = active("stall") || active("idle");
      GpuWork level{0, 0};
      if (!stands) level = work(progress);
      if (!stands) progress += 0.01 / (active("slower_steps") ? 1.4 : 1.0);
      watch.busy(now, now + kSampleLength, level.busy);
      watch.sm_active(now, now + kSampleLength, level.sm_active);
      if (now % kNsPerSecond == 0) {
        watch.clock(now, active("clock_drop") ? 1.2e9 : 1.9e9 + 2e7 * noise());
        watch.holders({4711});
      }
      for (const auto& each : planted)
        if (each.kind == std::string_view("xid") && now - kOrigin == each.start) watch.xid(now, 31);
      for (auto& moment : watch.take()) judge(moment);
    }
  }

  double noise() { return std::uniform_real_distribution<double>(-1, 1)(random); }

  void judge(const FlightMoment& moment) {
    for (auto& each : planted) {
      const Nanos after = moment.time_ns - kOrigin - each.start;
      const bool its = after >= -2 * kSampleLength && after < each.length + 30 * kNsPerSecond;
      if (its && moment.kind == each.kind) {
        each.found = true;
        return;
      }
    }
    others.push_back(moment);
  }

  void expect_planted_alone() const {
    for (const auto& each : planted)
      EXPECT_TRUE(each.found) << each.kind << " at " << each.start / kNsPerSecond << " s";
    for (const auto& each : others)
      ADD_FAILURE() << each.kind << " at " << (each.time_ns - kOrigin) / kNsPerSecond
                    << " s: " << each.text;
  }
};

/// Steps of `length` seconds: a share of each without work, kernels that fill the SMs differently.
GpuWork step_of(double progress, double length, double pause) {
  const double phase = std::fmod(progress, length) / length;
  if (phase < pause) return {0.02, 0.01};
  return {1, phase < 0.5 ? 0.9 : 0.4};
}

std::vector<Planted> ten_moments(Nanos shift) {
  std::vector<Planted> planted;
  const auto at = [&](const char* kind, int minute, Nanos length) {
    planted.push_back({kind, minute * kOneMinute + shift, length});
  };
  at("stall", 12, 400 * kNsPerMs);
  at("slower_steps", 15, 50 * kNsPerSecond);
  at("clock_drop", 19, 8 * kNsPerSecond);
  at("stall", 22, 3 * kNsPerSecond);
  at("xid", 25, kSampleLength);
  at("idle", 28, 25 * kNsPerSecond);
  at("stall", 33, 900 * kNsPerMs);
  at("clock_drop", 38, 60 * kNsPerSecond);
  at("slower_steps", 45, 90 * kNsPerSecond);
  at("stall", 52, 2 * kNsPerSecond);
  return planted;
}

TEST(FlightWatch, FindsTenMomentsInEachOfFivePrograms) {
  const auto hour = [](unsigned seed, const std::function<GpuWork(WatchedProgram&, double)>& work) {
    WatchedProgram program(seed);
    program.planted = ten_moments(seed * kNsPerSecond);
    program.runs(kOneHour, [&](double progress) { return work(program, progress); });
    program.expect_planted_alone();
  };
  {
    SCOPED_TRACE("short steps with a pause");
    hour(1, [](WatchedProgram&, double at) { return step_of(at, 0.12, 0.1); });
  }
  {
    SCOPED_TRACE("long steps with visible pauses");
    hour(2, [](WatchedProgram&, double at) { return step_of(at, 1.3, 0.06); });
  }
  {
    SCOPED_TRACE("a GPU that is always busy");
    hour(3, [](WatchedProgram&, double at) {
      GpuWork work = step_of(at, 0.3, 0);
      work.busy = 1;
      return work;
    });
  }
  {
    SCOPED_TRACE("steps of unequal lengths");
    hour(4, [](WatchedProgram& program, double at) {
      return step_of(at + 0.01 * program.noise(), 0.5, 0.08);
    });
  }
  {
    SCOPED_TRACE("noisy levels");
    hour(5, [](WatchedProgram& program, double at) {
      GpuWork work = step_of(at, 0.25, 0.12);
      if (work.busy > 0.5) work.sm_active += 0.1 * program.noise();
      return work;
    });
  }
}

TEST(FlightWatch, SaysNothingOfHoursWithoutAnyEvent) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    WatchedProgram serving(seed);  // requests that come at random, each of a length of its own
    double until = 0;
    double next = 0;
    const double rate = 0.5 * seed * seed;  // a second
    std::exponential_distribution<double> arrival(rate), length(rate / 0.65);
    serving.runs(kOneHour, [&](double at) {
      while (next <= at) {
        until = std::max(until, next) + length(serving.random);
        next += arrival(serving.random);
      }
      if (at < until) return GpuWork{1, 0.5 + 0.3 * serving.noise()};
      return GpuWork{0, 0};
    });
    serving.expect_planted_alone();
  }
  WatchedProgram epochs(
      9);  // validation with other steps every five minutes, a checkpoint after each
  int pauses = 0;
  epochs.runs(kOneHour, [&](double at) {
    const double in_epoch = std::fmod(at, 300);
    if (in_epoch >= 298) return GpuWork{0, 0};
    return step_of(at, in_epoch < 270 ? 0.2 : 0.07, 0.1);
  });
  for (const auto& moment : epochs.others) pauses += moment.kind == "stall";
  EXPECT_EQ(pauses, static_cast<int>(epochs.others.size()));
  EXPECT_LE(pauses, 5);  // until it has come often enough to be usual
}

TEST(FlightWatch, ForgetsWithTheJob) {
  WatchedProgram program(1);
  program.runs(5 * kOneMinute, [](double at) { return step_of(at, 0.2, 0.1); });
  program.watch.holders({});  // it ends
  for (int i = 0; i < 6000; ++i, program.now += kSampleLength) {
    program.watch.busy(program.now, program.now + kSampleLength, 0);
    program.watch.sm_active(program.now, program.now + kSampleLength, 0);
  }
  EXPECT_TRUE(program.watch.take().empty());
  program.watch.holders({99});  // another, with steps four times as long
  program.runs(5 * kOneMinute, [](double at) { return step_of(at, 0.8, 0.1); });
  program.expect_planted_alone();
}

TEST(FlightWatch, ImpossibleValuesChangeNothing) {
  FlightWatch watch;
  watch.busy(10, 5, 1);
  watch.busy(0, kNsPerSecond, NAN);
  watch.sm_active(10, 5, 1);
  watch.sm_active(0, kNsPerSecond, INFINITY);
  watch.clock(0, NAN);
  EXPECT_TRUE(watch.take().empty());
}

/// A job with a pause of 20 ms in each step, a gap of 4 s, and the steps again; who holds the GPU's
/// memory is read every two seconds, and not while nobody does.
std::vector<FlightMoment> told_of_a_gap(std::int64_t before, std::int64_t after) {
  FlightWatch watch;
  Nanos now = kOrigin;
  std::vector<FlightMoment> told;
  const auto runs = [&](Nanos length, bool works, std::int64_t holder) {
    for (const Nanos end = now + length; now < end; now += kSampleLength) {
      const bool pauses = !works || now % (120 * kNsPerMs) < 20 * kNsPerMs;
      watch.busy(now, now + kSampleLength, pauses ? 0 : 1);
      if (now % (2 * kNsPerSecond) == 0 && holder > 0) watch.holders({holder});
      for (auto& moment : watch.take()) told.push_back(std::move(moment));
    }
  };
  runs(2 * kOneMinute + kNsPerSecond / 2, true, before);
  runs(4 * kNsPerSecond, false, before == after ? before : 0);
  runs(kOneMinute, true, after);
  return told;
}

TEST(FlightWatch, TheEndOfOneJobAndTheStartOfTheNextAreNoStall) {
  EXPECT_TRUE(told_of_a_gap(7, 8).empty());
  const auto same = told_of_a_gap(7, 7);
  ASSERT_EQ(same.size(), 1u);
  EXPECT_EQ(same[0].kind, "stall");
  EXPECT_EQ(told_of_a_gap(0, 0).size(), 1u) << "a driver that names no process";
}

}  // namespace
}  // namespace gf
