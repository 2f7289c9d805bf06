// Runs are matched by what they compute: a rename is no change, another program has no verdict, and
// what all kernels have in common is no operator's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/compare/compare.h"
#include "analyze/compare/measured_run.h"
#include "analyze/compare/role_match.h"
#include "analyze/compare/version.h"
#include "report/compare/compare.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

/// One operator with one kernel.
struct Work {
  std::string name, shapes, kernel;
  Nanos ns;
};

constexpr Nanos kPitch = 10'000;

/// Six steps of the same work; a few nanoseconds tell them apart.
Capture run_of(const std::vector<Work>& works) {
  test::CaptureBuilder build;
  auto& strings = build.capture.strings;
  Nanos at = 0;
  for (int step = 0; step < 6; ++step) {
    const Nanos start = at;
    for (const auto& work : works) {
      const auto op = build.op(work.name, at + 5, at + 500);
      build.capture.host_ops.shapes[op] = strings.intern(work.shapes);
      build.launch(work.kernel, {at + 10, at + 20}, {at + 1000, at + 1000 + work.ns + step % 3});
      at += kPitch;
    }
    build.mark(fmt::format("ProfilerStep#{}", step), start, at);
  }
  return std::move(build.capture);
}

/// The input of a comparison from one capture.
ComparedVersion version_of(const std::vector<Work>& works) {
  const Capture capture = run_of(works);
  std::optional<Context> context;
  AnalyzeOptions options;
  options.window = "steps";
  auto analysis = analyze(capture, options, &context);
  EXPECT_TRUE(analysis.has_value());
  ComparedVersion version;
  version.details = run_details(*context, *analysis);
  version.measured = {measured_run(*context, *analysis, version.details.roles.steps)};
  version.measured[0].rows = 0;  // equal captures are wanted here
  version.analysis = std::move(*analysis);
  return version;
}

/// `before` and `after`: more captures of each version, which the tables do not show.
Comparison compared(const std::vector<Work>& first, const std::vector<Work>& other,
                    const std::vector<std::vector<Work>>& before = {},
                    const std::vector<std::vector<Work>>& after = {}) {
  std::vector<Analysis> analyses;
  std::vector<RunDetails> details;
  std::vector<MeasuredVersion> versions;
  for (const auto* works : {&first, &other}) {
    auto version = version_of(*works);
    for (const auto& more : works == &first ? before : after)
      version.measured.push_back(version_of(more).measured[0]);
    analyses.push_back(std::move(version.analysis));
    details.push_back(std::move(version.details));
    versions.push_back(std::move(version.measured));
  }
  analyses[0].source.path = "before.json";
  analyses[1].source.path = "after.json";
  Comparison comparison = compare(analyses, {}, {}, versions);
  compare_inside(comparison, details, versions);
  return comparison;
}

const std::vector<Work> kNet{
    {"aten::conv2d", "[[8,3,32,32],[16,3,3,3]]", "fprop_a", 3000},
    {"aten::native_batch_norm", "[[8,16,32,32],[16]]", "batch_norm_kernel", 2000},
    {"aten::conv2d", "[[8,16,32,32],[32,16,3,3]]", "fprop_b", 3000},
    {"aten::native_batch_norm", "[[8,32,32,32],[32]]", "batch_norm_kernel", 2000},
    {"aten::addmm", "[[10],[8,512],[512,10]]", "gemm_a", 1000},
};

TEST(CompareRoles, TheShortestScriptPairsWhatIsInOrder) {
  const std::vector<std::uint32_t> left{1, 2, 3, 4, 5}, right{1, 9, 3, 4, 4, 5};
  const auto pairs = align(left, right, 10);
  ASSERT_TRUE(pairs);
  EXPECT_EQ(pairs->size(), 4u);  // 1, 3, 4, 5
  for (const auto& [a, b] : *pairs) EXPECT_EQ(left[a], right[b]);
  for (std::size_t i = 1; i < pairs->size(); ++i) {
    EXPECT_LT((*pairs)[i - 1].first, (*pairs)[i].first);
    EXPECT_LT((*pairs)[i - 1].second, (*pairs)[i].second);
  }
  EXPECT_FALSE(align(left, right, 2));  // three edits
  EXPECT_EQ(align(left, {}, 10)->size(), 0u);
  EXPECT_EQ(align(left, left, 0)->size(), left.size());
}

TEST(CompareRoles, ARenameIsNoChange) {
  auto other = kNet;
  for (auto& work : other) {
    if (work.kernel == "batch_norm_kernel")
      work = {"aten::cudnn_batch_norm", work.shapes, "cudnn::bn_fw_tr_1C11", work.ns};
    if (work.kernel == "gemm_a") work.kernel = "gemm_b";
  }
  auto comparison = compared(kNet, other);
  EXPECT_TRUE(comparison.culprits.empty());
  EXPECT_TRUE(new_roles(comparison, 1).empty());
  EXPECT_TRUE(gone_roles(comparison, 1).empty());
  ASSERT_EQ(comparison.likeness.size(), 1u);
  EXPECT_EQ(comparison.likeness[0].program, ComparedProgram::same);
  EXPECT_NEAR(*comparison.likeness[0].alike, 1, 1e-9);
  // Under another name and longer: what is named is the role, with the kernel that was there.
  for (auto& work : other)
    if (work.name == "aten::cudnn_batch_norm") work.ns += 600;
  comparison = compared(kNet, other);
  ASSERT_EQ(comparison.culprits.size(), 1u);
  const auto& culprit = comparison.culprits[0];
  EXPECT_EQ(culprit.role, "Normalization");
  EXPECT_EQ(culprit.kind, CulpritKind::replaced);
  EXPECT_EQ(culprit.kernel_before, "batch_norm_kernel");
  EXPECT_NEAR(static_cast<double>(culprit.adds_ns), 1200, 3);
  EXPECT_LT(std::abs(*culprit.low_ns - 1200), 50);
  EXPECT_EQ(pull_request_comment(comparison).find("New:"), std::string::npos);
}

TEST(CompareRoles, CulpritsAreOfAllCaptures) {
  // The captures of the tables alone would name the convolution, which all together clear.
  auto before = compared(kNet, kNet);
  EXPECT_TRUE(before.culprits.empty());
  auto slower = kNet;
  slower[0].ns += 600;
  EXPECT_EQ(compared(kNet, slower).culprits.size(), 1u);
  EXPECT_TRUE(compared(kNet, slower, {kNet, slower, kNet, slower}, {slower, kNet, slower, kNet})
                  .culprits.empty());
  EXPECT_EQ(compared(kNet, slower, {kNet, kNet, kNet}, {slower, slower, slower}).culprits.size(),
            1u);
}

TEST(CompareRoles, WhatIsNewIsARole) {
  auto other = kNet;
  other.push_back({"aten::softmax", "[[8,10]]", "softmax_kernel", 900});
  const auto comparison = compared(kNet, other);
  // Beside it the step idles for longer; the host's time for the added call is told with that.
  const auto fresh = std::ranges::find(comparison.culprits, "Softmax", &ComparedCulprit::role);
  ASSERT_NE(fresh, comparison.culprits.end());
  EXPECT_EQ(fresh->kind, CulpritKind::fresh);
  EXPECT_EQ(fresh->host_ns, 495);
  EXPECT_NEAR(static_cast<double>(fresh->adds_ns), 900 + 495, 3);
  EXPECT_NE(pull_request_comment(comparison).find("New: `Softmax"), std::string::npos);
}

TEST(CompareRoles, WhereAllKernelsChangedAlikeNoneIsNamed) {
  auto other = kNet;
  for (auto& work : other) work.ns = work.ns * 105 / 100;
  const auto comparison = compared(kNet, other);
  EXPECT_TRUE(comparison.culprits.empty());
  ASSERT_TRUE(comparison.likeness[0].common_ratio);
  EXPECT_NEAR(*comparison.likeness[0].common_ratio, 1.05, 0.002);
  EXPECT_NE(comparison_text(comparison, {}).find("changed alike"), std::string::npos);
}

TEST(CompareRoles, OtherProgramsHaveNoVerdict) {
  const std::vector<Work> other{
      {"aten::embedding", "[[1000,64],[8,16]]", "lookup", 1000},
      {"aten::addmm", "[[192],[128,64],[64,192]]", "gemm_a", 3000},
      {"aten::addmm", "[[64],[128,64],[64,64]]", "gemm_a", 3000},
      {"aten::addmm", "[[256],[128,64],[64,256]]", "gemm_a", 3000},
  };
  const auto comparison = compared(kNet, other);
  EXPECT_EQ(comparison.likeness[0].program, ComparedProgram::different);
  EXPECT_EQ(comparison.changes[0].verdict, ComparedVerdict::different_programs);
  EXPECT_TRUE(comparison.culprits.empty());
  const auto text = comparison_headline(comparison, 1);
  EXPECT_TRUE(text.starts_with("The programs differ: ")) << text;
}

TEST(CompareRoles, AnswersFitAScreenAndLabelsDiffer) {
  auto comparison = compared(kNet, kNet);
  comparison.runs[0].label = "experiment_2026_11_27_convnet_run_before_change.json.gz";
  comparison.runs[1].label = "experiment_2026_11_27_convnet_run_after_change.json.gz";
  auto labels = short_labels(comparison, 26);
  EXPECT_NE(labels[0].find("before"), std::string::npos) << labels[0];
  EXPECT_NE(labels[1].find("after"), std::string::npos) << labels[1];
  for (const auto& label : labels) EXPECT_LE(label.size(), 26u) << label;
  comparison.runs[1].label = comparison.runs[0].label;
  labels = short_labels(comparison, 26);
  EXPECT_NE(labels[0], labels[1]);
  const auto text = comparison_text(comparison, {});
  EXPECT_LE(std::ranges::count(text, '\n'), 45);
  EXPECT_GT(std::ranges::count(comparison_text(comparison, {}, true), '\n'), 45);
}

}  // namespace
}  // namespace gf
