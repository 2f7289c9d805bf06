#include <gtest/gtest.h>

#include "model/kernel_name.h"

namespace gf {

TEST(NvtxOperation, NameSequenceAndShapes) {
  const auto all = cut_nvtx_operation(
      "aten::bmm, seq = 1234, op_id = 5678, sizes = [[8, 64, 64], [8, 64, 32]], "
      "input_op_ids = [(5670,0), (5671,0)]");
  EXPECT_EQ(all.name, "aten::bmm");
  EXPECT_EQ(all.sequence, 1234);
  EXPECT_EQ(all.shapes, "[[8, 64, 64], [8, 64, 32]]");

  const auto sizes = cut_nvtx_operation("aten::relu_, op_id = 7, sizes = [[8, 64], []]");
  EXPECT_EQ(sizes.name, "aten::relu_");
  EXPECT_EQ(sizes.sequence, -1);
  EXPECT_EQ(sizes.shapes, "[[8, 64], []]");

  const auto backward =
      cut_nvtx_operation("autograd::engine::evaluate_function: AddmmBackward0, seq = 12");
  EXPECT_EQ(backward.name, "autograd::engine::evaluate_function: AddmmBackward0");
  EXPECT_EQ(backward.sequence, 12);
  EXPECT_EQ(cut_nvtx_operation("AddBackward0, stashed seq = 3, op_id = 9").sequence, 3);
}

TEST(NvtxOperation, OtherTextsStayWhole) {
  for (const char* text : {"", "step 3", "load, then run", "a, seq = x", "a, seq = 1, more = 2",
                           "f(a, b), op_id = ", "a, sizes = [[1, 2]", ", seq = 1"}) {
    const auto part = cut_nvtx_operation(text);
    EXPECT_EQ(part.name, text);
    EXPECT_EQ(part.sequence, -1) << text;
    EXPECT_EQ(part.shapes, "") << text;
  }
}

}  // namespace gf
