// The items of a step, which `work`, `analyze`, `energy` and `compare` take from one place.
#include <gtest/gtest.h>

#include "analyze/work/sections.h"

namespace gf {
namespace {

struct Recorded {
  Nanos start;
  const char* name;
  const char* shapes;
};

Capture recorded(const std::vector<Recorded>& operations) {
  Capture capture;
  for (const auto& operation : operations) {
    const auto row = capture.host_ops.add();
    capture.host_ops.start_ns[row] = operation.start;
    capture.host_ops.duration_ns[row] = 1;
    capture.host_ops.kind[row] = HostKind::op;
    capture.host_ops.name[row] = capture.strings.intern(operation.name);
    capture.host_ops.shapes[row] = capture.strings.intern(operation.shapes);
    capture.host_ops.types[row] = capture.strings.intern(R"(["float", "float"])");
  }
  return capture;
}

WindowInfo window(std::vector<StepInfo> steps) {
  WindowInfo window;
  window.start_ns = 0;
  window.end_ns = 100;
  window.duration_ns = 100;
  window.steps = std::move(steps);
  return window;
}

constexpr const char* kImages = "[[64, 3, 8, 8], [8, 3, 3, 3]]";

TEST(WorkItems, StepsMustAgree) {
  const std::vector<StepInfo> steps{{0, 0, 50, false}, {1, 50, 50, false}};
  const auto same = work::items_of_window(
      recorded({{1, "aten::convolution", kImages}, {51, "aten::convolution", kImages}}),
      window(steps));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->items, 64);
  EXPECT_EQ(same->from, "aten::convolution 64x3x8x8 * 8x3x3x3");
  EXPECT_FALSE(
      work::items_of_window(recorded({{1, "aten::convolution", kImages},
                                      {51, "aten::convolution", "[[32, 3, 8, 8], [8, 3, 3, 3]]"}}),
                            window(steps)));
}

// Five images that pass one after the other are five items; layers of equal shapes are not.
TEST(WorkItems, PassesOfImagesAddUp) {
  constexpr const char* kOne = "[[1, 3, 8, 8], [8, 3, 3, 3]]";
  constexpr const char* kLayer = "[[1, 8, 8, 8], [8, 8, 3, 3]]";
  std::vector<Recorded> operations;
  for (Nanos pass = 0; pass < 5; ++pass) {
    operations.push_back({10 * pass, "aten::convolution", kOne});
    operations.push_back({10 * pass + 1, "aten::convolution", kLayer});
    operations.push_back({10 * pass + 2, "aten::convolution", kLayer});
  }
  const std::vector<StepInfo> steps{{0, 0, 100, false}};
  const auto items = work::items_of_window(recorded(operations), window(steps));
  ASSERT_TRUE(items);
  EXPECT_EQ(items->items, 5);
  EXPECT_EQ(items->from, "aten::convolution 1x3x8x8 * 8x3x3x3, 5 times");
  const auto layers = work::items_of_window(
      recorded({{1, "aten::convolution", kLayer}, {2, "aten::convolution", kLayer}}),
      window(steps));
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->items, 1);
}

// DTensor calls an operator of all ranks' sizes and in it the one of the rank's.
TEST(WorkItems, OfNestedOperatorsTheInnermostTells) {
  const auto items = [](std::vector<Recorded> outer_and_inner) {
    auto capture = recorded(outer_and_inner);
    capture.host_ops.thread[0] = capture.host_ops.thread[1] = capture.threads.add();
    capture.host_ops.duration_ns[0] = 20;
    return work::items_of_window(capture, window({{1, 0, 100, false}}));
  };
  const auto images =
      items({{10, "aten::convolution", kImages}, {12, "aten::convolution", kImages}});
  ASSERT_TRUE(images);
  EXPECT_EQ(images->items, 64) << "one pass, not two";
  const auto tokens = items({{10, "aten::embedding", "[[100, 8], [32, 128]]"},
                             {12, "aten::embedding", "[[100, 8], [16, 128]]"}});
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->items, 16);
  EXPECT_EQ(tokens->tokens, 16 * 128);
}

TEST(WorkItems, WithoutStepsMostOperationsDecide) {
  const auto with_evaluation =
      recorded({{1, "aten::convolution", kImages},
                {2, "aten::convolution", kImages},
                {3, "aten::mm", "[[7, 8], [8, 9]]"},
                {4, "aten::convolution", "[[1, 3, 8, 8], [8, 3, 3, 3]]"},
                {200, "aten::convolution", "[[9, 3, 8, 8], [8, 3, 3, 3]]"}});
  const auto items = work::items_of_window(with_evaluation, window({}));
  ASSERT_TRUE(items);
  EXPECT_EQ(items->items, 64) << "two of three convolutions; products come after convolutions";
  EXPECT_FALSE(work::items_of_window(
      recorded({{1, "aten::mm", "[[7, 8], [8, 9]]"}, {2, "aten::mm", "[[5, 8], [8, 9]]"}}),
      window({})));
}

}  // namespace
}  // namespace gf
