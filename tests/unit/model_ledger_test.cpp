// The laws of laws.def: what breaks each is told, and beyond its bound makes the answer partial.
#include <gtest/gtest.h>

#include "analyze/analyze.h"
#include "model/file.h"
#include "model/ledger/laws.h"
#include "model/ledger/ledger.h"
#include "support/capture_builder.h"
#include "support/files.h"
#include "support/folded.h"
#include "support/report_view.h"

namespace gf {
namespace {

constexpr Nanos kMs = 1'000'000;

/// Steps of one launch each, a millisecond apart, whose kernels run for 100 us, 10 us behind.
struct Steps : test::CaptureBuilder {
  explicit Steps(int count = 200) {
    for (int i = 0; i < count; ++i) {
      const Nanos at = i * kMs;
      launch("gemm_" + std::to_string(i % 4), {at, at + 5'000}, {at + 10'000, at + 110'000 + i});
    }
  }
  std::map<std::string, long> told() {
    check_evidence(capture);
    return test::quality_of(capture);
  }
  void drop(std::uint32_t row) {
    capture.activities.correlation[row] = -1;
    capture.activities.start_ns[row] = -kMs;
    capture.activities.duration_ns[row] = 1'000;
  }
};
using Told = std::map<std::string, long>;

TEST(Ledger, ASoundCaptureHasNothingToTell) { EXPECT_EQ(Steps().told(), Told{}); }

TEST(Ledger, WhatRunsPastAWaitForTheDevice) {
  const auto told = [](Nanos later) {
    Steps steps;
    for (auto& start : steps.capture.activities.start_ns) start += later;
    for (int i = 0; i < 200; i += 10)
      steps.call(ApiKind::sync, "cudaDeviceSynchronize", i * kMs + 6'000, i * kMs + 120'000);
    return steps.told();
  };
  EXPECT_EQ(told(0), Told{});
  EXPECT_EQ(told(700'000), (Told{{"runs_past_wait", 20}})) << "of 191 with a wait behind them";
}

TEST(Ledger, ReadingLeavesColumnsFolded) {
  Steps steps;
  auto& capture = steps.capture;
  capture.program_ops.add();
  auto& activities = capture.activities;
  for (auto& start : activities.start_ns) start += 3'600'000 * kMs;  // late
  const auto fold = [&](auto& column, auto value) {
    column = {};
    column.resize(capture.activities.size(), value);
  };
  fold(activities.duration_ns, Nanos{100'000});
  fold(activities.device, std::uint32_t{0});
  fold(activities.stream, std::int64_t{7});
  fold(activities.kind, ActivityKind::kernel);
  EXPECT_EQ(steps.told()["late_kernels"], 200);
  EXPECT_EQ(test::unfolded_columns(capture),
            (std::vector<std::string>{"api_calls.duration_ns", "api_calls.thread", "api_calls.name",
                                      "api_calls.kind"}))
      << "those of the builder";
}

TEST(Ledger, ADeviceOfWhichEveryKernelIsLate) {
  const auto told = [](Nanos later, int since) {
    Steps steps;
    for (std::uint32_t row = static_cast<std::uint32_t>(since); row < 200; ++row)
      steps.capture.activities.start_ns[row] += later;
    return steps.told()["late_kernels"];
  };
  EXPECT_EQ(told(50 * kMs, 100), 100);
  EXPECT_EQ(told(3'600'000 * kMs, 0), 200);
  EXPECT_EQ(told(5 * kMs, 100), 0) << "a device may wait that long for another one";
}

TEST(Ledger, ADeepQueueIsNotLate) {
  test::CaptureBuilder b;
  for (int i = 0; i < 1'000; ++i)
    b.launch("gemm", {i * 10'000, i * 10'000 + 5'000}, {i * kMs + 10'000, (i + 1) * kMs + 10'000});
  check_evidence(b.capture);
  EXPECT_EQ(test::quality_of(b.capture), Told{});
}

TEST(Ledger, LostTimeIsBoundedByTheNeighboursOfItsStream) {
  Steps steps;
  steps.drop(50);
  EXPECT_EQ(steps.told(), (Told{{"no_kernel", 1}})) << "it may have run for a millisecond of 20";
  const auto& quality = steps.capture.quality;
  EXPECT_EQ(quality.time_ns[0], 51 * kMs + 10'000 - 50 * kMs)
      << "from its launch to the next kernel, longer than what was lost";
  const auto analysis = analyze(steps.capture, {});
  ASSERT_TRUE(analysis);
  const auto& busy = analysis->levels[0];
  EXPECT_GE(*busy.high, *busy.value + 1.0 / 202) << "a millisecond of the window";

  Steps many(20'000);
  many.drop(50);
  EXPECT_EQ(many.told(), (Told{{"few_without_kernel", 1}})) << "of two seconds of kernels";
}

TEST(Ledger, TheLastLaunchesOfACropHadNotRun) {
  Steps steps(40);
  const Nanos end = 40 * kMs;
  steps.call(ApiKind::launch, "cudaLaunchKernel", end, end + 5'000, 900'000);
  EXPECT_EQ(steps.told(), (Told{{"few_without_kernel", 1}}));
  Steps waited(40);
  waited.call(ApiKind::launch, "cudaLaunchKernel", end, end + 5'000, 900'000);
  waited.call(ApiKind::sync, "cudaDeviceSynchronize", end + 6'000, end + 90'000);
  EXPECT_EQ(waited.told(), (Told{{"no_kernel", 1}})) << "it had: something waited for it";
}

TEST(Ledger, CopiesWithoutTheirRecord) {
  Steps steps;
  for (int i = 0; i < 20; ++i)
    steps.call(ApiKind::memcpy, "cudaMemcpyAsync", i * kMs + 6'000, i * kMs + 7'000, 500'000 + i);
  EXPECT_EQ(steps.told()["no_copy"], 20);
}

TEST(Ledger, CopiesOfNoBytesHaveNoRecord) {
  const auto told = [](Nanos length, bool with_records) {
    Steps steps;
    for (int i = 0; i < 20; ++i) {
      const Nanos at = i * kMs + 6'000;
      steps.call(ApiKind::memcpy, "cuMemcpyDtoDAsync", at, at + length, 500'000 + i);
      if (!with_records) continue;
      steps.call(ApiKind::memcpy, "cuMemcpyDtoDAsync", at + 20'000, at + 30'000, 600'000 + i);
      steps.activity(ActivityKind::memcpy, "memcpy", at + 200'000, at + 201'000, 600'000 + i, 57);
    }
    return steps.told()["no_copy"];
  };
  EXPECT_EQ(told(800, true), 0) << "their calls return sooner than any that copied";
  EXPECT_EQ(told(12'000, true), 20) << "as long as those that copied: their records were lost";
  EXPECT_EQ(told(800, false), 20) << "none copied: nothing to tell them by";
}

TEST(Ledger, ALaunchOfSeveralKernels) {
  Steps steps;
  for (std::uint32_t row = 0; row < 200; ++row)
    steps.activity(ActivityKind::kernel, "gemm", row * kMs + 10'001, row * kMs + 110'001,
                   steps.capture.activities.correlation[row], 57);
  EXPECT_EQ(steps.told(), (Told{{"repeated_kernel", 200}}));
  EXPECT_EQ(steps.told(), (Told{{"repeated_kernel", 200}})) << "a file that is read again";
}

TEST(Ledger, KernelsOfNoLengthOrOfOne) {
  Steps none;
  for (std::uint32_t row = 0; row < 200; row += 2) none.capture.activities.duration_ns[row] = 0;
  EXPECT_EQ(none.told(), (Told{{"short_kernels", 100}}));
  Steps rounded;
  for (std::uint32_t row = 0; row < 200; ++row)
    rounded.capture.activities.duration_ns[row] = row % 3 == 0 ? 0 : 1'000 * (1 + row % 7);
  EXPECT_EQ(rounded.told(), Told{}) << "whole microseconds";
  Steps set;
  for (std::uint32_t row = 0; row < 200; row += 2) set.capture.activities.duration_ns[row] = 10'000;
  for (std::uint32_t row = 0; row < 20; ++row) set.capture.activities.duration_ns[row] = 10'000;
  EXPECT_EQ(set.told()["lengths_alike"], 110);
  Steps clamped;
  for (std::uint32_t row = 190; row < 200; ++row)
    clamped.capture.activities.duration_ns[row] = 100'190;
  EXPECT_EQ(clamped.told(), (Told{{"lengths_alike", 10}}));
  Steps one_name;
  for (std::uint32_t row = 0; row < 200; row += 4)
    one_name.capture.activities.duration_ns[row] = 200'000;
  EXPECT_EQ(one_name.told(), Told{}) << "a kernel may take the same time again and again";
}

TEST(Ledger, AContextOnTwoDevices) {
  Steps steps;
  for (std::uint32_t row = 0; row < 200; ++row) steps.capture.activities.context[row] = 1;
  EXPECT_EQ(steps.told(), Told{});
  const auto second = steps.capture.device_row(1);
  for (std::uint32_t row = 150; row < 200; ++row) steps.capture.activities.device[row] = second;
  EXPECT_EQ(steps.told()["devices_mixed"], 50);
}

TEST(Ledger, AnOperationOfAProgramThatNeverRuns) {
  Steps steps;
  auto& capture = steps.capture;
  const auto add = [&](std::int64_t program, std::string_view name) {
    const auto row = capture.program_ops.add();
    capture.program_ops.program[row] = program;
    capture.program_ops.name[row] = capture.strings.intern(name);
  };
  for (const auto* name : {"fusion", "fusion.1", "gemm"}) add(7, name);
  add(8, "not_run");
  for (std::uint32_t row = 0; row < 200; ++row) capture.activities.program_op[row] = row % 2;
  EXPECT_EQ(steps.told(), (Told{{"ops_missing", 1}}));
  EXPECT_NE(capture.text(capture.quality.detail[0]).find("gemm"), std::string_view::npos);
}

TEST(Ledger, AnOverrunIsToldWithBothReadings) {
  Steps steps;
  steps.capture.activities.duration_ns[100] = 60 * kMs;
  EXPECT_EQ(steps.told(), (Told{{"stream_overlap", 59}}));
  const auto& quality = steps.capture.quality;
  EXPECT_EQ(quality.time_ns[0], 60 * kMs - kMs) << "past the begin of the next one";
  EXPECT_NE(steps.capture.text(quality.detail[0]).find("as recorded"), std::string_view::npos);
  const auto analysis = analyze(steps.capture, {});
  ASSERT_TRUE(analysis);
  EXPECT_LT(*analysis->levels[0].low, 0.12) << "100 us of each millisecond";
  EXPECT_GT(*analysis->levels[0].high, 0.35);
}

TEST(Ledger, NumbersOfCallsRiseWithoutAHole) {
  Steps back;
  for (std::uint32_t row = 100; row < 200; ++row) {
    back.capture.api_calls.start_ns[row] -= 160 * kMs;
    back.capture.activities.start_ns[row] -= 160 * kMs;
  }
  EXPECT_GT(back.told()["numbers_fall"], 0);
  const auto with_hole = [](int names) {
    Steps steps;
    auto& capture = steps.capture;
    for (std::uint32_t row = 100; row < 200; ++row) {
      capture.api_calls.correlation[row] += 150;
      capture.activities.correlation[row] += 150;
    }
    for (int i = 0; i < 100 && names > 0; ++i) {
      const Nanos at = capture.api_calls.start_ns[99] + 1 + i;
      steps.op("operation " + std::to_string(i % names), at, at + 1);
    }
    return steps;
  };
  Steps hole = with_hole(0);
  EXPECT_EQ(hole.told(), (Told{{"calls_missing", 150}}));
  EXPECT_TRUE(breaks_a_law("calls_missing"));
  const auto unknown = analyze(hole.capture, {});
  ASSERT_TRUE(unknown);
  EXPECT_EQ(*unknown->levels[0].high, 1) << "what they launched may have run at any time";
  EXPECT_EQ(with_hole(50).told(), (Told{{"calls_missing", 150}}));
  EXPECT_EQ(with_hole(3).told(), Told{}) << "a loop over views: its calls are not recorded";
  Steps again;
  for (std::uint32_t row = 0; row < 50; ++row)
    again.call(ApiKind::launch, "cudaLaunchKernel", again.capture.api_calls.start_ns[row] + 1,
               again.capture.api_calls.start_ns[row] + 5'000,
               again.capture.api_calls.correlation[row]);
  EXPECT_EQ(again.told()["repeated_call"], 50);
}

TEST(Ledger, AMissingMarkAndNothingThatJoins) {
  Steps steps;
  for (const int number : {3, 4, 6, 7})
    steps.mark("ProfilerStep#" + std::to_string(number), number * kMs, (number + 1) * kMs);
  EXPECT_EQ(steps.told(), (Told{{"marks_missing", 1}}));
  Steps apart;
  for (auto& number : apart.capture.activities.correlation) number = -1;
  EXPECT_EQ(apart.told(), (Told{{"not_joined", 200}}));
}

TEST(Ledger, AFileThatLostItsSeal) {
  const test::TemporaryFolder dir;
  Steps steps;
  ASSERT_TRUE(write_capture(steps.capture, dir.path() + "/a.gpf"));
  const auto told = [&](const char* change) {
    {
      auto db = sqlite::open(dir.path() + "/a.gpf", SQLITE_OPEN_READWRITE);
      EXPECT_TRUE(sqlite::execute(db->get(), change, {}));
    }
    const auto read = read_capture(dir.path() + "/a.gpf");
    EXPECT_TRUE(read);
    return test::quality_of(*read);
  };
  EXPECT_EQ(told(""), Told{});
  EXPECT_EQ(told("DROP TABLE seal"), (Told{{"changed_file", 1}}));
}

TEST(Ledger, BlocksOfSamplesWithAHole) {
  test::CaptureBuilder b;
  const auto device = b.capture.device_row(0);
  for (int i = 0; i < 20; ++i) {
    if (i == 7) continue;
    SampleBlock block;
    block.device = device;
    block.metrics.push_back(b.capture.strings.intern("sm.active"));
    for (int sample = 0; sample < 100; ++sample) {
      block.start_ns.push_back((i * 100 + sample) * kMs);
      block.end_ns.push_back((i * 100 + sample + 1) * kMs);
      block.values.push_back(0.5F);
    }
    b.capture.sample_blocks.push_back(pack(block));
  }
  check_evidence(b.capture);
  EXPECT_EQ(test::quality_of(b.capture), (Told{{"lost_samples", 100}}));
}

TEST(Ledger, ACounterOfEnergyThatStandsStill) {
  test::CaptureBuilder b;
  const auto device = b.capture.device_row(0);
  const auto metric = b.capture.strings.intern("energy.module");
  for (int i = 0; i < 200; ++i) {
    const auto row = b.capture.counter_samples.add();
    b.capture.counter_samples.device[row] = device;
    b.capture.counter_samples.metric[row] = metric;
    b.capture.counter_samples.start_ns[row] = i * 100 * kMs;
    b.capture.counter_samples.value[row] = 30.0 * std::min(i, 100);
  }
  check_evidence(b.capture);
  EXPECT_EQ(test::quality_of(b.capture)["implausible_reading"], 1);
}

TEST(Ledger, BoundsAreThoseOfTheirRow) {
  EXPECT_FALSE(beyond_bound(Law::launch_has_kernel, {.count = 1, .of = 100}));
  EXPECT_TRUE(beyond_bound(Law::launch_has_kernel, {.count = 2, .of = 100}));
  EXPECT_FALSE(beyond_bound(Law::launch_has_kernel, {.count = 9, .of = 100, .excused = 8}));
  EXPECT_TRUE(beyond_bound(Law::launch_has_kernel,
                           {.count = 1, .of = 1'000, .time = 11, .of_time = 1'000}));
  EXPECT_TRUE(breaks_a_law("no_kernel"));
  EXPECT_FALSE(breaks_a_law("lengths_alike")) << "a doubt withholds nothing";
}

}  // namespace
}  // namespace gf
