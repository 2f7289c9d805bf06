// Inside a comparison: shapes sum to the kernel time and every node of the tree to what is below
// it, for every run; an operator that was made slower is the culprit.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/compare/compare.h"
#include "analyze/compare/measured_run.h"
#include "report/compare/compare.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

struct Program {
  int operators = 4, steps = 4;
  int slow = -1;       // the operator whose kernels take thrice as long
  bool other = false;  // ... in another kernel
  int extra = 0;       // operators that only this program has
};

/// Steps of products, a line of the program around each.
Capture run_of(const Program& program) {
  test::CaptureBuilder build;
  auto& strings = build.capture.strings;
  Nanos at = 0;
  for (int step = 0; step < program.steps; ++step) {
    const Nanos start = at;
    for (int i = 0; i < program.operators + program.extra; ++i) {
      build.python(fmt::format("train.py({}): part{}", 10 + i, i), at, at + 90);
      const auto op = build.op("aten::mm", at + 5, at + 50);
      build.capture.host_ops.shapes[op] =
          strings.intern(fmt::format("[[{}, 8], [8, 16]]", 8 + 8 * i));
      build.capture.host_ops.types[op] = strings.intern(R"(["float","float"])");
      const bool slow = i == program.slow;
      const Nanos length = (30 + 7 * i % 20) * (slow ? 3 : 1);
      build.launch(slow && program.other ? "gemm_slow" : fmt::format("gemm_{}", i),
                   {at + 10, at + 20}, {at + 30, at + 30 + length});
      at += 200;
    }
    build.mark(fmt::format("ProfilerStep#{}", step), start, at);
  }
  return std::move(build.capture);
}

Comparison compared(const std::vector<Program>& programs) {
  std::vector<Capture> captures;
  for (const auto& program : programs) captures.push_back(run_of(program));
  std::vector<Analysis> analyses;
  std::vector<RunDetails> details;
  std::vector<MeasuredVersion> versions;
  for (std::size_t run = 0; run < captures.size(); ++run) {
    captures[run].path = fmt::format("run{}.json", run);
    std::optional<Context> context;
    AnalyzeOptions options;
    options.window = "steps";
    auto analysis = analyze(captures[run], options, &context);
    RC_ASSERT(analysis.has_value());
    details.push_back(run_details(*context, *analysis));
    versions.push_back({measured_run(*context, *analysis, details.back().roles.steps)});
    analyses.push_back(std::move(*analysis));
  }
  Comparison comparison = compare(analyses, {}, {}, versions);
  compare_inside(comparison, details, versions);
  return comparison;
}

RC_GTEST_PROP(CompareInside, EverythingSums, ()) {
  Program first, other;
  first.operators = other.operators = *rc::gen::inRange(1, 12);
  other.slow = *rc::gen::inRange(-1, first.operators);
  other.other = *rc::gen::arbitrary<bool>();
  other.extra = *rc::gen::inRange(0, 3);
  first.steps = *rc::gen::inRange(1, 5);
  other.steps = *rc::gen::inRange(1, 5);
  const Comparison comparison = compared({first, other});
  for (std::size_t run = 0; run < 2; ++run) {
    Nanos kernels = 0;
    for (const auto& row : comparison.shapes) {
      RC_ASSERT(row.change_ns[run] == row.ns[run] - row.ns[0]);
      kernels += row.ns[run];
    }
    RC_ASSERT(kernels == comparison.runs[run].kernel_ns);
    Nanos roles = 0;
    for (const auto& row : comparison.roles) {
      RC_ASSERT(row.change_ns[run] == row.ns[run] - row.ns[0]);
      roles += row.ns[run];
    }
    RC_ASSERT(roles == comparison.runs[run].kernel_ns);
    RC_ASSERT(!comparison.tree.empty());
    RC_ASSERT(comparison.tree[0].ns[run] == comparison.runs[run].time_ns);
    std::map<std::int64_t, Nanos> below;
    for (const auto& node : comparison.tree)
      if (node.parent) below[*node.parent] += node.ns[run];
    for (const auto& [id, sum] : below)
      RC_ASSERT(sum == comparison.tree.at(static_cast<std::size_t>(id)).ns[run]);
    // The strip is a step, and its events lie inside it.
    RC_ASSERT(comparison.strips.at(run).ns == (first.operators + (run ? other.extra : 0)) * 200);
    for (const auto& lane : comparison.strips[run].lanes)
      for (std::size_t i = 0; i < lane.start.size(); ++i)
        RC_ASSERT(lane.start[i] >= 0 &&
                  lane.start[i] + lane.length[i] <= comparison.strips[run].ns);
  }
}

TEST(CompareInside, NamesTheCulprit) {
  const Program first;
  Program slower = first, replaced = first, more = first;
  slower.slow = replaced.slow = 2;
  replaced.other = true;
  more.extra = 1;
  const Comparison comparison = compared({first, slower, replaced, more, first});
  std::vector<ComparedCulprit> products;
  for (const auto& culprit : comparison.culprits) {
    EXPECT_NE(culprit.run, 4) << "the last run is as the first";
    if (culprit.role == "MatMul") products.push_back(culprit);
  }
  ASSERT_EQ(products.size(), 3u);
  const auto& plain = products[0];
  EXPECT_EQ(plain.kind, CulpritKind::slower);
  EXPECT_EQ(plain.shapes, "24x8 * 8x16");
  EXPECT_EQ(plain.kernel, "gemm_2");
  EXPECT_EQ(plain.python, "train.py(12): part2");
  EXPECT_EQ(plain.adds_ns, 88) << "44 ns, then thrice as long";
  EXPECT_EQ(plain.after_ns - plain.before_ns, 88);
  const auto& swapped = products[1];
  EXPECT_EQ(swapped.kind, CulpritKind::replaced);
  EXPECT_EQ(swapped.kernel, "gemm_slow");
  EXPECT_EQ(swapped.kernel_before, "gemm_2");
  EXPECT_EQ(products[2].kind, CulpritKind::more_calls) << "one product more is no new role";
  EXPECT_EQ(products[2].python, "train.py(14): part4");
  const std::string comment = pull_request_comment(comparison);
  for (const char* part : {"- kernel: `gemm_slow`", "- in place of: `gemm_2`",
                           "- shapes: `24x8 * 8x16`", "- line: `train.py(12): part2`"})
    EXPECT_NE(comment.find(part), std::string::npos) << part << "\n" << comment;
  EXPECT_EQ(comment.find("New:"), std::string::npos) << comment;
}

// Text from a capture stays text: it ends no cell, span or line of the comment.
TEST(CompareInside, CommentsHoldHostileNames) {
  Comparison comparison = compared({Program{}, Program{.slow = 1}});
  comparison.culprits.at(0).kernel = "a`b|c\n# heading\x1b[31m";
  const std::string comment = pull_request_comment(comparison);
  EXPECT_EQ(comment.find("\n# heading"), std::string::npos) << comment;
  EXPECT_EQ(comment.find("a`b"), std::string::npos);
  EXPECT_EQ(comment.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace gf
