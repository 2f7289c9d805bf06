#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "analyze/match/symbols.h"
#include "import/importer.h"
#include "import/input.h"
#include "support/report_view.h"

namespace gf {
namespace {

using test::counters_of;

constexpr const char* kSlim = "examples/lenet_train_b64.ncu-rep.gz";

Capture loaded(const std::string& path) {
  auto capture = import_file(path);
  EXPECT_TRUE(capture.has_value()) << (capture ? "" : capture.error().message());
  if (capture) return std::move(*capture);
  return Capture{};
}

class TempFile {
 public:
  explicit TempFile(std::string_view content) {
    path_ =
        (std::filesystem::temp_directory_path() / ("gf_ncu_rep_test_" + std::to_string(::getpid()) +
                                                   "_" + std::to_string(next_++) + ".ncu-rep"))
            .string();
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  static inline int next_ = 0;
  std::string path_;
};

/// The report and a CSV export of it hold the same values. The rule: a text is equal; a number
/// differs by at most half a unit of the last digit that the CSV prints, times its unit's scale.
/// The raw page prints columns without unit with 2 decimals and others with 6; with --print-fp it
/// prints all with 2; the details page prints all with 2. In base units the scale is 1, in scaled
/// ones at most 1e6 here (Mbyte). The float sums below allow for one rounding of the double on top.
void expect_equal(const Capture& rep, const Capture& csv, bool scaled, double unscaled_digit,
                  double scaled_digit) {
  const std::set<std::string> prefixed{"ns", "byte", "byte/block"};
  ASSERT_EQ(rep.report_kernels.size(), csv.report_kernels.size());
  const auto &r = rep.report_kernels, &c = csv.report_kernels;
  for (std::uint32_t kernel = 0; kernel < r.size(); ++kernel) {
    EXPECT_EQ(r.id[kernel], c.id[kernel]);
    EXPECT_EQ(r.pid[kernel], c.pid[kernel]);
    EXPECT_EQ(r.device[kernel], c.device[kernel]);
    EXPECT_EQ(r.context[kernel], c.context[kernel]);
    EXPECT_EQ(r.stream[kernel], c.stream[kernel]);
    EXPECT_EQ(canonical_kernel_name(rep.text(r.name[kernel])),
              canonical_kernel_name(csv.text(c.name[kernel])));
    for (auto column : {&report_kernels_table::grid_x, &report_kernels_table::grid_y,
                        &report_kernels_table::grid_z, &report_kernels_table::block_x,
                        &report_kernels_table::block_y, &report_kernels_table::block_z,
                        &report_kernels_table::registers})
      EXPECT_EQ((r.*column)[kernel], (c.*column)[kernel]);
    const auto mine = counters_of(rep, kernel), theirs = counters_of(csv, kernel);
    for (const auto& [metric, cell] : theirs) {
      const auto found = mine.find(metric);
      ASSERT_NE(found, mine.end()) << metric;
      EXPECT_EQ(found->second.text, cell.text) << metric;
      EXPECT_EQ(found->second.unit, cell.unit) << metric;
      if (!cell.text.empty()) continue;
      const double scale =
          scaled && prefixed.contains(cell.unit) ? (std::fabs(cell.value) >= 1e6 ? 1e6 : 1e3) : 1;
      double digit = scaled_digit;
      if (cell.unit.empty()) digit = unscaled_digit;
      EXPECT_LE(std::fabs(found->second.value - cell.value),
                0.5 * digit * scale * (1 + 1e-9) + 1e-12 * std::fabs(cell.value))
          << metric << " of kernel " << kernel;
    }
  }
}

TEST(NcuRep, EqualsItsCsvExports) {
  const Capture rep = loaded(kSlim);
  ASSERT_EQ(rep.report_kernels.size(), 50u);
  EXPECT_TRUE(rep.quality.empty());
  const Capture base = loaded("examples/lenet_train_b64.base.ncu.csv.gz"),
                scaled = loaded("examples/lenet_train_b64.auto.ncu.csv.gz"),
                details = loaded("examples/lenet_train_b64.details.ncu.csv.gz");
  expect_equal(rep, base, false, 1e-2, 1e-2);
  expect_equal(rep, scaled, true, 1e-2, 1e-6);
  expect_equal(rep, details, true, 1e-2, 1e-2);
  for (std::uint32_t kernel = 0; kernel < 50; ++kernel)
    EXPECT_EQ(counters_of(rep, kernel).size(), counters_of(scaled, kernel).size());
  // What the report is about, and the device.
  ASSERT_EQ(rep.devices.size(), 1u);
  const auto metadata = [](const Capture& capture) {
    std::map<std::string, std::string> out;
    for (std::size_t i = 0; i < capture.metadata.size(); ++i)
      out[std::string(capture.text(capture.metadata.key[i]))] =
          capture.text(capture.metadata.value[i]);
    return out;
  };
  EXPECT_EQ(metadata(rep), metadata(scaled));
  EXPECT_EQ(rep.text(rep.devices.name[0]), "NVIDIA H200");
  EXPECT_EQ(rep.devices.sm_count[0], 132);
  EXPECT_EQ(rep.devices.clock_khz[0], 1980000);
  EXPECT_EQ(rep.devices.compute_major[0], 9);
  EXPECT_EQ(rep.report_kernels.shared_bytes[0], 2304);
  EXPECT_EQ(rep.report_kernels.duration_ns[0], 8896);
}

TEST(NcuRep, TheWholeReportEqualsTheSlimOne) {
  const char* corpus = std::getenv("GPUFATHOM_CORPUS");
  if (!corpus || !*corpus) GTEST_SKIP() << "GPUFATHOM_CORPUS is unset";
  const Capture whole = loaded(std::string(corpus) + "/h200/lenet_train_b64.ncu-rep.gz"),
                slim = loaded(kSlim);
  ASSERT_EQ(whole.kernel_counters.size(), slim.kernel_counters.size());
  for (std::size_t i = 0; i < whole.kernel_counters.size(); ++i) {
    ASSERT_EQ(whole.text(whole.kernel_counters.metric[i]),
              slim.text(slim.kernel_counters.metric[i]));
    if (whole.kernel_counters.text[i] == StringId::none) {
      ASSERT_EQ(whole.kernel_counters.value[i], slim.kernel_counters.value[i]);
    }
  }
}

TEST(NcuRep, TruncatedFilesKeepWhatCameBefore) {
  const std::string content = *read_whole(kSlim, 1 << 30);
  std::size_t last = 50;
  for (std::size_t cut = content.size() - 1; cut > 4;
       cut = cut > 2000 ? cut - cut / 13 : cut - 61 * (cut > 61) - (cut <= 61)) {
    const TempFile file(std::string_view(content).substr(0, cut));
    const auto capture = import_file(file.path());
    if (!capture) continue;  // not even a file header
    EXPECT_LE(capture->report_kernels.size(), last);
    last = capture->report_kernels.size();
    // A cut between two blocks looks like a shorter report; every other cut is told.
    if (!capture->quality.empty()) {
      EXPECT_EQ(test::quality_of(*capture).begin()->first, "truncated");
    }
  }
  EXPECT_EQ(last, 0u);
}

TEST(NcuRep, DamageInsideAResultCostsThatResult) {
  std::string content = *read_whole(kSlim, 1 << 30);
  const Capture clean = loaded(kSlim);
  // Break the third result: its first field's tag becomes a wire type that does not exist.
  const auto at = content.find("_ZN2at6native29vectorized_elementwise_kernel");
  ASSERT_NE(at, std::string::npos);
  content[at - 2] = '\x07';
  const TempFile file(content);
  const Capture capture = loaded(file.path());
  EXPECT_EQ(capture.report_kernels.size(), 49u);
  EXPECT_EQ(capture.events, 50);
  EXPECT_EQ(test::quality_of(capture), (std::map<std::string, long>{{"bad_event", 1}}));
  EXPECT_EQ(capture.report_kernels.id[48], 49);  // the others keep their numbers
}

TEST(NcuRep, ForgedSizesNeitherCrashNorAllocate) {
  std::string content = *read_whole(kSlim, 1 << 30);
  for (std::size_t at : {4u, 10u, 145u}) {
    std::string forged = content;
    for (int i = 0; i < 4; ++i) forged[at + static_cast<std::size_t>(i)] = '\xFF';
    const TempFile file(forged);
    const auto capture = import_file(file.path());
    if (capture) {
      EXPECT_FALSE(capture->quality.empty());
    }
  }
}

}  // namespace
}  // namespace gf
