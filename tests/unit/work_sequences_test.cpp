// Sequences of kernels that repeat: in order on a stream, cut where something else comes between.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/work/work.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

/// Kernels of 20 ns under operators, 5 ns apart; "aten::mm" is none that passes over tensors.
std::vector<KernelSequence> sequences_of(const std::vector<const char*>& operators,
                                         std::int64_t stream_of_odd = 7) {
  test::CaptureBuilder build;
  Nanos at = 100;
  int number = 0;
  for (const char* name : operators) {
    build.op(name, at - 85, at - 66);
    build.launch(std::string("kernel of ") + name, {at - 80, at - 70}, {at, at + 20},
                 number++ % 2 == 1 ? stream_of_odd : 7);
    at += 25;
  }
  std::optional<Context> context;
  const auto analysis = analyze(build.capture, {}, &context);
  EXPECT_TRUE(analysis);
  return measure_work(*context, *analysis).sequences;
}

constexpr const char *kAdd = "aten::add", *kRelu = "aten::relu", *kMul = "aten::mul",
                     *kProduct = "aten::mm";

TEST(WorkSequences, WhatRepeatsBetweenProducts) {
  const auto rows = sequences_of({kProduct, kAdd, kRelu, kProduct, kAdd, kRelu, kProduct, kMul});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].operators, (std::vector<std::string>{kAdd, kRelu}));
  EXPECT_EQ(rows[0].times, 2);
  EXPECT_EQ(rows[0].kernels, 4);
  EXPECT_EQ(rows[0].ns, 80);
  EXPECT_EQ(rows[0].gap_ns, 10);
  EXPECT_EQ(rows[0].gain_ns, 90) << "without sizes all of it is the bound";
}

TEST(WorkSequences, PeriodsAndTheSameKernelOverAndOver) {
  const auto period = sequences_of({kAdd, kMul, kAdd, kMul, kAdd, kMul, kProduct});
  ASSERT_EQ(period.size(), 1u);
  EXPECT_EQ(period[0].names.size(), 2u);
  EXPECT_EQ(period[0].times, 3);
  EXPECT_EQ(period[0].ns, 120);
  const auto same = sequences_of({kAdd, kAdd, kAdd, kProduct, kAdd, kAdd});
  ASSERT_EQ(same.size(), 1u);
  EXPECT_EQ(same[0].names.size(), 1u);
  EXPECT_EQ(same[0].times, 2);
  EXPECT_EQ(same[0].kernels, 5);
}

TEST(WorkSequences, OnceOrOnOtherStreamsIsNone) {
  EXPECT_TRUE(sequences_of({kProduct, kAdd, kRelu, kProduct, kMul, kRelu}).empty());
  EXPECT_TRUE(sequences_of({kAdd, kRelu, kProduct, kProduct, kAdd, kRelu}, 8).empty());
}

}  // namespace
}  // namespace gf
