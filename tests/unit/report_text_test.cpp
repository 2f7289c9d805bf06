// The text report over many captures: whatever they hold, no line is wider than the terminal and
// the bytes are its own kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "analyze/analyze.h"
#include "import/importer.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/reports.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

Analysis analysed(const std::string& path, const std::string& counters = {}) {
  auto capture = import_file(path);
  EXPECT_TRUE(capture) << capture.error().message();
  SourceInfo source;
  if (!counters.empty()) {
    const auto report = import_file(counters);
    EXPECT_TRUE(report) << report.error().message();
    source.path = report->path;
    capture->join(*report);
  }
  auto analysis = analyze(*capture, {});
  EXPECT_TRUE(analysis) << analysis.error().message();
  if (!counters.empty()) analysis->counters_source = source;
  return *analysis;
}

class TextReportOf : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(TextReportOf, FitsTheTerminal) {
  const auto [trace, counters] = GetParam();
  const Analysis a = analysed(std::string("examples/") + trace,
                              *counters ? std::string("examples/") + counters : "");
  for (const int width : {80, 97, 120})
    for (const bool utf8 : {false, true}) {
      TextStyle style;
      style.width = width;
      style.utf8 = utf8;
      std::istringstream lines(full_text(a, style, 1000));
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(columns_of(line), static_cast<std::size_t>(width)) << line;
        EXPECT_TRUE(utf8 ||
                    std::all_of(line.begin(), line.end(), [](unsigned char c) { return c < 0x80; }))
            << line;
      }
    }
  // Color adds escape codes and nothing else.
  TextStyle plain, coloured;
  coloured.colour = true;
  std::string stripped = full_text(a, coloured);
  for (std::size_t at; (at = stripped.find('\033')) != std::string::npos;)
    stripped.erase(at, stripped.find('m', at) - at + 1);
  EXPECT_EQ(stripped, full_text(a, plain));
}

INSTANTIATE_TEST_SUITE_P(Examples, TextReportOf,
                         testing::Values(std::tuple("resnet50_amp_eager_b64.json.gz",
                                                    "resnet50_amp_eager_b64.ncu.csv.gz"),
                                         std::tuple("bert_amp_eager_b32.json.gz", ""),
                                         std::tuple("lenet_train_b64.json.gz",
                                                    "lenet_train_b64.base.ncu.csv.gz"),
                                         std::tuple("lenet_inf_b1.json.gz", "")));

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find(part) != line.npos;
  return count;
}

/// Eight GPUs, of which GPU 5 works half as much as the others.
constexpr int kGpus = 8, kOdd = 5;

TEST(TextReport, GpusThatDidTheSameShareTheirLines) {
  Analysis a;
  a.samples.bucket_ns = 1'000'000;
  for (int i = 0; i < kGpus; ++i) {
    const double busy = (i == kOdd ? 0.4 : 0.8) + 0.001 * i;
    DeviceUse use{i, "NVIDIA H200"};
    use.span_ns = 1'000'000'000 + i;
    use.busy_ns = use.kernel_busy_ns = static_cast<Nanos>(busy * 1e9);
    use.idle_ns = use.span_ns - use.busy_ns;
    a.devices.push_back(use);
    SampledDevice device;
    device.id = i;
    device.name = use.name;
    device.step_ns = 2e7;
    device.readings = {{"gpu.busy", "ratio", busy, 0.1, 0.9, {}, {busy, busy}},
                       {"temperature.gpu", "celsius", 40.0 + i, 30.0 + i, 50.0 + i, {}, {}}};
    a.samples.devices.push_back(device);
  }
  const std::string text = full_text(a, {});
  for (const char* gpus : {"GPU 0-4", "GPU 5", "GPU 6-7"})
    EXPECT_EQ(lines_with(text, gpus), 4U) << gpus << "\n" << text;  // drawn, step, use, reading
  EXPECT_NE(text.find("GPU 0-4: temperature  42 C    30 C     54 C"), std::string::npos) << text;
}

TEST(RecordSummary, GpusThatDidTheSameShareTheirLines) {
  RecordSummary summary;
  summary.path = "run.gpf";
  for (int i = 0; i < kGpus; ++i) {
    RecordedDevice device;
    device.index = i;
    device.name = "NVIDIA H200";
    device.source = "pm_sampling";
    device.shares = {{"gpu.busy", i == kOdd ? 0.4 : 0.8 + 0.001 * i}};
    summary.devices.push_back(device);
  }
  const std::string text = record_summary_text(summary, {});
  EXPECT_EQ(lines_with(text, "GPU 0-4  NVIDIA H200"), 1U) << text;
  EXPECT_EQ(lines_with(text, "GPU 5  NVIDIA H200"), 1U) << text;
  EXPECT_EQ(lines_with(text, "GPU active"), 3U) << text;
}

TEST(TextReport, PartsOfTheWaterfallAreSummedOverDevices) {
  Analysis a;
  a.devices.resize(2);
  a.devices[0].span_ns = 100;
  a.devices[1].span_ns = 50;
  a.devices[0].waterfall = {{Bar::idle, "", 60, {{"sync", 60}}},
                            {Bar::tensor, "", 40, {{"k", 40}}}};
  a.devices[1].waterfall = {{Bar::idle, "", 10, {{"memcpy", 8}, {"sync", 2}}},
                            {Bar::copy, "", 40, {}}};
  const auto bars = waterfall_of_all(a);
  ASSERT_EQ(bars.size(), 3u);
  EXPECT_EQ(bars[0].ns, 70);
  EXPECT_EQ(bars[0].parts[0].name, "sync");
  EXPECT_EQ(bars[0].parts[0].ns, 62);
  Nanos sum = 0;
  for (const auto& bar : bars) sum += bar.ns;
  EXPECT_EQ(sum, device_time(a));
}

TEST(Wholeness, DamageAndAbsenceCountDoubtsDoNot) {
  Analysis a;
  EXPECT_EQ(shortcomings(a).size(), 1u) << "no GPU event";
  a.devices.resize(1);
  a.devices[0].gpu_events = 3;
  EXPECT_TRUE(shortcomings(a).empty());
  a.quality = {{"rounded_counters", 5, "doubt"}};
  EXPECT_TRUE(shortcomings(a).empty());
  a.quality.push_back({"bad_event", 2, "an event cannot be read"});
  EXPECT_EQ(shortcomings(a), std::vector<std::string>{"2 x bad_event: an event cannot be read"});
  a.counters_source.emplace();
  EXPECT_EQ(shortcomings(a).size(), 1u) << "rates of the capture's own samples";
  a.counters_source->path = "report.csv";
  EXPECT_EQ(shortcomings(a).size(), 2u) << "a report of another program";
  a.match.verdict = MatchVerdict::good;
  a.match.matched = 3;
  EXPECT_EQ(shortcomings(a).size(), 1u);
}

TEST(Headline, ALossWithoutARecommendationSaysSo) {
  auto told = [](bool host_works) {
    test::CaptureBuilder b;
    b.launch("first", {-20, -10}, {0, 1'000'000});
    // The device had the work, or the host came late.
    const Nanos called = host_works ? 3'900'000 : 20;
    b.launch("next", {called, called + 10}, {4'000'000, 5'000'000});
    const auto analysis = analyze(b.capture, {});
    EXPECT_TRUE(analysis);
    return headline(*analysis);
  };
  EXPECT_NE(told(false).find("unexplained gap"), std::string::npos);
  EXPECT_NE(told(false).find("No recommendation covers it."), std::string::npos);
  EXPECT_NE(told(true).find("other host work"), std::string::npos);
  EXPECT_EQ(told(true).find("No recommendation"), std::string::npos);
}

TEST(Format, CommandsCanBeCopied) {
  const std::string command = "ncu --metrics a.sum,bbbbbbbb.sum,cccccccc.sum --csv python train.py";
  const std::string wrapped = wrap_command(command, 30);
  std::string joined = wrapped;
  for (std::size_t at; (at = joined.find("\\\n")) != std::string::npos;)
    joined.erase(at, 2);  // what a shell does
  EXPECT_EQ(joined, command + "\n");
  std::istringstream lines(wrapped);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 30u);
}

}  // namespace
}  // namespace gf
