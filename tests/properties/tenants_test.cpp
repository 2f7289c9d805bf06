// Devices that several processes share: parts sum to totals, and intervals hold the truth of a
// world in which it is known who did what at every microsecond.
#include "analyze/tenants/tenants.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "analyze/tenants/presence.h"
#include "analyze/timeline.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

constexpr std::int64_t kFirstPid = 100;
constexpr double kIdleWatts = 75;

/// Behavior of one process while it runs.
struct Character {
  double sm_active, tensor, read;  // shares of the GPU; units a nanosecond
  double watts;
};

/// A GPU that runs one process at a time, with pauses, and a clock of each process's turns.
struct World {
  test::CaptureBuilder builder;
  std::vector<Character> characters;
  std::vector<double> read, sm_time, joules;  // by process: what was really its own
  double idle_joules = 0;
  Nanos length = 0;

  void sample(const char* metric, Nanos start, Nanos duration, double value) {
    auto& samples = builder.capture.counter_samples;
    const auto row = samples.add();
    samples.start_ns[row] = start;
    samples.duration_ns[row] = duration;
    samples.device[row] = builder.capture.device_row(0);
    samples.metric[row] = builder.capture.strings.intern(metric);
    samples.value[row] = value;
  }
};

/// `crossing`: kernels of the others are in flight while one runs, as when a driver shares by time.
World random_world(std::mt19937_64& random, bool crossing, Nanos milliseconds = 600) {
  World world;
  const std::size_t count = 2 + random() % 3;
  for (std::size_t i = 0; i < count; ++i) {
    const double sm_active = 0.1 + 0.9 * static_cast<double>(random() % 100) / 100;
    world.characters.push_back({sm_active, sm_active * static_cast<double>(random() % 100) / 100,
                                static_cast<double>(random() % 4000),
                                100 + static_cast<double>(random() % 500)});
  }
  world.read.assign(count, 0);
  world.sm_time.assign(count, 0);
  world.joules.assign(count, 0);
  constexpr Nanos kSample = kNsPerMs;
  world.length = milliseconds * kSample;
  struct Sums {
    double busy = 0, sm_active = 0, tensor = 0, read = 0, joules = 0;
  };
  std::vector<Sums> samples(static_cast<std::size_t>(world.length / kSample) + 40);
  for (Nanos at = 0; at < world.length;) {
    const Nanos turn = static_cast<Nanos>(1 + random() % 3000) * kNsPerUs;
    const std::size_t who = random() % (count + 1);
    const Nanos end = std::min(at + turn, world.length);
    if (who < count) {
      Nanos late = end;
      if (crossing && random() % 2) late += static_cast<Nanos>(random() % 2000) * kNsPerUs;
      const auto row = world.builder.kernel("work", at, std::min(late, world.length));
      world.builder.capture.activities.pid[row] = kFirstPid + static_cast<std::int64_t>(who);
    }
    for (Nanos now = at; now < end;) {
      const Nanos until = std::min(end, (now / kSample + 1) * kSample);
      const auto inside = static_cast<double>(until - now);
      auto& sums = samples[static_cast<std::size_t>(now / kSample)];
      if (who < count) {
        const auto& is = world.characters[who];
        sums.busy += inside;
        sums.sm_active += inside * is.sm_active;
        sums.tensor += inside * is.tensor;
        sums.read += inside * is.read;
        sums.joules += inside * (kIdleWatts + is.watts) * 1e-9;
        world.sm_time[who] += inside * is.sm_active;
        world.read[who] += inside * is.read;
        world.joules[who] += inside * (kIdleWatts + is.watts) * 1e-9;
      } else {
        sums.joules += inside * kIdleWatts * 1e-9;
        world.idle_joules += inside * kIdleWatts * 1e-9;
      }
      now = until;
    }
    at = end;
  }
  double joules = 0;
  for (Nanos at = -400 * kSample; at <= world.length + 300 * kSample; at += kSample) {
    Sums sums;
    if (at >= 0 && at < world.length) {
      sums = samples[static_cast<std::size_t>(at / kSample)];
    } else {
      sums.joules = kIdleWatts * 1e-3;
    }
    const auto whole = static_cast<double>(kSample);
    world.sample("gpu.busy", at, kSample, sums.busy / whole);
    world.sample("sm.active", at, kSample, sums.sm_active / whole);
    world.sample("tensor.active", at, kSample, sums.tensor / whole);
    world.sample("dram.read", at, kSample, sums.read);
    if (at % (10 * kSample) == 0) {
      world.sample("energy.module", at, 0, joules);
      world.sample("power.module", at, 0, sums.joules * 1e3);
    }
    joules += sums.joules;
  }
  return world;
}

DeviceTimeline timeline_of(const World& world) {
  WindowInfo window;
  window.kind = WindowKind::range;
  window.start_ns = 0;
  window.end_ns = world.length;
  window.duration_ns = world.length;
  return build_timelines(world.builder.capture, window).front();
}

RC_GTEST_PROP(Tenants, EveryNanosecondOfTheSpanIsSomebodys, (unsigned seed)) {
  std::mt19937_64 random(seed);
  const auto world = random_world(random, true);
  const auto presence = find_presence(world.builder.capture, timeline_of(world));
  if (presence.pids.size() < 2) return;
  Nanos at = 0;
  for (const auto& piece : presence.pieces) {
    RC_ASSERT(piece.span.start == at && piece.span.end > at);
    at = piece.span.end;
  }
  RC_ASSERT(at == world.length);
  // Against the activities themselves, at some moments.
  const auto& activities = world.builder.capture.activities;
  for (int tries = 0; tries < 50; ++tries) {
    const Nanos moment = static_cast<Nanos>(random() % static_cast<std::uint64_t>(world.length));
    std::uint64_t who = 0;
    for (std::size_t i = 0; i < activities.size(); ++i)
      if (activities.start_ns[i] <= moment &&
          moment < activities.start_ns[i] + activities.duration_ns[i])
        for (std::size_t process = 0; process < presence.pids.size(); ++process)
          if (presence.pids[process] == activities.pid[i]) who |= std::uint64_t{1} << process;
    for (const auto& piece : presence.pieces)
      if (piece.span.start <= moment && moment < piece.span.end) RC_ASSERT(piece.who == who);
  }
}

RC_GTEST_PROP(Tenants, PartsSumToTheAmountAndBoundsHoldTheTruth, (unsigned seed, bool crossing)) {
  std::mt19937_64 random(seed);
  const auto world = random_world(random, crossing);
  const auto presence = find_presence(world.builder.capture, timeline_of(world));
  if (presence.pids.size() < 2) return;
  Context context{world.builder.capture, {}};
  context.devices = {timeline_of(world)};
  Analysis analysis;
  const auto tenants = measure_tenants(context);
  RC_ASSERT(tenants.size() == 1);
  const auto& device = tenants.front();
  Nanos time = device.rest_ns;
  for (const auto& tenant : device.tenants) {
    RC_ASSERT(tenant.alone_ns <= tenant.share_ns && tenant.share_ns <= tenant.active_ns);
    time += tenant.share_ns;
  }
  RC_ASSERT(time == device.span_ns && device.span_ns == world.length);
  for (std::size_t metric = 0; metric < device.total.size(); ++metric) {
    double sum = device.rest[metric].value;
    for (const auto& tenant : device.tenants) {
      const auto& amount = tenant.amounts[metric];
      RC_ASSERT(amount.low <= amount.value * (1 + 1e-9) + 1e-12);
      RC_ASSERT(amount.value <= amount.high * (1 + 1e-9) + 1e-12);
      sum += amount.value;
    }
    RC_ASSERT(std::abs(sum - device.total[metric].value) <= 1e-9 * device.total[metric].value);
  }
  // The SM share is bounded by what an SM can do, so its truth lies within; joules sum exactly.
  for (std::size_t process = 0; process < device.tenants.size(); ++process) {
    const auto& tenant = device.tenants[process];
    const auto who = static_cast<std::size_t>(tenant.pid - kFirstPid);
    for (const auto& amount : tenant.amounts)
      if (amount.id == "sm.active") {
        const double truth = world.sm_time[who] / static_cast<double>(device.sampled_ns);
        RC_ASSERT(amount.low <= truth * 1.02 + 0.01);
        RC_ASSERT(truth <= amount.high * 1.02 + 0.01);
      }
  }
  RC_ASSERT(device.nj.has_value());
  std::int64_t joules = *device.rest_nj;
  for (const auto& tenant : device.tenants) {
    RC_ASSERT(*tenant.low_nj <= *tenant.nj && *tenant.nj <= *tenant.high_nj);
    joules += *tenant.nj;
  }
  RC_ASSERT(joules == *device.nj);
}

RC_GTEST_PROP(Tenants, JoulesLieBetweenTheirBounds, (unsigned seed)) {
  std::mt19937_64 random(seed);
  const auto world = random_world(random, false, random() % 2 ? 600 : 1500);
  const auto presence = find_presence(world.builder.capture, timeline_of(world));
  if (presence.pids.size() < 2) return;
  constexpr std::uint32_t device = 0;  // the only row
  const auto samples = tenant_samples(world.builder.capture, device, presence.known);
  const auto energy = split_energy(world.builder.capture, device, presence, samples);
  RC_ASSERT(energy.known);
  double sum = energy.rest;
  for (std::size_t process = 0; process < presence.pids.size(); ++process) {
    const auto who = static_cast<std::size_t>(presence.pids[process] - kFirstPid);
    const auto& part = energy.parts[process];
    const double slack = 0.05 * static_cast<double>(energy.total_nj) * 1e-9;
    RC_ASSERT(part.low <= world.joules[who] + slack);
    RC_ASSERT(world.joules[who] <= part.high + slack);
    sum += part.value;
  }
  RC_ASSERT(std::abs(sum - static_cast<double>(energy.total_nj) * 1e-9) <= 1e-3 * sum);
}

TEST(Tenants, WhatOnlyOneDidIsItsOwn) {
  PresenceShare share{1000, 400, {400, 0}, {0, 0}, {400, 0}};
  const auto split = split_amount(share, 0.3 * 1000, 1);
  EXPECT_DOUBLE_EQ(split.parts[0].low, 300);
  EXPECT_DOUBLE_EQ(split.parts[0].value, 300);
  EXPECT_DOUBLE_EQ(split.parts[0].high, 300);
  EXPECT_DOUBLE_EQ(split.parts[1].high, 0);
}

TEST(Tenants, TimeTogetherIsSplitEvenlyBetweenWideBounds) {
  PresenceShare share{1000, 1000, {400, 0}, {600, 600}, {700, 300}};
  const auto split = split_amount(share, 0.5 * 1000, 1);
  EXPECT_DOUBLE_EQ(split.parts[0].value, 350);
  EXPECT_DOUBLE_EQ(split.parts[1].value, 150);
  EXPECT_DOUBLE_EQ(split.parts[1].low, 0);
  EXPECT_DOUBLE_EQ(split.parts[1].high, 500);
}

TEST(Tenants, WhatRanWhileNobodyWasRecordedIsNobodys) {
  PresenceShare share{1000, 0, {0, 0}, {0, 0}, {0, 0}};
  const auto split = split_amount(share, 12, 1);
  EXPECT_DOUBLE_EQ(split.rest.value, 12);
  EXPECT_DOUBLE_EQ(split.parts[0].high + split.parts[1].high, 0);
}

}  // namespace
}  // namespace gf
