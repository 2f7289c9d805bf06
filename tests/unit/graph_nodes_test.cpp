// Kernels of CUDA graphs find the operations that captured them: by count and kind, by name where
// the source says it, by node, and in no other way.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/attribution/attribution.h"
#include "model/captured_calls.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

using test::CaptureBuilder;

/// A capture of two products and a sum with `rows` rows, from `at` on.
void capture_graph(CaptureBuilder& build, Nanos at, const char* rows, bool names = false) {
  auto& strings = build.capture.strings;
  build.call(ApiKind::other, "cudaStreamBeginCapture", at, at + 1);
  build.python("nn.Module: Linear_0", at + 2, at + 30);
  int number = 0;
  for (const char* name : {"aten::mm", "aten::mm", "aten::sum"}) {
    const Nanos start = at + 5 + 8 * number;
    const auto op = build.op(name, start, start + 6);
    build.capture.host_ops.shapes[op] =
        strings.intern(std::string("[[") + rows + ", 3], [3, " + std::to_string(++number) + "]]");
    build.capture.host_ops.types[op] = strings.intern(R"(["float","float"])");
    const auto call = build.call(ApiKind::launch, "cudaLaunchKernel", start + 1, start + 2);
    if (names) build.capture.api_calls.kernel[call] = strings.intern(number < 3 ? "gemm" : "sum");
  }
  build.call(ApiKind::other, "cudaStreamEndCapture", at + 40, at + 41);
}

/// A launch of a graph at `at` that runs `names`; rows of activities.
std::vector<std::uint32_t> replay(CaptureBuilder& build, Nanos at,
                                  std::vector<const char*> names = {"gemm", "gemm", "sum"}) {
  const auto correlation = build.next_correlation++;
  build.call(ApiKind::graph_launch, "cudaGraphLaunch", at, at + 5, correlation);
  std::vector<std::uint32_t> rows;
  Nanos start = at + 10;
  for (const char* name : names) {
    rows.push_back(build.activity(ActivityKind::kernel, name, start, start + 10, correlation));
    start += 10;
  }
  return rows;
}

std::vector<std::string> shapes_of(const Capture& capture, const std::vector<std::uint32_t>& rows) {
  std::vector<std::string> shapes;
  for (const auto row : rows) {
    const auto op = capture.activities.captured_op[row];
    shapes.emplace_back(op == kNoRow ? "" : capture.text(capture.host_ops.shapes[op]));
  }
  return shapes;
}

const std::vector<std::string> kFour{"[[4, 3], [3, 1]]", "[[4, 3], [3, 2]]", "[[4, 3], [3, 3]]"};

TEST(GraphNodes, EveryLaunchCarriesOutTheCapturedOperationsAgain) {
  CaptureBuilder build;
  capture_graph(build, 0, "4");
  const auto first = replay(build, 100), second = replay(build, 200);
  link_captured_nodes(build.capture);
  EXPECT_EQ(shapes_of(build.capture, first), kFour);
  EXPECT_EQ(shapes_of(build.capture, second), kFour);
  std::optional<Context> context;
  const auto analysis = analyze(build.capture, {}, &context);
  ASSERT_TRUE(analysis);
  const auto& found = context->attribution;
  EXPECT_EQ(build.capture.text(build.capture.host_ops.name[found.op[second[2]]]), "aten::sum");
  EXPECT_EQ(found.modules[found.module[first[0]]], "Linear_0");
  EXPECT_EQ(found.phase[first[0]], found.phase[second[2]]);
  // Two products of 4 x 3 by 3 x 1 and 3 x 2, twice.
  EXPECT_DOUBLE_EQ(analysis->work.flops_per_s.value_or(0) *
                       static_cast<double>(analysis->window.duration_ns) * 1e-9,
                   2 * (2 * 4 * 3 * 1 + 2 * 4 * 3 * 2));
}

TEST(GraphNodes, NodesGiveTheOrderWhereStreamsDoNot) {
  CaptureBuilder build;
  capture_graph(build, 0, "4", true);
  auto rows = replay(build, 100, {"sum", "gemm", "gemm"});
  for (std::size_t i = 0; i < rows.size(); ++i)
    build.capture.activities.graph_node[rows[i]] = static_cast<std::int64_t>((i + 2) % 3);
  link_captured_nodes(build.capture);
  EXPECT_EQ(shapes_of(build.capture, {rows[1], rows[2], rows[0]}), kFour);
}

TEST(GraphNodes, WhatDoesNotFitStaysUnknown) {
  const std::vector<std::string> none(3, "");
  CaptureBuilder more;
  capture_graph(more, 0, "4");
  const auto four = replay(more, 100, {"gemm", "gemm", "sum", "sum"});
  link_captured_nodes(more.capture);
  EXPECT_EQ(shapes_of(more.capture, four), std::vector<std::string>(4, ""));
  CaptureBuilder named;
  capture_graph(named, 0, "4", true);
  const auto others = replay(named, 100, {"gemm", "sum", "sum"});
  link_captured_nodes(named.capture);
  EXPECT_EQ(shapes_of(named.capture, others), none);
  // With names a launch more or less is found.
  CaptureBuilder cut;
  capture_graph(cut, 0, "4", true);
  const auto start = replay(cut, 100, {"gemm", "gemm"});
  link_captured_nodes(cut.capture);
  EXPECT_EQ(shapes_of(cut.capture, start),
            std::vector<std::string>(kFour.begin(), kFour.end() - 1));
  // Captures of two batches fit alike: which one runs is not known. The same twice is.
  CaptureBuilder two;
  capture_graph(two, 0, "4");
  capture_graph(two, 50, "8");
  const auto either = replay(two, 100);
  link_captured_nodes(two.capture);
  EXPECT_EQ(shapes_of(two.capture, either), none);
  CaptureBuilder twice;
  capture_graph(twice, 0, "4");
  capture_graph(twice, 50, "4");
  const auto same = replay(twice, 100);
  link_captured_nodes(twice.capture);
  EXPECT_EQ(shapes_of(twice.capture, same), kFour);
}

/// A recording in which two graphs of as many kernels were captured under ranges of their own.
CaptureBuilder recording() {
  CaptureBuilder build;
  const auto window = build.capture.recording_windows.add();
  build.capture.recording_windows.duration_ns[window] = 1000;
  build.capture.recording_windows.pid[window] = build.pid;
  for (const Nanos at : {0, 50}) {
    for (const char* name : {"first", "second"}) {
      const Nanos start = at + (std::string_view(name) == "second" ? 10 : 0);
      const auto op = build.mark(name, start, start + 8);
      build.capture.host_ops.kind[op] = HostKind::op;
      build.capture.host_ops.shapes[op] =
          build.capture.strings.intern(std::string(name) + " of " + std::to_string(at));
      build.call(ApiKind::other, "cudaLaunchKernel", start + 1, start + 2,
                 build.next_correlation++);
    }
    build.call(ApiKind::sync, "cudaDeviceSynchronize", at + 30, at + 31);
  }
  return build;
}

TEST(GraphNodes, ARecorderTellsWhichCallMadeEachNode) {
  auto build = recording();
  const std::int64_t first = kNodeOfCall + build.next_correlation - 4;
  const auto rows = replay(build, 200, {"gemm", "sum"}),
             others = replay(build, 300, {"gemm", "sum"});
  for (auto& pid : build.capture.activities.pid) pid = build.pid;
  for (std::size_t i = 0; i < 2; ++i) {
    build.capture.activities.graph_node[rows[i]] = first + 2 + static_cast<std::int64_t>(i);
    build.capture.activities.graph_node[others[1 - i]] = first + static_cast<std::int64_t>(i);
  }
  link_captured_nodes(build.capture);
  EXPECT_EQ(shapes_of(build.capture, rows),
            (std::vector<std::string>{"first of 50", "second of 50"}));
  EXPECT_EQ(shapes_of(build.capture, others),
            (std::vector<std::string>{"second of 0", "first of 0"}));
}

TEST(GraphNodes, LaunchesThatARecorderSawCapturedAreCaptures) {
  auto build = recording();
  const auto rows = replay(build, 200, {"gemm", "sum"});
  link_captured_nodes(build.capture);
  EXPECT_EQ(shapes_of(build.capture, rows), std::vector<std::string>(2, "")) << "two fit";
  for (auto& shapes : build.capture.host_ops.shapes) shapes = Text::none;
  link_captured_nodes(build.capture);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto op = build.capture.activities.captured_op[rows[i]];
    ASSERT_NE(op, kNoRow);
    EXPECT_EQ(build.capture.text(build.capture.host_ops.name[op]), i == 0 ? "first" : "second");
  }
}

TEST(GraphNodes, AnotherTraceTells) {
  CaptureBuilder build, captured, run;
  build.op("aten::mm", 90, 95);
  const auto rows = replay(build, 100);
  capture_graph(captured, 7'000'000'000, "4");
  std::vector<Capture> others;
  others.push_back(std::move(captured.capture));
  const auto before = build.capture.host_ops.size();
  ASSERT_TRUE(link_captured_nodes(build.capture, others));
  EXPECT_EQ(shapes_of(build.capture, rows), kFour);
  EXPECT_TRUE(build.capture.check());
  EXPECT_EQ(build.capture.host_ops.size(), before + 4) << "three operations in a module";
  for (auto row = before; row < build.capture.host_ops.size(); ++row)
    EXPECT_LT(build.capture.host_ops.start_ns[row], 0);
  // A run without graphs, by the names of its kernels.
  CaptureBuilder again;
  const auto those = replay(again, 100);
  for (int step = 0; step < 2; ++step)
    for (const char* name : {"fill", "gemm", "gemm", "sum"}) {
      const Nanos at = run.next_correlation * 20;
      const auto op = run.op(name, at, at + 10);
      run.capture.host_ops.shapes[op] = run.capture.strings.intern(name);
      run.launch(name, {at + 1, at + 2}, {at + 5, at + 8});
    }
  others.clear();
  others.push_back(std::move(run.capture));
  ASSERT_TRUE(link_captured_nodes(again.capture, others));
  EXPECT_EQ(shapes_of(again.capture, those), (std::vector<std::string>{"gemm", "gemm", "sum"}));
  const auto nothing = link_captured_nodes(again.capture, others);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(*nothing, 0U) << "all are known";
  CaptureBuilder other;
  replay(other, 100, {"conv", "conv"});
  const auto refused = link_captured_nodes(other.capture, others);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("2 launches"), std::string::npos) << refused.error().what;
}

}  // namespace
}  // namespace gf
