#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
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
  // The subject of the report, and the device.
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

// A report written by hand, field by field (docs/formats/nsight-compute.md).

std::string pb_varint(std::uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += static_cast<char>(128 | (value & 127));
  return out + static_cast<char>(value);
}
std::string pb_number(unsigned field, std::uint64_t value) {
  return pb_varint(field << 3) + pb_varint(value);
}
std::string pb_bytes(unsigned field, const std::string& content) {
  return pb_varint(field << 3 | 2) + pb_varint(content.size()) + content;
}
std::string pb_real(unsigned field, double value) {
  std::string out = pb_varint(field << 3 | 1);
  out.resize(out.size() + 8);
  std::memcpy(out.data() + out.size() - 8, &value, 8);
  return out;
}
std::string pb_sized(const std::string& message) {
  std::string out(4, '\0');
  for (unsigned i = 0; i < 4; ++i) out[i] = static_cast<char>(message.size() >> (8 * i));
  return out + message;
}
std::string report_of(const std::string& result) {
  const std::string payload = pb_sized(result);
  return std::string("NVR\0", 4) + pb_sized(pb_number(1, 7)) +
         pb_sized(pb_number(2, 1) + pb_bytes(4, pb_bytes(1, "gpu__time_duration.sum")) +
                  pb_number(5, payload.size())) +
         payload;
}

TEST(NcuRep, RulesOfTheProfiler) {
  const std::string message = pb_bytes(1, "This kernel spills") + pb_number(2, 4) +
                              pb_number(3, 1) + pb_bytes(4, "a title");
  const std::string advice =
      pb_bytes(1, message) + pb_bytes(8, "") + pb_bytes(10, pb_number(1, 2) + pb_real(2, 21.5));
  const std::string note = pb_bytes(1, pb_bytes(1, "All is well") + pb_number(2, 1));
  const std::string strange = pb_bytes(1, pb_bytes(1, "Of a later version") + pb_number(2, 99)) +
                              pb_bytes(10, pb_number(1, 99) + pb_real(2, NAN));
  const std::string rule =
      pb_bytes(1, "LocalMemoryUsage") + pb_bytes(2, "Local Memory Usage") +
      pb_bytes(3, pb_bytes(1, advice) + pb_bytes(1, note) + pb_bytes(1, strange)) +
      pb_bytes(4, "MemoryWorkloadAnalysis_Tables");
  const std::string table_only = pb_bytes(1, "Empty") + pb_bytes(3, pb_bytes(1, pb_bytes(2, "")));
  const TempFile file(report_of(pb_bytes(7, "k()") +
                                pb_bytes(13, pb_number(1, 0) + pb_bytes(2, pb_number(5, 1000))) +
                                pb_bytes(19, rule) + pb_bytes(19, table_only)));
  const Capture capture = loaded(file.path());
  ASSERT_EQ(capture.report_kernels.size(), 1u);
  EXPECT_EQ(capture.report_kernels.duration_ns[0], 1000);
  const auto& rules = capture.kernel_rules;
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(capture.text(rules.rule[0]), "LocalMemoryUsage");
  EXPECT_EQ(capture.text(rules.section[0]), "MemoryWorkloadAnalysis_Tables");
  EXPECT_EQ(capture.text(rules.kind[0]), "OPT");
  EXPECT_EQ(capture.text(rules.description[0]), "This kernel spills");
  EXPECT_EQ(capture.text(rules.speedup_kind[0]), "global");
  EXPECT_EQ(rules.speedup[0], 21.5);
  EXPECT_EQ(capture.text(rules.kind[1]), "INF");
  EXPECT_TRUE(std::isnan(rules.speedup[1]));
  EXPECT_EQ(capture.text(rules.kind[2]), "") << "a kind that is not known has no name";
  EXPECT_TRUE(std::isnan(rules.speedup[2]));
  EXPECT_TRUE(capture.quality.empty());
}

TEST(NcuRep, ADamagedRuleCostsItsResultAndIsTold) {
  const TempFile file(report_of(pb_bytes(7, "k()") + pb_bytes(19, "\x0a\x7f")));
  const Capture capture = loaded(file.path());
  EXPECT_EQ(capture.report_kernels.size(), 0u);
  EXPECT_EQ(test::quality_of(capture), (std::map<std::string, long>{{"bad_event", 1}}));
}

}  // namespace
}  // namespace gf
