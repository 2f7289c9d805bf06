// The border: nothing impossible comes into an answer, and what was left out is counted.
#include <gtest/gtest.h>

#include "analyze/analyze.h"
#include "import/importer.h"
#include "model/check.h"
#include "model/file.h"
#include "model/ledger/ledger.h"
#include "support/capture_builder.h"
#include "support/captures.h"
#include "support/files.h"
#include "support/report_view.h"

namespace gf {
namespace {

using Counts = std::map<std::string, long>;

TEST(Check, EveryTimeAndDurationOfEveryTable) {
  Tables{}.each_table([](const auto& like) {
    using Table = std::remove_cvref_t<decltype(like)>;
    like.each_column_ref([&](const auto& named) {
      using Declared = typename std::remove_cvref_t<decltype(named)>::Declared;
      constexpr bool kIsDuration = std::is_same_v<Declared, declared::Duration>;
      if constexpr (kIsDuration || std::is_same_v<Declared, declared::Time>) {
        for (const I64 impossible :
             {INT64_MIN, kIsDuration ? I64{-1} : -kFarthestTime, kFarthestTime, I64{INT64_MAX}}) {
          Capture c;
          c.each_table([&](auto& table) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(table)>, Table>) {
              for (int i = 0; i < 3; ++i) table.add();
              table.each_column_ref([&](const auto& column) {
                for (std::size_t row = 0; row < 3; ++row)
                  if constexpr (std::is_same_v<
                                    typename std::remove_cvref_t<decltype(column)>::Declared,
                                    declared::Time>)
                    column.column[row] = 5;
                if constexpr (std::is_same_v<decltype(column), decltype(named)>)
                  if (std::string_view(column.info.name) == named.info.name)
                    column.column[1] = impossible;
              });
            }
          });
          ASSERT_TRUE(c.check().has_value());
          EXPECT_EQ(of(c.row_counts(), Table::kId), 2u) << Table::kName << "." << named.info.name;
          EXPECT_EQ(test::quality_of(c), (Counts{{"impossible_time", 1}}));
        }
      }
    });
  });
}

TEST(Check, SumsOfDurationsDoNotOverflow) {
  Capture c;
  for (int i = 0; i < 40; ++i) {
    const auto row = c.activities.add();
    c.activities.start_ns[row] = 1;
    c.activities.duration_ns[row] = kLongestRun;
  }
  ASSERT_TRUE(c.check().has_value());
  EXPECT_EQ(c.activities.size(), static_cast<std::size_t>(kLongestTotal / kLongestRun));
}

TEST(Check, WindowsOfManyDevicesAddUp) {
  Capture c;
  constexpr std::size_t kDevices = 40;
  for (std::size_t device = 0; device < kDevices; ++device) c.devices.add();
  for (std::size_t i = 0; i < 3 * kDevices; ++i) {
    const auto row = c.activities.add();
    c.activities.kind[row] = ActivityKind::kernel;
    c.activities.device[row] = static_cast<std::uint32_t>(i % kDevices);
    c.activities.start_ns[row] = 1'000 + static_cast<Nanos>(i);
    c.activities.duration_ns[row] = 10;
  }
  c.activities.start_ns[0] = -kFarthestTime + 1;
  c.activities.start_ns[1] = kFarthestTime - 20;
  ASSERT_TRUE(c.check());
  EXPECT_EQ(c.activities.size(), 3 * kDevices - 2);
  const auto analysis = analyze(c, {});
  ASSERT_TRUE(analysis) << analysis.error().message();
}

TEST(Check, ActivitiesWithoutATimeAndFarFromEveryWindow) {
  test::CaptureBuilder b;
  const auto first = b.kernel("first", 0, 10);
  const auto lost = b.kernel("no time", 0, 0);
  const auto kept = b.kernel("kept", kNsPerSecond, kNsPerSecond + 5);
  b.kernel("stray", 3600 * kNsPerSecond, 3601 * kNsPerSecond);
  Capture& c = b.capture;
  for (const auto activity : {first, lost, kept}) {
    const auto row = c.collectives.add();
    c.collectives.activity[row] = activity;
  }
  const auto window = c.recording_windows.add();
  c.recording_windows.duration_ns[window] = 2 * kNsPerSecond;
  ASSERT_TRUE(c.check().has_value());
  ASSERT_EQ(c.activities.size(), 2u);
  EXPECT_EQ(c.text(c.activities.name[1]), "kept");
  ASSERT_EQ(c.collectives.size(), 2u);  // those of lost activities went with them
  EXPECT_EQ(c.collectives.activity[0], 0u);
  EXPECT_EQ(c.collectives.activity[1], 1u);
  EXPECT_EQ(test::quality_of(c), (Counts{{"outside_window", 1}, {"no_time", 1}}));
}

TEST(Check, AReferenceToNothingIsAnError) {
  Capture c;
  const auto row = c.activities.add();
  c.activities.device[row] = 0;
  const auto checked = c.check();
  ASSERT_FALSE(checked.has_value());
  EXPECT_NE(checked.error().what.find("activities, row 0: device 0 does not exist"),
            std::string::npos);
}

TEST(Check, ANegativeDurationInAFileDoesNotReachTheAnswer) {
  test::TempDir dir;
  test::CaptureBuilder b;
  b.kernel("gemm", 0, 100);
  b.kernel("gemm", 200, 300);
  const auto backwards = b.kernel("gemm", 400, 500);
  b.capture.activities.duration_ns[backwards] = -1000;
  ASSERT_TRUE(write_capture(b.capture, dir.file("run.gpf")).has_value());
  const auto read = import_file(dir.file("run.gpf"));
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(test::quality_of(*read),
            (Counts{{"impossible_time", 1}, {"not_joined", 2}, {"short_kernels", 2}}));
  const auto analysis = analyze(*read, {});
  ASSERT_TRUE(analysis.has_value());
  EXPECT_EQ(analysis->devices[0].kernel_time_sum_ns, 200);
}

TEST(Check, ARecordingWithActivitiesWithoutTime) {
  const std::string path = test::corpus("h200/unseen/gpt_first_window.gpf.gz");
  if (path.empty() || !std::filesystem::exists(path)) GTEST_SKIP() << "GPUFATHOM_CORPUS is unset";
  test::TempDir dir;
  ASSERT_EQ(std::system(("gzip -dc '" + path + "' > '" + dir.file("run.gpf") + "'").c_str()), 0);
  const auto read = import_file(dir.file("run.gpf"));
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(test::quality_of(*read)["no_time"], 889);
  const auto analysis = analyze(*read, {});
  ASSERT_TRUE(analysis.has_value());
  EXPECT_LT(analysis->window.duration_ns, 60 * kNsPerSecond);
}

TEST(Check, KernelsLaunchedAheadOverlapAndNestedOnesDoNot) {
  const auto told = [](Nanos start, Nanos end, std::string_view call = "cudaLaunchKernel") {
    test::CaptureBuilder b;
    b.launch("first", {-20, -10}, {0, 100'000});
    b.launch("second", {-9, -5}, {start, end});
    b.capture.api_calls.name[1] = b.capture.strings.intern(call);
    check_evidence(b.capture);
    return test::quality_of(b.capture)["stream_overlap"];
  };
  EXPECT_EQ(told(90'000, 190'000), 0) << "begins 10 us before the end of the one before";
  EXPECT_EQ(told(70'000, 190'000), 1) << "30 us are too early for that";
  EXPECT_EQ(told(90'000, 95'000), 1) << "and it outlasts the other";
  EXPECT_EQ(told(30'000, 190'000, "cudaLaunchKernelExC"), 0)
      << "a call with attributes may let it begin at any time";

  test::CaptureBuilder idle;
  idle.launch("first", {-20, -10}, {0, 100'000});
  idle.launch("nested", {-9, -5}, {90'000, 95'000});
  idle.launch("last", {50'000'000, 50'000'010}, {50'000'020, 50'000'030});
  check_evidence(idle.capture);
  EXPECT_EQ(test::quality_of(idle.capture)["stream_overlap"], 0) << "5 us of 50 ms";
}

TEST(Check, ClocksThatDriftAreADoubtAndKernelsLongBeforeTheirLaunchAreNot) {
  const auto told = [](Nanos early, Nanos of_a_second) {
    test::CaptureBuilder b;
    for (Nanos at = 0; at <= kNsPerSecond; at += kNsPerSecond / 100) {
      const Nanos start = at - early - of_a_second * at / kNsPerSecond;
      b.launch("gemm", {at, at + 5'000}, {start, start + 10'000});
    }
    check_evidence(b.capture);
    auto all = test::quality_of(b.capture);
    return std::pair{all["few_before_launch"] > 0, all["kernel_before_launch"] > 0};
  };
  EXPECT_EQ(told(0, 140'000), std::pair(true, false)) << "the clocks are 140 ppm apart";
  EXPECT_EQ(told(0, 1'500'000), std::pair(false, true)) << "no clock is slewed so fast";
  EXPECT_EQ(told(300'000, 0), std::pair(false, true)) << "nor apart from the beginning";
}

}  // namespace
}  // namespace gf
