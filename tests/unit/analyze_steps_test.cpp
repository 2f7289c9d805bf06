#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyze/analyze.h"
#include "analyze/finding_ids.h"
#include "analyze/steps/steps.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

using test::CaptureBuilder;

TEST(StepNames, AreRecognised) {
  auto number = [](std::string_view name) {
    auto s = parse_step_name(name);
    return s ? s->number : std::nullopt;
  };
  EXPECT_EQ(number("ProfilerStep#12"), 12);
  EXPECT_EQ(number("train_step 3"), 3);
  EXPECT_EQ(number("Iteration: 7"), 7);
  EXPECT_EQ(number("step_num=41"), 41);
  EXPECT_EQ(number("train 5"), 5);
  EXPECT_TRUE(parse_step_name("train_step"));
  EXPECT_TRUE(parse_step_name("step[DECODE bs=8 toks=8]"));
  EXPECT_EQ(number("token_5"), 5);
  for (auto other : {"", "42", "Optimizer.step#SGD.step", "aten::conv2d", "batch 64", "layer 3",
                     "footstep 3", "nn.Module: Conv2d_1", "step 99999999999999999999"})
    EXPECT_FALSE(parse_step_name(other)) << other;
}

/// Two steps whose device work lags behind the marks, the second half launched by another thread.
CaptureBuilder lagging() {
  CaptureBuilder b;
  b.mark("ProfilerStep#5", 0, 100);
  b.mark("ProfilerStep#6", 100, 200);
  b.launch("a", {10, 20}, {30, 90});
  b.launch("b", {50, 60}, {90, 140}, 7, 0, 101);
  b.launch("a", {110, 120}, {150, 190});
  b.launch("b", {150, 160}, {200, 260}, 7, 0, 101);
  return b;
}

TEST(Steps, StartWithTheirMarksWhenTheDeviceIsFree) {
  const auto b = lagging();
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.step_source, "marks:ProfilerStep");
  ASSERT_EQ(a->window.all_steps.size(), 2u);
  EXPECT_EQ(a->window.all_steps[0].index, 5);
  EXPECT_EQ(a->window.all_steps[0].start_ns, 0);
  // The second mark begins at 100, and the device is busy with the first until 140.
  EXPECT_EQ(a->window.all_steps[0].duration_ns, 140);
  EXPECT_EQ(a->window.all_steps[1].start_ns, 140);
  EXPECT_EQ(a->window.all_steps[1].duration_ns, 120);  // to the end of its own last activity
  EXPECT_EQ(a->window.steps.size(), 2u);               // the whole capture holds both
}

TEST(Steps, OneMarkedStepCountsFromItsMarkToItsEnd) {
  CaptureBuilder b;
  b.launch("before", {-50, -40}, {-30, 5});  // the device is busy with older work for a while
  b.mark("ProfilerStep#3", 0, 200);
  b.op("aten::mm", 10, 60);
  b.launch("a", {50, 60}, {60, 160});
  const auto a = analyze(b.capture, {.window = "auto"});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.kind, WindowKind::steps);
  EXPECT_EQ(a->window.start_ns, 5);
  EXPECT_EQ(a->window.end_ns, 200);
  // One denominator: what lies before the first kernel is idle with a cause, in every section.
  EXPECT_EQ(a->devices[0].span_ns, 195);
  EXPECT_EQ(a->devices[0].busy_ns, 100);
  EXPECT_EQ(a->runtime.duration_ns, 195);
  ASSERT_FALSE(a->devices[0].idle.empty());
  Nanos launching = 0;
  for (const auto& cause : a->devices[0].idle)
    if (cause.cause == IdleReason::launch_bound) launching = cause.ns;
  EXPECT_EQ(launching, 50);
}

TEST(Steps, WorkLaunchedBeforeTheProfilerBeganIsOfNoStep) {
  CaptureBuilder b;
  b.mark("ProfilerStep#5", 0, 100);
  b.mark("ProfilerStep#6", 100, 200);
  b.kernel("earlier", -40, 60);  // the device is behind, and no call of these is in the capture
  b.kernel("earlier", 60, 300);
  b.kernel("earlier", 300, 400);
  b.launch("a", {10, 20}, {400, 500});
  b.launch("a", {110, 120}, {500, 610});
  b.kernel("no launch", 420, 460, 9);      // beside the first step's own: not earlier
  b.kernel("of another", 390, 480, 7, 1);  // on a device without work of the marks
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  ASSERT_EQ(a->window.all_steps.size(), 2u);
  EXPECT_EQ(a->window.all_steps[0].start_ns, 400);
  EXPECT_EQ(a->window.all_steps[0].duration_ns, 100);
  EXPECT_EQ(a->window.all_steps[1].start_ns, 500);
  EXPECT_EQ(a->window.all_steps[1].duration_ns, 110);
}

TEST(Steps, EarlierWorkThatEndsBeforeTheMarkLeavesItsWaitInTheStep) {
  CaptureBuilder b;
  b.mark("ProfilerStep#5", 0, 100);
  b.mark("ProfilerStep#6", 100, 200);
  b.kernel("earlier", -40, -10);
  b.launch("a", {10, 20}, {30, 90});
  b.launch("a", {110, 120}, {130, 190});
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  ASSERT_EQ(a->window.all_steps.size(), 2u);
  EXPECT_EQ(a->window.all_steps[0].start_ns, 0);
  EXPECT_EQ(a->window.all_steps[0].duration_ns, 100);
}

TEST(Steps, ACopyThatFetchesAheadBeginsNoStep) {
  CaptureBuilder b;
  b.mark("ProfilerStep#5", 0, 100);
  b.mark("ProfilerStep#6", 100, 200);
  b.launch("a", {10, 20}, {30, 150});
  // The second step's mark first fetches the batch of the third, beside the first one's kernels.
  b.copy(CopyKind::host_to_device, {102, 104}, {105, 130}, 20);
  b.launch("a", {110, 120}, {160, 290});
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  ASSERT_EQ(a->window.all_steps.size(), 2u);
  EXPECT_EQ(a->window.all_steps[1].start_ns, 150);
}

TEST(Window, TheDefaultIsStepsOrAllInOneSpan) {
  auto kind = [](const CaptureBuilder& b) {
    return analyze(b.capture, {.window = "auto"})->window.kind;
  };
  EXPECT_EQ(kind(lagging()), WindowKind::steps);
  CaptureBuilder b;
  b.kernel("a", 0, 100);
  EXPECT_EQ(kind(b), WindowKind::all);
  b.kernel("b", 300, 400, 7, 1);
  const auto a = analyze(b.capture, {.window = "auto"});
  ASSERT_EQ(a->devices.size(), 2u);
  for (const auto& device : a->devices) {  // one denominator for both
    EXPECT_EQ(device.span_ns, 400);
    EXPECT_EQ(device.idle_ns, 300);
  }
}

/// A recorder's steps, marked all through the run, of which two windows were recorded.
TEST(Steps, MarkedInARecordingCountWhereKernelsWereRecorded) {
  CaptureBuilder b;
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t at = 1000 + 100 * i;
    b.mark("gpufathom.step", at, at + 90);
    const auto row = b.capture.steps.add();
    b.capture.steps.index[row] = i;
    b.capture.steps.start_ns[row] = at;
    b.capture.steps.duration_ns[row] = 90;
    b.capture.steps.name[row] = b.capture.strings.intern("gpufathom.step");
    const bool recorded = (i >= 2 && i < 5) || i == 8;
    if (recorded) b.launch("a", {at + 10, at + 20}, {at + 40, at + 120});
  }
  for (const auto& [start, end] : {std::pair{1150, 1530}, {1790, 1900}}) {
    auto& windows = b.capture.recording_windows;
    const auto row = windows.add();
    windows.start_ns[row] = start;
    windows.duration_ns[row] = end - start;
    windows.pid[row] = b.pid;
  }
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.step_source, "marks:gpufathom.step");
  ASSERT_EQ(a->window.all_steps.size(), 4u);
  EXPECT_EQ(a->window.all_steps[0].index, 2);
  EXPECT_EQ(a->window.all_steps[0].start_ns, 1200);
  EXPECT_EQ(a->window.all_steps[2].start_ns, 1420);    // the device was busy until then
  EXPECT_EQ(a->window.all_steps[2].duration_ns, 100);  // no step lasts into the next window
  EXPECT_EQ(a->window.all_steps[3].start_ns, 1800);
}

TEST(Steps, RepeatedNestedAndForeignMarksDoNotCount) {
  auto b = lagging();
  b.mark("ProfilerStep#5", 5, 90);          // the same step again
  b.mark("ProfilerStep#6", 120, 150, 300);  // on another thread
  b.mark("train_step 9", 0, 200);
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.all_steps.size(), 2u);
}

/// Kernels of 10 every 20 from 0, launched as they start.
CaptureBuilder every_twenty(int kernels) {
  CaptureBuilder b;
  for (Nanos i = 0; i < kernels; ++i)
    b.launch("k", {i * 20, i * 20 + 2}, {i * 20 + 2, i * 20 + 12});
  return b;
}

TEST(Steps, NumbersThatArePoppedTogetherEndWhereTheNextBegins) {
  auto b = every_twenty(50);
  for (int i = 0; i < 10; ++i) b.mark("iteration" + std::to_string(10 + i), i * 100, 5'000);
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  ASSERT_EQ(a->window.all_steps.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(a->window.all_steps[i].index, static_cast<std::int64_t>(10 + i));
    EXPECT_NEAR(static_cast<double>(a->window.all_steps[i].duration_ns), 100, 20) << i;
  }
  // A part that is numbered like its step ends before it does.
  auto nested = every_twenty(50);
  nested.mark("step 1", 0, 500);
  nested.mark("step 2", 100, 200);
  nested.mark("step 3", 500, 1'000);
  const auto marks = find_marks(nested.capture);
  ASSERT_EQ(marks.marks.size(), 2u);
  EXPECT_EQ(marks.marks[1].number, 3);
}

TEST(Steps, WarmUpByNameIsNoStepWhereWorkFollows) {
  auto b = every_twenty(50);
  for (int i = 0; i < 5; ++i) b.mark("Warm-up Step " + std::to_string(i), i * 100, i * 100 + 100);
  EXPECT_TRUE(find_marks(b.capture).marks.empty());
  auto all = every_twenty(25);
  for (int i = 0; i < 5; ++i) all.mark("Warm-up Step " + std::to_string(i), i * 100, i * 100 + 100);
  EXPECT_EQ(find_marks(all.capture).marks.size(), 5u) << "nothing else ran";
}

/// Blocks of four kernels, 400 us each; the pause is before block `at`.
CaptureBuilder blocks_with_pause(int count, int at, Nanos pause) {
  CaptureBuilder b;
  Nanos t = 0;
  for (int block = 0; block < count; ++block) {
    if (block == at) t += pause;
    for (const char* name : {"a", "b", "c", "d"}) {
      b.launch(name, {t, t + 5'000}, {t + 10'000, t + 90'000});
      t += 100'000;
    }
  }
  return b;
}

TEST(Blocks, WhatComesBeforeThemOnceIsStartUp) {
  for (const int at : {0, 1}) {
    auto b = blocks_with_pause(9, at, 30'000'000);
    if (at == 0) b.launch("fill", {-500'000, -490'000}, {-480'000, -400'000});
    const auto a = analyze(b.capture, {.window = "all"});
    ASSERT_TRUE(a);
    ASSERT_TRUE(a->window.blocks.begin_ns) << at;
    const auto& idle = a->devices[0].idle;
    ASSERT_FALSE(idle.empty());
    EXPECT_EQ(idle[0].cause, IdleReason::start_up);
    EXPECT_GT(idle[0].ns, 29'000'000);
    for (const auto& finding : a->findings) EXPECT_NE(finding.id, FindingId::host_bound);
  }
  // In the middle it may come again.
  const auto middle = analyze(blocks_with_pause(9, 5, 30'000'000).capture, {.window = "all"});
  ASSERT_TRUE(middle);
  EXPECT_EQ(middle->devices[0].idle[0].cause, IdleReason::host_other);
}

/// Kernels of 100 us, one after the other, from `at` on; the end of the last one.
Nanos add_kernels(CaptureBuilder& b, Nanos at, const std::vector<const char*>& names) {
  for (const char* name : names) {
    b.launch(name, {at, at + 5'000}, {at + 10'000, at + 110'000});
    at += 120'000;
  }
  return at;
}

TEST(Loop, OfEqualKernelsLeavesOutWhatHappensOnce) {
  CaptureBuilder b;
  Nanos at = add_kernels(b, 0, {"load", "sort", "load"});
  const Nanos begin = at += 500'000'000;
  for (int i = 0; i < 300; ++i) at = add_kernels(b, at, {"relax", "swap"});
  const Nanos end = at;
  add_kernels(b, at + 200'000'000, {"check"});
  const auto a = analyze(b.capture, {.window = "auto"});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.kind, WindowKind::stable);
  EXPECT_TRUE(a->window.steps.empty()) << "two kernels may be half of a step";
  EXPECT_NEAR(static_cast<double>(a->window.start_ns), static_cast<double>(begin), 1e6);
  EXPECT_NEAR(static_cast<double>(a->window.end_ns), static_cast<double>(end), 1e6);
  // A framework that tells its operations would tell of steps.
  b.op("aten::add", 0, 10);
  EXPECT_EQ(analyze(b.capture, {.window = "auto"})->window.kind, WindowKind::all);
  EXPECT_FALSE(analyze(b.capture, {.window = "stable"}));
}

TEST(Loop, OfManyBlocksIsOneOfStepsHoweverLongTheStartUpTook) {
  for (const int count : {100, 300}) {
    CaptureBuilder b;
    Nanos at = add_kernels(b, 0, {"load", "sort"}) + 2'000'000'000;
    for (int i = 0; i < count; ++i) at = add_kernels(b, at, {"a", "b", "c", "d", "e"});
    const auto a = analyze(b.capture, {.window = "auto"});
    ASSERT_TRUE(a);
    EXPECT_EQ(a->window.all_steps.size(), count == 300 ? 300u : 0u) << "100 may be layers";
    EXPECT_EQ(a->window.kind, count == 300 ? WindowKind::steps : WindowKind::stable);
  }
}

TEST(Steps, OfGraphsWithoutAKernelOfTheirOwnAreTheirLaunches) {
  CaptureBuilder b;
  Nanos at = add_kernels(b, 0, {"load", "sort", "gemm", "load"});
  for (int i = 0; i < 20; ++i, at += 1'000'000) {
    const auto correlation = b.next_correlation++;
    b.call(ApiKind::graph_launch, "cudaGraphLaunch", at, at + 5'000, correlation);
    Nanos start = at + 10'000;
    for (int layer = 0; layer < 4; ++layer)
      for (const char* name : {"gemm", "norm"}) {
        const auto row = b.activity(ActivityKind::kernel, name, start, start + 50'000, correlation);
        b.capture.activities.graph_id[row] = 5;
        start += 60'000;
      }
  }
  const auto a = analyze(b.capture, {.window = "auto"});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.step_sign, "launches of one CUDA graph");
  EXPECT_EQ(a->window.all_steps.size(), 20u);
}

TEST(Steps, StartUpThatRunsAKernelOfTheStepIsNone) {
  CaptureBuilder b;
  Nanos at = 0;
  for (int i = 0; i < 4; ++i) at = add_kernels(b, at, {"sort", "sort", "fill"});
  for (int i = 0; i < 60; ++i)
    at = add_kernels(b, at, {"fill", "gather", "gemm", "loss", "multi_tensor_apply_kernel<Adam>"});
  const auto a = analyze(b.capture, {.window = "auto"});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.step_sign, "the optimizer");
  EXPECT_EQ(a->window.all_steps.size(), 60u);
}

TEST(Window, OfOneStep) {
  const auto b = lagging();
  const auto a = analyze(b.capture, {.window = "step:5"});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.kind, WindowKind::step);
  EXPECT_EQ(a->window.start_ns, 0);
  EXPECT_EQ(a->window.end_ns, 140);
  ASSERT_EQ(a->devices.size(), 1u);
  EXPECT_EQ(a->devices[0].busy_ns, 110);
  EXPECT_EQ(a->devices[0].idle_ns, 30);
  EXPECT_EQ(a->devices[0].kernels, 2);
}

TEST(Window, RangesAndUnits) {
  CaptureBuilder b;
  b.kernel("a", 1'000'000'000, 1'000'001'000);
  b.kernel("b", 1'000'002'000, 1'000'004'000);
  auto window = [&](const char* text) {
    const auto a = analyze(b.capture, {.window = text});
    return a ? std::pair(a->window.start_ns - 1'000'000'000, a->window.end_ns - 1'000'000'000)
             : std::pair<Nanos, Nanos>(-1, -1);
  };
  using P = std::pair<Nanos, Nanos>;
  EXPECT_EQ(window("all"), P(0, 4000));
  EXPECT_EQ(window("500:3000"), P(500, 3000));
  EXPECT_EQ(window("0.5us:3us"), P(500, 3000));
  EXPECT_EQ(window("0.001ms:0.0000025s"), P(1000, 2500));
  EXPECT_EQ(window(":1us"), P(0, 1000));
  EXPECT_EQ(window("1us:"), P(1000, 4000));
  EXPECT_EQ(window("1000000500:1000003000"), P(500, 3000));  // on the capture's own clock
}

TEST(Window, SaysWhatIsWrong) {
  const auto b = lagging();
  auto error = [&](const char* text) {
    const auto a = analyze(b.capture, {.window = text});
    return a ? std::string("no error") : a.error().message();
  };
  EXPECT_NE(error("step:7").find("steps: 5 6"), std::string::npos) << error("step:7");
  EXPECT_NE(error("step:x").find("no such step"), std::string::npos);
  EXPECT_NE(error("stable").find("no three consecutive steps"), std::string::npos);
  EXPECT_NE(error("9:3").find("empty"), std::string::npos);
  EXPECT_NE(error("5s:6s").find("no device activity"), std::string::npos);
  EXPECT_NE(error("1x:2").find("not a span"), std::string::npos);
  EXPECT_NE(error("later").find("not recognized"), std::string::npos);
  const auto empty = analyze(Capture{}, {});
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message().find("no GPU activity"), std::string::npos);
}

/// Bursts of equal kernels every 40 ms, each with an input of its own, sampled each millisecond
/// with a level for every burst.
std::string steps_of_bursts(bool sampled) {
  test::CaptureBuilder builder;
  auto& capture = builder.capture;
  constexpr int kBursts = 60;
  for (Nanos burst = 0; burst < kBursts; ++burst)
    for (Nanos i = 0; i < 300; ++i) {
      const Nanos start = burst * 40 * kNsPerMs + i * 60'000;
      builder.copy(CopyKind::host_to_device, {start - 8000, start - 7000},
                   {start - 6000, start - 2000});
      builder.kernel("cell", start, start + 50'000);
    }
  capture.device_row(0);
  auto& samples = capture.counter_samples;
  for (Nanos ms = 0; sampled && ms < kBursts * 40; ++ms) {
    const auto row = samples.add();
    samples.start_ns[row] = ms * kNsPerMs;
    samples.duration_ns[row] = kNsPerMs;
    samples.device[row] = 0;
    samples.metric[row] = capture.strings.intern("gpu.busy");
    samples.value[row] = ms % 40 < 18 ? 0.83 : 0.0;
  }
  return analyze(capture, {})->window.step_source;
}

TEST(Steps, OfOneKernelAreNoneWhereSamplesShowAPeriod) {
  EXPECT_EQ(steps_of_bursts(false), "period:1 kernels");
  EXPECT_EQ(steps_of_bursts(true), "none");
}

/// A code of what a second says of which samples show 95 % and kernels of so many contexts, one
/// after the other, 60 %; with so many SMs of 100 at work as sampled.
std::string work_without_kernels(int contexts, double sm_active, int blocks = 400) {
  test::CaptureBuilder builder;
  auto& capture = builder.capture;
  capture.devices.sm_count[capture.device_row(0)] = 100;
  auto& samples = capture.counter_samples;
  for (Nanos ms = 0; ms < 1000; ++ms) {
    const auto row = builder.kernel("k", ms * kNsPerMs, ms * kNsPerMs + 600'000);
    capture.activities.grid_x[row] = blocks;
    capture.activities.context[row] = 1 + ms % contexts;
    for (const auto& [id, value] :
         {std::pair("gpu.busy", 0.95), std::pair("sm.active_any", sm_active)}) {
      const auto sample = samples.add();
      samples.start_ns[sample] = ms * kNsPerMs;
      samples.duration_ns[sample] = kNsPerMs;
      samples.device[sample] = 0;
      samples.metric[sample] = capture.strings.intern(id);
      samples.value[sample] = value;
    }
  }
  const auto answer = analyze(capture, {});
  std::string codes;
  for (const auto& note : answer->quality)
    if (note.code.starts_with("work_") || note.code.starts_with("contexts_"))
      codes += note.code + " ";
  for (const auto& finding : answer->findings)
    if (finding.text.find("take turns") != std::string::npos) codes += "said ";
  return codes;
}

TEST(UnrecordedWork, IsNoneWhereRecordedContextsTakeTurns) {
  EXPECT_EQ(work_without_kernels(1, 0.5), "work_not_recorded ");
  EXPECT_EQ(work_without_kernels(2, 0.5), "contexts_take_turns said ");
  EXPECT_EQ(work_without_kernels(2, 0.8), "work_not_recorded ") << "SMs that no kernel explains";
  EXPECT_EQ(work_without_kernels(2, 0.5, 1), "work_not_recorded ") << "a block is on one SM";
  EXPECT_EQ(work_without_kernels(2, 0.3, 50), "contexts_take_turns said ") << "at 60 %, 50 of 100";
  EXPECT_EQ(work_without_kernels(2, 0.31, 50), "work_not_recorded ");
}

std::optional<std::size_t> first_stable_of(const std::vector<double>& durations) {
  std::vector<StepInfo> steps;
  for (const double duration : durations)
    steps.push_back({static_cast<std::int64_t>(steps.size()), 0,
                     static_cast<Nanos>(std::llround(duration * 1e6)), false});
  return first_stable(steps);
}

TEST(StableStep, IsTheFirstFromWhichOnStepsAreAlike) {
  EXPECT_EQ(first_stable_of({500, 140, 98, 100, 100, 102, 101, 99}), 2u);
  EXPECT_EQ(first_stable_of({500, 98, 140, 103, 100, 102, 101, 99}), 3u);
  EXPECT_EQ(first_stable_of({100, 100, 100}), 0u);
  EXPECT_EQ(first_stable_of({100, 100}), std::nullopt);
  EXPECT_EQ(first_stable_of({1, 2, 3, 4, 100, 100, 500, 100}), std::nullopt);
  // Two captures of three steps: spreads of 11 % and of 0.8 %.
  EXPECT_EQ(first_stable_of({48.3, 44.9, 55.3}), std::nullopt);
  EXPECT_EQ(first_stable_of({222.1, 219.7, 218.8}), 0u);
}

/// Share of captures of so many steps with this spread that have a stable step, in per cent.
double stable_share(std::size_t steps, double spread) {
  constexpr int kCaptures = 20000;
  std::mt19937_64 random(steps);
  std::normal_distribution<double> duration(1, spread);
  int stable = 0;
  for (int i = 0; i < kCaptures; ++i) {
    std::vector<double> durations(steps);
    for (auto& d : durations) d = std::max(0.01, duration(random));
    stable += first_stable_of(durations).has_value();
  }
  return 100.0 * stable / kCaptures;
}

TEST(StableStep, SimulatedCapturesAreJudgedRight) {
  double refused = 0, accepted = 0;  // over short captures of 3 to 6 steps
  for (const std::size_t steps : {3u, 4u, 5u, 6u}) {
    refused += (100 - stable_share(steps, 0.01)) / 4;
    accepted += stable_share(steps, 0.15) / 4;
  }
  EXPECT_LE(refused, 1);
  EXPECT_LE(accepted, 1);
  for (const std::size_t steps : {8u, 12u, 20u, 50u}) {
    EXPECT_GE(stable_share(steps, 0.01), 99) << steps;
    EXPECT_LE(stable_share(steps, 0.15), 1.1) << steps;
  }
}

/// Roles by a letter a step: "." ordinary, "s" start-up, "o" outlier.
std::string roles_of(const std::vector<double>& durations) {
  std::vector<StepInfo> steps;
  for (const double d : durations)
    steps.push_back({0, 0, static_cast<Nanos>(std::llround(1000 * d)), false});
  name_far_off(steps);
  std::string roles;
  for (const auto& step : steps) roles += ".so"[static_cast<std::size_t>(step.role)];
  return roles;
}

TEST(FarOffSteps, AreStartUpOrASingleOutlier) {
  EXPECT_EQ(roles_of({}), "");
  EXPECT_EQ(roles_of({100}), ".");
  EXPECT_EQ(roles_of({300, 100}), "..");  // nobody knows which is the usual one
  EXPECT_EQ(roles_of({300, 100, 101}), "...");
  EXPECT_EQ(roles_of({300, 100, 101, 100}), "s...");
  EXPECT_EQ(roles_of({145, 100, 101, 100}), "....");  // too near to say much else
  EXPECT_EQ(roles_of({100, 101, 99, 100, 250}), "....o");
  EXPECT_EQ(roles_of({100, 101, 250, 100, 99}), ".....");  // every fourth one may be so
  EXPECT_EQ(roles_of({100, 101, 250, 100, 99, 100, 101}), "..o....");
  EXPECT_EQ(roles_of({100, 101, 100, 99, 52}), ".....");  // a last batch that is smaller
  EXPECT_EQ(roles_of({400, 100, 101, 250, 100, 99, 100, 101}), "s..o....");
  EXPECT_EQ(roles_of({500, 300, 100, 99, 100, 101}), "ss....");
  EXPECT_EQ(roles_of({500, 300, 200, 100, 99, 100, 100, 101, 100, 99, 100, 101}), "............");
  EXPECT_EQ(roles_of({140, 100, 130, 75, 115}), ".....");  // they vary as much by themselves
  EXPECT_EQ(roles_of({0, 0, 0, 0}), "....");
  EXPECT_EQ(roles_of({0, 0, 0, 0, 0, 900}), ".....o");
  EXPECT_EQ(roles_of({5000, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}),
            "s...........");
}

TEST(FarOffSteps, AreNotTheProgramsOwnWay) {
  EXPECT_EQ(roles_of({100, 250, 100, 101, 250, 100}), "......");
  EXPECT_EQ(roles_of({250, 100, 100, 101, 250, 100}), "......");  // the first one is of the pattern
  EXPECT_EQ(roles_of({250, 100, 100, 101, 100, 100, 240}), ".......");
  for (std::size_t begin = 0; begin < 4; ++begin)
    for (std::size_t count = 5; count < 40; ++count) {
      std::vector<double> durations;
      for (std::size_t i = 0; i < count; ++i)
        durations.push_back((i % 4 == begin ? 300.0 : 100.0) + static_cast<double>(i % 3));
      EXPECT_EQ(roles_of(durations), std::string(count, '.')) << begin << " of " << count;
    }
}

/// Percent of random captures of which a step is named. Durations: exp(spread · noise), or
/// 1 + spread · noise; noise that remembers `memory` of the step before.
struct Series {
  const char* name;
  bool logarithmic;
  double memory, every_fourth;
};
double named_share(const Series& series, double spread, std::size_t count) {
  constexpr int kCaptures = 2000;
  std::mt19937_64 random(count);
  std::normal_distribution<double> normal;
  int named = 0;
  for (int capture = 0; capture < kCaptures; ++capture) {
    std::vector<double> durations;
    const std::size_t slow = random() % 4;
    double noise = normal(random);
    for (std::size_t i = 0; i < count; ++i) {
      noise = series.memory * noise + std::sqrt(1 - series.memory * series.memory) * normal(random);
      const double time = series.logarithmic ? std::exp(spread * noise) : 1 + spread * noise;
      durations.push_back(1000 * std::max(0.05, time) * (i % 4 == slow ? series.every_fourth : 1));
    }
    named += roles_of(durations).find_first_not_of('.') != std::string::npos;
  }
  return 100.0 * named / kCaptures;
}

TEST(FarOffSteps, AreRareInRandomSeries) {
  constexpr Series kSeries[] = {{"normal", false, 0, 1},
                                {"log-normal", true, 0, 1},
                                {"autoregressive", true, 0.5, 1},
                                {"slowly drifting", true, 0.9, 1},
                                {"every fourth twice as long", true, 0, 2},
                                {"every fourth four times as long", true, 0, 4}};
  for (const auto& series : kSeries)
    for (const double spread : {0.02, 0.15, 0.3, 0.8}) {
      double sum = 0;
      constexpr std::size_t kCounts[] = {5, 6, 7, 8, 10, 14, 20, 50};
      for (const std::size_t count : kCounts) {
        const double share = named_share(series, spread, count);
        sum += share / std::size(kCounts);
        EXPECT_LT(share, 1) << series.name << " " << spread << " " << count;
      }
      EXPECT_LT(sum, 0.5) << series.name << " " << spread;
    }
}

TEST(FarOffSteps, AreFoundAmongStepsThatVary) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 0.05);
  for (const std::size_t count : {6u, 10u, 30u}) {
    int start_up = 0, outlier = 0;
    for (int capture = 0; capture < 500; ++capture) {
      std::vector<double> durations;
      for (std::size_t i = 0; i < count; ++i) durations.push_back(100 * std::exp(noise(random)));
      durations.front() *= 3;
      start_up += roles_of(durations).front() == 's';
      durations.front() /= 3;
      durations.back() *= 3;
      outlier += roles_of(durations).back() == 'o';
    }
    EXPECT_GT(start_up, 490) << count;
    EXPECT_GT(outlier, 450) << count;
  }
}

}  // namespace
}  // namespace gf
