// Samples laid over kernels by what the kernels do to the counters, on a GPU that never pauses and
// was as busy before its kernels were recorded and after.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analyze/kernel_rates/align_samples.h"
#include "analyze/kernel_rates/kernel_rates.h"

namespace gf {
namespace {

constexpr Nanos kInterval = 200'000, kBegin = 1'000'000'000;
constexpr Interval kWindow{kBegin + 300 * kNsPerMs, kBegin + 900 * kNsPerMs};
constexpr Nanos kEnd = kBegin + 1200 * kNsPerMs;

struct Run {
  Interval span;
  int kernel;
};

/// Kernels back to back, in steps of 2 to 3 ms whose kernels take a few per cent more or less.
std::vector<Run> busy_runs(double variation, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<Run> runs;
  for (Nanos time = kBegin; time < kEnd;)
    for (int kernel = 0; kernel < 24; ++kernel) {
      const double length = 40e3 + 7e3 * ((kernel * 7) % 24);
      const auto ns = static_cast<Nanos>(length * (1 + variation * normal(random)));
      runs.push_back({{time, time + std::max<Nanos>(ns, 2000)}, kernel});
      time = runs.back().span.end;
    }
  return runs;
}

double rate_of(int kernel) { return 0.05 + 0.9 * ((kernel * 11) % 24) / 24.0; }

void add_value(Capture& capture, std::uint32_t device, const char* metric, Interval span,
               double value) {
  const auto row = capture.counter_samples.add();
  capture.counter_samples.start_ns[row] = span.start;
  capture.counter_samples.duration_ns[row] = span.length();
  capture.counter_samples.device[row] = device;
  capture.counter_samples.metric[row] = capture.strings.intern(metric);
  capture.counter_samples.value[row] = value;
}

/// `late(at)`: how far behind the kernels' clock the one of samples is. Each sample carries its
/// true start in ms as `dram.read`, a count a nanosecond.
template <class Late>
Capture busy_capture(const std::vector<Run>& runs, Late late) {
  Capture capture;
  const auto device = capture.device_row(0);
  const auto window = capture.recording_windows.add();
  capture.recording_windows.start_ns[window] = kWindow.start;
  capture.recording_windows.duration_ns[window] = kWindow.length();
  for (const auto& run : runs) {
    if (run.span.start < kWindow.start || run.span.end > kWindow.end) continue;
    const auto row = capture.activities.add();
    capture.activities.start_ns[row] = run.span.start;
    capture.activities.duration_ns[row] = run.span.length();
    capture.activities.device[row] = device;
    capture.activities.name[row] = capture.strings.intern("kernel_" + std::to_string(run.kernel));
  }
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 0.003);
  std::size_t first = 0;
  for (Nanos from = kBegin; from + kInterval < kEnd; from += kInterval) {
    while (runs[first].span.end <= from) ++first;
    double value = 0;
    for (std::size_t i = first; i < runs.size() && runs[i].span.start < from + kInterval; ++i)
      value += rate_of(runs[i].kernel) *
               static_cast<double>(std::min(runs[i].span.end, from + kInterval) -
                                   std::max(runs[i].span.start, from)) /
               kInterval;
    const Nanos behind = late(from);
    const Interval span{from - behind, from + kInterval - behind};
    add_value(capture, device, "gpu.busy", span, 1);
    add_value(capture, device, "sm.active_any", span, value + normal(random));
    add_value(capture, device, "dram.read", span, static_cast<double>(from) / kNsPerMs * kInterval);
  }
  return capture;
}

TEST(AlignSamples, AGpuThatNeverPauses) {
  for (const Nanos shift : {-9'713'000, 1'300'000, 12'345'678}) {
    const Capture capture = busy_capture(busy_runs(0.03, 5), [&](Nanos) { return shift; });
    const auto solved = solve_kernel_rates(capture, 0);
    ASSERT_EQ(solved.alignment.verdict, ShiftVerdict::found) << shift;
    EXPECT_NEAR(static_cast<double>(solved.shift_ns), static_cast<double>(shift), 5000);
    EXPECT_GT(solved.alignment.certainty, 5);
    EXPECT_GT(solved.alignment.rival_error, 3 * solved.alignment.error);
    ASSERT_EQ(solved.groups.size(), 24u);
    for (std::size_t group = 0; group < solved.groups.size(); ++group) {
      const auto name = capture.text(capture.activities.name[solved.groups[group].first]);
      EXPECT_NEAR(solved.rates[0][group].value, rate_of(std::stoi(std::string(name.substr(7)))),
                  0.03);
    }
  }
}

TEST(AlignSamples, WhatASetDoesIsNotGivenToItsNeighbours) {
  Capture capture = busy_capture(busy_runs(0.03, 5), [](Nanos) { return 700'000; });
  for (std::size_t row = 0; row < capture.activities.size(); ++row)
    if (capture.text(capture.activities.name[row]) == "kernel_5")
      capture.activities.kind[row] = ActivityKind::memset;
  const auto solved = solve_kernel_rates(capture, 0);
  ASSERT_EQ(solved.groups.size(), 23u);
  ASSERT_FALSE(solved.metrics.empty());
  for (std::size_t group = 0; group < solved.groups.size(); ++group) {
    const auto name = capture.text(capture.activities.name[solved.groups[group].first]);
    EXPECT_NEAR(solved.rates[0][group].value, rate_of(std::stoi(std::string(name.substr(7)))), 0.03)
        << name;
  }
}

TEST(AlignSamples, StepsThatRepeatToTheNanosecondAreRefused) {
  Capture capture = busy_capture(busy_runs(0, 5), [](Nanos) { return 2'000'000; });
  const auto solved = solve_kernel_rates(capture, 0);
  EXPECT_EQ(solved.alignment.verdict, ShiftVerdict::ambiguous);
  EXPECT_TRUE(solved.metrics.empty());
  EXPECT_TRUE(add_solved_counters(capture).empty());
  ASSERT_EQ(capture.quality.size(), 1u);
  EXPECT_EQ(capture.quality.code[0], capture.strings.find(name_of(QualityCode::samples_not_laid)));
}

TEST(AlignSamples, LevelsThatNeverChangeAreRefused) {
  auto runs = busy_runs(0.03, 5);
  for (auto& run : runs) run.kernel = 3;
  Capture capture = busy_capture(runs, [](Nanos) { return 2'000'000; });
  EXPECT_NE(solve_kernel_rates(capture, 0).alignment.verdict, ShiftVerdict::found);
}

TEST(AlignSamples, AClockThatStepsAndDrifts) {
  // The GPU's clock runs 100 ppm fast against the host's; the map between them is mended twice.
  const auto late = [](Nanos at) {
    Nanos behind = 9'960'000 + (at - kBegin) / 10'000;
    if (at > kWindow.start + 200 * kNsPerMs + 77'000) behind += 131'000;
    if (at > kWindow.start + 400 * kNsPerMs + 33'000) behind += 1'268'000;
    return behind;
  };
  const Capture capture = busy_capture(busy_runs(0.03, 9), late);
  const auto aligned = align_samples(capture, 0);
  ASSERT_EQ(aligned.found.verdict, ShiftVerdict::found);
  ASSERT_GT(aligned.rows.size(), 2900u);
  const auto read =
      std::find(aligned.metrics.begin(), aligned.metrics.end(), capture.strings.find("dram.read")) -
      aligned.metrics.begin();
  for (const auto& row : aligned.rows) {
    const double truth = row.values[static_cast<std::size_t>(read)] * kNsPerMs;
    EXPECT_NEAR(static_cast<double>(row.span.start), truth, 15'000);
    EXPECT_TRUE(row.span.start >= kWindow.start && row.span.end <= kWindow.end);
  }
}

}  // namespace
}  // namespace gf
