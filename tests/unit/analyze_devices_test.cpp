// The devices of an answer: those that work, told from those that only copy or were only
// touched.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/chosen_devices.h"
#include "analyze/steps/steps.h"
#include "analyze/window.h"
#include "report/summary.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

using test::CaptureBuilder;

constexpr Nanos kKernel = 100'000;

/// A device that is busy from 0 to 10 ms.
CaptureBuilder busy_device(std::int32_t device) {
  CaptureBuilder build;
  for (int i = 0; i < 100; ++i) build.kernel("gemm", i * kKernel, (i + 1) * kKernel, 7, device);
  return build;
}

void add_copy(CaptureBuilder& build, std::int32_t device, Nanos start) {
  build.activity(ActivityKind::memcpy, "Memcpy HtoD", start, start + 2000, -1, 7, device);
}

AnalyzeOptions options_of(std::string window, std::string devices = {}) {
  AnalyzeOptions options;
  options.window = std::move(window);
  options.devices = std::move(devices);
  return options;
}

Analysis answer(const Capture& capture, std::string window = "auto", std::string devices = {}) {
  auto analysis = analyze(capture, options_of(std::move(window), std::move(devices)));
  EXPECT_TRUE(analysis) << analysis.error().message();
  return analysis ? std::move(*analysis) : Analysis{};
}

double busy(const Analysis& analysis) {
  for (const auto& level : analysis.levels)
    if (level.id == "gpu.busy" && level.value) return *level.value;
  return -1;
}

std::vector<std::int64_t> numbers(const Analysis& analysis) {
  std::vector<std::int64_t> ids;
  for (const auto& device : analysis.devices) ids.push_back(device.id);
  return ids;
}

using Numbers = std::vector<std::int64_t>;

TEST(Devices, OneThatOnlyCopiesIsNamedAndCountsForNothing) {
  auto build = busy_device(7);
  add_copy(build, 0, 5'000'000);
  const auto analysis = answer(build.capture);
  EXPECT_DOUBLE_EQ(busy(analysis), 1);
  EXPECT_EQ(numbers(analysis), Numbers{7});
  ASSERT_EQ(analysis.other_devices.size(), 1U);
  EXPECT_EQ(analysis.other_devices[0].why, OtherReason::copies_only);
  EXPECT_EQ(analysis.other_devices[0].copies, 1);
  EXPECT_EQ(analysis.other_devices[0].busy_ns, 2000);
  EXPECT_NE(headline(analysis).find(" GPU 0 only copies: 1 copy, 2.000 us."), std::string::npos)
      << headline(analysis);
}

TEST(Devices, ACopyFarOffDoesNotStretchTheWindow) {
  auto build = busy_device(7);
  add_copy(build, 0, 90'000'000);
  for (const char* window : {"auto", "all", "0:"})
    EXPECT_DOUBLE_EQ(busy(answer(build.capture, window)), 1) << window;
}

TEST(Devices, OneTinyKernelIsNoWork) {
  auto build = busy_device(7);
  build.kernel("fill", 5'000'000, 5'002'000, 7, 0);
  add_copy(build, 0, 6'000'000);
  add_copy(build, 0, 7'000'000);
  const auto analysis = answer(build.capture);
  EXPECT_DOUBLE_EQ(busy(analysis), 1);
  ASSERT_EQ(analysis.other_devices.size(), 1U);
  EXPECT_EQ(analysis.other_devices[0].why, OtherReason::few_kernels);
  EXPECT_NE(headline(analysis).find("GPU 0 is almost idle: 1 kernel, 2 copies, 6.000 us."),
            std::string::npos)
      << headline(analysis);
}

TEST(Devices, AHundredthOfTheKernelTimeIsWork) {
  for (const Nanos length : {kKernel - 1, kKernel}) {
    auto build = busy_device(7);
    build.kernel("gemm", 0, length, 7, 0);
    const auto analysis = answer(build.capture);
    EXPECT_EQ(analysis.devices.size(), length == kKernel ? 2U : 1U) << length;
  }
}

TEST(Devices, OneThatIdlesHalfOfTheTimeCounts) {
  CaptureBuilder build;
  for (std::int32_t device = 0; device < 8; ++device)
    for (int i = 0; i < 100; ++i)
      if (device != 3 || i % 2 == 0)
        build.kernel("gemm", i * kKernel, (i + 1) * kKernel, 7, device);
  // The last kernel of device 3 ends before the others'.
  const auto analysis = answer(build.capture);
  EXPECT_EQ(analysis.devices.size(), 8U);
  EXPECT_TRUE(analysis.other_devices.empty());
  EXPECT_DOUBLE_EQ(busy(analysis), 7.5 / 8);
}

TEST(Devices, OfEightThatOneRunsOneIsSpokenOf) {
  auto build = busy_device(2);
  for (const std::int32_t device : {0, 1, 3, 4, 5, 6, 7}) add_copy(build, device, device * 1000);
  const auto analysis = answer(build.capture);
  EXPECT_DOUBLE_EQ(busy(analysis), 1);
  EXPECT_EQ(analysis.other_devices.size(), 7U);
  EXPECT_NE(headline(analysis).find("GPUs 0, 1, 3, 4, 5, 6, 7 only copy: 7 copies, 14.00 us."),
            std::string::npos)
      << headline(analysis);
}

TEST(Devices, TwoByTurnsBothWork) {
  CaptureBuilder build;
  for (int i = 0; i < 100; ++i) build.kernel("gemm", i * kKernel, (i + 1) * kKernel, 7, i % 2);
  EXPECT_DOUBLE_EQ(busy(answer(build.capture)), 0.5);
}

TEST(Devices, PartsOfOneGpuBothWork) {
  auto build = busy_device(0);
  for (int i = 0; i < 100; i += 4) build.kernel("gemm", i * kKernel, (i + 1) * kKernel, 7, 1);
  EXPECT_DOUBLE_EQ(busy(answer(build.capture)), (1 + 0.25) / 2);
}

/// Steps of 10 ms; device 1 works for 0.5 ms in step 2 alone, under a hundredth of all.
CaptureBuilder ten_steps() {
  CaptureBuilder build;
  for (int step = 0; step < 10; ++step) {
    const Nanos begin = step * 10'000'000;
    build.mark("ProfilerStep#" + std::to_string(step), begin, begin + 10'000'000);
    build.launch("gemm", {begin + 1, begin + 2}, {begin + 10, begin + 9'999'990}, 7, 0);
    if (step == 2)
      build.launch("gemm", {begin + 3, begin + 4}, {begin + 100, begin + 500'100}, 7, 1);
  }
  return build;
}

TEST(Devices, OneOfASingleStepWorksThere) {
  const auto build = ten_steps();
  EXPECT_EQ(numbers(answer(build.capture)), Numbers{0});
  EXPECT_EQ(numbers(answer(build.capture, "step:2")), (Numbers{0, 1}));
  const auto other = answer(build.capture, "step:3");
  EXPECT_EQ(numbers(other), Numbers{0});
  ASSERT_EQ(other.other_devices.size(), 1U);
  EXPECT_EQ(other.other_devices[0].why, OtherReason::idle);
  EXPECT_NE(headline(other).find("GPU 1 is idle in this window."), std::string::npos);
}

TEST(Devices, OneThatWorksElsewhereIdlesInTheWindow) {
  CaptureBuilder build;
  for (int i = 0; i < 100; ++i)
    build.kernel("gemm", i * kKernel, (i + 1) * kKernel, 7, i < 50 ? 0 : 1);
  EXPECT_DOUBLE_EQ(busy(answer(build.capture, "0:5ms")), 0.5) << "device 1 comes later";
}

TEST(Devices, WithoutKernelsAllCount) {
  CaptureBuilder build;
  add_copy(build, 0, 0);
  add_copy(build, 1, 2000);
  EXPECT_EQ(numbers(answer(build.capture)), (Numbers{0, 1}));
}

TEST(Devices, AreChosenByNumber) {
  auto build = busy_device(7);
  add_copy(build, 0, 5'000'000);
  const auto all = answer(build.capture, "auto", "all");
  EXPECT_EQ(numbers(all), (Numbers{7, 0}));
  EXPECT_DOUBLE_EQ(busy(all), 0.5);
  const auto copies = answer(build.capture, "auto", "0");
  EXPECT_EQ(numbers(copies), Numbers{0});
  EXPECT_EQ(copies.window.duration_ns, 2000);
  EXPECT_NE(headline(copies).find("GPU 7 is left out."), std::string::npos) << headline(copies);
  EXPECT_EQ(numbers(answer(build.capture, "auto", "0,7")), (Numbers{7, 0}));
  const auto none = analyze(build.capture, options_of("auto", "3"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(),
            "--devices 3: no work on device 3 in the capture (devices with work: 0, 7)");
}

TEST(Devices, AListIsNumbersAndCommas) {
  EXPECT_EQ(device_numbers("0,12"), (std::vector<std::int32_t>{0, 12}));
  for (const char* text : {"", ",", "0,", ",1", "a", "-1", "1;2", "1 ", "99999999999"})
    EXPECT_FALSE(device_numbers(text)) << text;
}

}  // namespace
}  // namespace gf
