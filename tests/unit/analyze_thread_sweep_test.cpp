// Questions about a thread in any order have the answers of a sweep in order of time.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analyze/attribution/attribution.h"
#include "analyze/runtime/shares.h"
#include "analyze/thread_sweep.h"
#include "model/launches.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

using test::CaptureBuilder;

struct Questioned {
  explicit Questioned(const Capture& capture) : host(capture), names(capture) {}
  HostThreads host;
  Names names;
};

bool same(const ThreadState& left, const ThreadState& right) {
  return left.op == right.op && left.named == right.named && left.python == right.python &&
         left.span == right.span && left.call == right.call && left.roles == right.roles;
}

/// Spans that nest, or where `damaged` some that do not; some have no duration.
Capture random_host(std::mt19937& random, bool damaged) {
  CaptureBuilder builder;
  auto below = [&](int most) { return static_cast<Nanos>(random() % static_cast<unsigned>(most)); };
  std::vector<Interval> around{{0, 100'000}};
  for (int i = 0; i < 600; ++i) {
    const Interval outer = around[random() % around.size()];
    if (outer.length() < 4) continue;
    const Nanos start = outer.start + 1 + below(static_cast<int>(outer.length() - 2));
    const Nanos end = start + below(static_cast<int>(outer.end - start));
    const bool free = std::all_of(around.begin() + 1, around.end(), [&](const Interval& span) {
      return end <= span.start || start >= span.end || (start >= span.start && end <= span.end) ||
             (start <= span.start && end >= span.end);
    });
    if (!free && !(damaged && i % 4 == 0)) continue;
    around.push_back({start, end});
    if (i % 3 == 0)
      builder.call(ApiKind::sync, "cudaStreamSynchronize", start, end, i);
    else if (i % 3 == 1)
      builder.op("aten::mm", start, end);
    else
      builder.python("train.py(1): step", start, end);
  }
  return std::move(builder.capture);
}

TEST(ThreadSweep, QuestionsInAnyOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const Capture capture = random_host(random, round % 2 == 1);
    const Questioned asked(capture);
    std::map<Nanos, ThreadState> expected;
    ThreadSweep forward(capture, asked.host, asked.names, 0);
    for (Nanos time = 0; time < 100'000; time += 50) expected[time] = forward.at(time);
    for (Nanos time = 0; time < 100'000; time += 1'250) {
      ThreadSweep late(capture, asked.host, asked.names, 0);
      ASSERT_TRUE(same(late.at(time), expected[time])) << "asked first at " << time;
    }
    ThreadSweep jumping(capture, asked.host, asked.names, 0);
    for (int question = 0; question < 2'000; ++question) {
      const Nanos time = static_cast<Nanos>(random() % 2'000) * 50;
      ASSERT_TRUE(same(jumping.at(time), expected[time])) << "at " << time;
    }
    Nanos sum = 0;
    jumping.each_state(10'000, 30'000, [&](Nanos from, Nanos to, const ThreadState& state) {
      sum += to - from;
      if (from % 50 == 0) {
        EXPECT_TRUE(same(state, expected[from]));
      }
    });
    EXPECT_EQ(sum, 20'000);
  }
}

TEST(ThreadSweep, WhatGoesOnStaysInItsOperationAndIsNamedWithoutIt) {
  CaptureBuilder builder;
  const auto outer = builder.python("train.py(1): <module>", 0, 100'000);
  const auto product = builder.op("aten::mm", 1'000, 9'000);
  const auto frame = builder.python("<built-in method mm>", 2'000, 20'000);
  builder.python("<built-in method enter>", 30'000, 33'000);
  builder.mark("ProfilerStep#1", 31'000, 60'000);
  const Questioned asked(builder.capture);
  ThreadSweep sweep(builder.capture, asked.host, asked.names, 0);
  EXPECT_EQ(sweep.at(15'000).op, product);
  EXPECT_EQ(sweep.at(15'000).named, frame);
  EXPECT_EQ(sweep.at(40'000).named, outer);
  EXPECT_EQ(sweep.at(40'000).python, outer);
}

TEST(PhaseSums, LongSpansAreSummedAsTheirParts) {
  std::mt19937 random(11);
  PhaseSets sets;
  std::array<Intervals, 3> spans;
  for (std::size_t phase = 0; phase < spans.size(); ++phase) {
    for (Nanos at = 0; at < 60'000; at += 1 + static_cast<Nanos>(random() % 9))
      spans[phase].push_back({at, at + 1 + static_cast<Nanos>(random() % 4)});
    spans[phase] = normalised(std::move(spans[phase]));
    sets[phase].push_back(spans[phase]);
  }
  const Interval window{100, 59'000};
  const auto timeline = overlay(sets, window);
  ASSERT_GT(timeline.length_ns.size(), 13'000u);  // several of the blocks that are summed up
  for (int round = 0; round < 50; ++round) {
    const Nanos from = 100 + static_cast<Nanos>(random() % 50'000),
                to = from + 1 + static_cast<Nanos>(random() % static_cast<unsigned>(59'000 - from));
    PhaseSums expected{};
    for (Nanos time = from; time < to; ++time) {
      PhaseMask mask = 0;
      for (std::size_t phase = 0; phase < spans.size(); ++phase) {
        const auto at = std::partition_point(spans[phase].begin(), spans[phase].end(),
                                             [&](const Interval& i) { return i.end <= time; });
        if (at != spans[phase].end() && at->start <= time)
          mask = static_cast<PhaseMask>(mask | 1u << phase);
      }
      ++expected[mask];
    }
    ASSERT_EQ(sum_phases(timeline, {{from, to}}), expected) << from << " to " << to;
    const Nanos cut = from + (to - from) / 3;
    if (cut > from + 1 && cut + 1 < to) {
      PhaseSums parts = sum_phases(timeline, {{from, cut}, {cut + 1, to}});
      const PhaseSums between = sum_phases(timeline, {{cut, cut + 1}});
      for (std::size_t mask = 0; mask < parts.size(); ++mask) parts[mask] += between[mask];
      ASSERT_EQ(parts, expected);
    }
  }
}

/// Backward operations without arrows find their forward operation when one thread alone has its
/// number, whether there are few threads or many.
TEST(ForwardThreads, ANumberThatOneThreadHasIsFound) {
  for (const int threads : {3, 40}) {
    CaptureBuilder builder;
    auto& ops = builder.capture.host_ops;
    std::vector<std::uint32_t> forward, kernels;
    for (int i = 0; i < threads; ++i) {
      forward.push_back(builder.op("aten::mm", 10 + i, 11 + i, 200 + i));
      ops.sequence[forward.back()] = i;
    }
    const auto twin = builder.op("aten::mm", 200, 201, 200 + threads);
    ops.sequence[twin] = 1;  // a second thread with the number 1
    for (int i = 0; i < threads; ++i) {
      const Nanos at = 1000 + 100 * i;
      const auto row =
          builder.op("autograd::engine::evaluate_function: MmBackward0", at, at + 60, 999);
      ops.sequence[row] = i;
      ops.forward_thread[row] = 1;
      builder.launch("gemm", {at + 10, at + 20}, {at + 30, at + 40}, 7, 0, 999);
      kernels.push_back(static_cast<std::uint32_t>(builder.capture.activities.size() - 1));
    }
    const Attribution attribution =
        attribute(builder.capture, HostThreads(builder.capture), Names(builder.capture),
                  join_launches(builder.capture));
    for (int i = 0; i < threads; ++i) {
      const auto found = attribution.forward_op[kernels[static_cast<std::size_t>(i)]];
      EXPECT_EQ(found, i == 1 ? kNoRow : forward[static_cast<std::size_t>(i)]) << threads;
    }
  }
}

}  // namespace
}  // namespace gf
