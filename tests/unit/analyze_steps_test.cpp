#include <gtest/gtest.h>

#include "analyze/analyze.h"
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

TEST(Steps, StartWithTheFirstActivityLaunchedInTheMark) {
  const auto b = lagging();
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.step_source, "marks:ProfilerStep");
  ASSERT_EQ(a->window.all_steps.size(), 2u);
  EXPECT_EQ(a->window.all_steps[0].index, 5);
  EXPECT_EQ(a->window.all_steps[0].start_ns, 30);
  EXPECT_EQ(a->window.all_steps[0].duration_ns,
            120);  // to the start of the next step: the wait between steps belongs to the step
  EXPECT_EQ(a->window.all_steps[1].start_ns, 150);
  EXPECT_EQ(a->window.all_steps[1].duration_ns,
            110);  // the last one ends with its own last activity
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
  EXPECT_EQ(a->window.all_steps[0].start_ns, 1240);   // of its first kernel, not of its mark
  EXPECT_EQ(a->window.all_steps[2].duration_ns, 80);  // no step lasts into the next window
  EXPECT_EQ(a->window.all_steps[3].start_ns, 1840);
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

TEST(Window, OfOneStep) {
  const auto b = lagging();
  const auto a = analyze(b.capture, {.window = "step:5"});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.kind, WindowKind::step);
  EXPECT_EQ(a->window.start_ns, 30);
  EXPECT_EQ(a->window.end_ns, 150);
  ASSERT_EQ(a->devices.size(), 1u);
  EXPECT_EQ(a->devices[0].busy_ns, 110);
  EXPECT_EQ(a->devices[0].idle_ns, 10);
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
  EXPECT_NE(error("stable").find("no three steps"), std::string::npos);
  EXPECT_NE(error("9:3").find("empty"), std::string::npos);
  EXPECT_NE(error("5s:6s").find("no device activity"), std::string::npos);
  EXPECT_NE(error("1x:2").find("not a span"), std::string::npos);
  EXPECT_NE(error("later").find("not understood"), std::string::npos);
  const auto empty = analyze(Capture{}, {});
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message().find("no GPU activity"), std::string::npos);
}

TEST(StableStep, IsTheFirstOfThreeNearTheMedianOfTheLastHalf) {
  auto first = [](std::vector<Nanos> durations) {
    std::vector<StepInfo> steps;
    for (auto d : durations)
      steps.push_back({static_cast<std::int64_t>(steps.size()), 0, d, false});
    return first_stable(steps);
  };
  // Last half 100 102 101 99: median 100.5, deviation 1, allowed 3: [97.5, 103.5].
  EXPECT_EQ(first({500, 140, 98, 103, 100, 102, 101, 99}), 2u);
  EXPECT_EQ(first({500, 98, 140, 103, 100, 102, 101, 99}), 3u);
  EXPECT_EQ(first({100, 100, 100}), 0u);
  EXPECT_EQ(first({100, 100}), std::nullopt);
  EXPECT_EQ(first({1, 2, 3, 4, 100, 100, 500, 100}),
            std::nullopt);  // no deviation is allowed: 100 is the median of 100 100 500 100
}

}  // namespace
}  // namespace gf
