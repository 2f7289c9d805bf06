// Operators inside operators: which of them a kernel's work is counted by.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/work/kernel_work.h"
#include "analyze/work/work.h"
#include "support/capture_builder.h"

namespace gf::work {
namespace {

/// An operator, or a kernel where there are no sizes; inside the ones above it that stand less far
/// to the right.
struct Nested {
  int depth;
  const char* name;
  const char* shapes = "";
  const char* types = R"(["float","float"])";
  const char* values = "";
  const char* strides = "";
};

struct Counted {
  double flops, other, bytes;
};

test::CaptureBuilder recorded_tree(const std::vector<Nested>& tree) {
  test::CaptureBuilder build;
  build.capture.framework = "pytorch";
  auto& ops = build.capture.host_ops;
  auto intern = [&](std::string_view text) { return build.capture.strings.intern(text); };
  std::vector<std::pair<int, std::uint32_t>> open;  // depth and row
  Nanos now = 0, device = 1'000'000;
  const auto close = [&](int depth) {
    for (; !open.empty() && open.back().first >= depth; open.pop_back())
      ops.duration_ns[open.back().second] = (now += 10) - ops.start_ns[open.back().second];
  };
  for (const auto& nested : tree) {
    close(nested.depth);
    now += 10;
    if (std::string_view(nested.name).starts_with("kernel")) {
      build.launch(nested.name + 7, {now, now + 5}, {device, device + 1000});
      device += 2000;
      now += 10;
      continue;
    }
    const auto row = build.op(nested.name, now, now);
    ops.shapes[row] = intern(nested.shapes);
    ops.types[row] = intern(nested.types);
    ops.values[row] = intern(nested.values);
    ops.strides[row] = intern(nested.strides);
    open.emplace_back(nested.depth, row);
  }
  close(0);
  return build;
}

/// The work of each kernel.
std::vector<Counted> counted(const std::vector<Nested>& tree) {
  const auto build = recorded_tree(tree);
  std::optional<Context> context;
  const auto analysis = analyze(build.capture, {}, &context);
  EXPECT_TRUE(analysis);
  std::vector<Counted> found;
  const KernelWorks works = kernel_works(*context);
  for (std::size_t i = 0; i < works.kernels.size(); ++i)
    found.push_back({works.kernels[i].flops, works.kernels[i].other_flops, works.kernels[i].bytes});
  return found;
}

constexpr const char* kGemm = "kernel ampere_sgemm_128x64_tn";
constexpr const char* kMoves = "kernel vectorized_elementwise_kernel";

TEST(WorkNesting, ARankCountsItsShardOfATensorParallelProduct) {
  const auto found = counted({{0, "aten::linear", "[[64, 128], [256, 128], []]"},
                              {1, "aten::mm", "[[64, 128], [128, 256]]"},
                              {2, "PythonSubclass", "[[64, 128], [128, 256]]"},
                              {3, "aten::mm", "[[64, 128], [128, 32]]"},
                              {4, kGemm}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].flops, 2.0 * 64 * 128 * 32);
  EXPECT_EQ(found[0].bytes, 4.0 * (64 * 128 + 128 * 32 + 64 * 32));
}

/// Equal works are kept once, and those that are not must stay apart, however many they are.
TEST(WorkNesting, EachOfManyKernelsKeepsItsOwnWork) {
  constexpr int kSizes = 6000;
  std::vector<std::string> sizes;
  for (int m = 1; m <= kSizes; ++m) sizes.push_back(fmt::format("[[{}, 8], [8, 8]]", m));
  std::vector<Nested> tree;
  for (int lap = 0; lap < 2; ++lap)
    for (const auto& size : sizes) {
      tree.push_back({0, "aten::mm", size.c_str()});
      tree.push_back({1, kGemm});
      tree.push_back({0, kMoves});
    }
  const auto found = counted(tree);
  ASSERT_EQ(found.size(), 4u * kSizes);
  for (std::size_t i = 0; i < found.size(); i += 2) {
    const auto m = static_cast<double>(i / 2 % kSizes + 1);
    ASSERT_EQ(found[i].flops, 2 * m * 8 * 8) << i;
    ASSERT_EQ(found[i].bytes, 4 * (m * 8 + 8 * 8 + m * 8)) << i;
    ASSERT_EQ(found[i + 1].flops, 0) << i;
    ASSERT_EQ(found[i + 1].bytes, 0) << i;
  }
}

/// The profiler writes no strides for a sparse matrix, whose elements nobody counts.
TEST(WorkNesting, ASparseProductIsNotADenseOne) {
  const char* sizes = "[[64, 128], [128, 256]]";
  const char* types = R"(["float","float"])";
  const auto found = counted({{0, "aten::mm", sizes, types, "", "[[128, 1], [256, 1]]"},
                              {1, kGemm},
                              {0, "aten::mm", sizes, types, "", "[[], [256, 1]]"},
                              {1, "kernel cusparse::csrmm_v2_kernel"},
                              {0, "aten::mm", sizes},
                              {1, kGemm}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].flops, 2.0 * 64 * 128 * 256);
  EXPECT_EQ(found[1].flops, 0);
  EXPECT_EQ(found[2].flops, found[0].flops) << "strides that nobody recorded say nothing";
}

TEST(WorkNesting, RedistributionInsideAProductIsWorkOfItsOwn) {
  const auto found =
      counted({{0, "aten::mm", "[[64, 128], [128, 256]]"},
               {1, "PythonSubclass", "[[64, 128], [128, 256]]"},
               {2, "_c10d_functional::all_gather_into_tensor", "[[32, 128]]"},
               {3, "kernel ncclDevKernel_AllGather_RING_LL"},
               {2, "aten::cat", "[[[32, 128], [32, 128]], []]", R"(["TensorList","Scalar"])"},
               {3, kMoves},
               {2, "aten::mm", "[[64, 128], [128, 128]]"},
               {3, kGemm}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].flops + found[1].flops, 0);
  EXPECT_EQ(found[2].flops, 2.0 * 64 * 128 * 128);
}

TEST(WorkNesting, ElementwiseAndNormsOfAShardToo) {
  const auto found =
      counted({{0, "aten::add", "[[64, 128], [64, 128]]"},
               {1, "PythonSubclass", "[[64, 128], [64, 128]]"},
               {2, "aten::add", "[[32, 128], [32, 128]]"},
               {3, kMoves},
               {0, "aten::_log_softmax", "[[64, 1024], []]"},
               {1, "PythonSubclass", "[[64, 1024], []]"},
               {2, "aten::amax", "[[64, 512], []]", R"(["float","ScalarList"])", R"(["","[1]"])"},
               {3, kMoves},
               {2, "aten::exp", "[[64, 512]]"},
               {3, kMoves}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].other, 32 * 128);
  EXPECT_EQ(found[1].other, 64 * 512) << "another way to the result: the parts that ran";
  EXPECT_EQ(found[2].other, 64 * 512);
}

TEST(WorkNesting, AQuantizedWeightsProductIsTheOneThatRan) {
  const auto found = counted({{0, "aten::mm", "[[64, 128], [128, 256]]"},
                              {1, "PythonSubclass", "[[64, 128], [128, 256]]"},
                              {2, "aten::abs", "[[64, 128]]"},
                              {3, kMoves},
                              {2, "aten::_scaled_mm", "[[64, 128], [128, 256]]",
                               R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn"])"},
                              {3, kGemm}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].other, 64 * 128);
  EXPECT_EQ(found[1].flops, 2.0 * 64 * 128 * 256);
  EXPECT_EQ(found[1].bytes, 64 * 128 + 128 * 256 + 2.0 * 64 * 256) << "of one byte each";
}

TEST(WorkNesting, AKernelOfACustomOperatorKeepsTheProductAroundIt) {
  const auto found = counted({{0, "aten::mm", "[[64, 128], [128, 256]]"},
                              {1, "PythonSubclass", "[[64, 128], [128, 256]]"},
                              {2, "torchao::int8_mm", "[[64, 128], [128, 256]]"},
                              {3, kGemm}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].flops, 2.0 * 64 * 128 * 256);
}

TEST(WorkNesting, ATransformCallsWithOtherSizes) {
  const auto found = counted({{0, "aten::mm", "[[4, 3], [3, 5]]"},
                              {1, "aten::matmul", "[[8, 4, 3], [8, 3, 5]]"},
                              {2, "aten::bmm", "[[8, 4, 3], [8, 3, 5]]"},
                              {3, kGemm},
                              {0, "aten::add", "[[4], [4]]"},
                              {1, "aten::add", "[[8, 4], [8, 4]]"},
                              {2, kMoves}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].flops, 8 * 2.0 * 4 * 3 * 5);
  EXPECT_EQ(found[1].other, 32);
}

TEST(WorkNesting, GroupsOneByOneAreTheirOwnProducts) {
  const auto found = counted({{0, "aten::_grouped_mm", "[[96, 16], [3, 16, 8], [3]]"},
                              {1, "aten::mm", "[[64, 16], [16, 8]]"},
                              {2, kGemm},
                              {1, "aten::mm", "[[32, 16], [16, 8]]"},
                              {2, kGemm}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].flops, 2.0 * 64 * 16 * 8);
  EXPECT_EQ(found[1].flops, 2.0 * 32 * 16 * 8);
}

TEST(WorkNesting, CompositesCountOnceWithAllTheirKernels) {
  constexpr const char* kConvolution = "[[2, 8, 6, 6], [4, 8, 3, 3], [4], [], [], [], [], [], []]";
  const auto convolution = counted(
      {{0, "aten::convolution", kConvolution, R"(["float","float","float","","","","","",""])",
        R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])"},
       {1, "aten::_convolution", kConvolution, R"(["float","float","float","","","","","",""])",
        R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])"},
       {2, "aten::contiguous"},
       {3, "aten::copy_", "[[2, 8, 6, 6], [2, 8, 6, 6]]"},
       {4, kMoves},
       {2, "aten::cudnn_convolution", "[[2, 8, 6, 6], [4, 8, 3, 3], [], [], [], []]",
        R"(["float","float","","","",""])", R"(["","","[1, 1]","[1, 1]","[1, 1]","1"])"},
       {3, "kernel sm80_xmma_fprop_implicit_gemm"},
       {2, "aten::add_", "[[2, 4, 6, 6], [1, 4, 1, 1]]"},
       {3, kMoves}});
  ASSERT_EQ(convolution.size(), 3u);
  EXPECT_EQ(convolution[1].flops, 2.0 * 2 * 36 * 9 * 4 * 8);
  EXPECT_EQ(convolution[0].flops + convolution[2].flops, 0);
  EXPECT_EQ(convolution[0].other + convolution[2].other, 0) << "how a convolution is done";
  const auto attention = counted(
      {{0, "aten::scaled_dot_product_attention",
        "[[2, 4, 64, 32], [2, 4, 64, 32], [2, 4, 64, 32]]"},
       {1, "aten::_scaled_dot_product_flash_attention",
        "[[2, 4, 64, 32], [2, 4, 64, 32], [2, 4, 64, 32]]",
        R"(["c10::Half","c10::Half","c10::Half"])"},
       {2, "aten::_flash_attention_forward", "[[2, 64, 4, 32], [2, 64, 4, 32], [2, 64, 4, 32]]",
        R"(["c10::Half","c10::Half","c10::Half"])"},
       {3, "kernel flash_fwd_kernel"}});
  ASSERT_EQ(attention.size(), 1u);
  EXPECT_EQ(attention[0].flops, 2.0 * 8 * 64 * 64 * 64);
}

TEST(WorkNesting, LibrariesOfConvolutionsNameTheirPaddingFirst) {
  for (const char* name : {"aten::miopen_convolution", "aten::mkldnn_convolution"}) {
    const auto found = counted(
        {{0, name, "[[2, 8, 6, 6], [4, 8, 3, 3], [], [], [], [], []]",
          R"(["float","float","","","","",""])", R"(["","","","[0, 0]","[1, 1]","[1, 1]","1"])"},
         {1, "kernel implicit_gemm"}});
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_EQ(found[0].flops, 2.0 * 2 * 16 * 9 * 4 * 8) << name;
  }
}

TEST(WorkNesting, BackwardAndRecomputationCountAsOftenAsTheyRan) {
  const auto found = counted({{0, "autograd::engine::evaluate_function: AddmmBackward0"},
                              {1, "AddmmBackward0", "[[64, 32]]"},
                              {2, "aten::mm", "[[64, 32], [32, 128]]"},
                              {3, kGemm},
                              {0, "CheckpointFunctionBackward"},
                              {1, "aten::mm", "[[64, 32], [32, 128]]"},
                              {2, kGemm}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].flops, 2.0 * 64 * 32 * 128);
  EXPECT_EQ(found[1].flops, 2.0 * 64 * 32 * 128);
}

TEST(WorkNesting, ParametersOfARankAreThoseOfItsShards) {
  const auto build = recorded_tree({{0, "torch::autograd::AccumulateGrad", "[[256, 128]]"},
                                    {1, "aten::detach", "[[256, 128]]"},
                                    {2, "PythonSubclass", "[[256, 128]]"},
                                    {3, "aten::detach", "[[128, 128]]"},
                                    {0, "torch::autograd::AccumulateGrad", "[[10, 10]]"},
                                    {1, "aten::detach", "[[10, 10]]"},
                                    {0, "aten::add", "[[8], [8]]"},
                                    {1, kMoves}});
  std::optional<Context> context;
  ASSERT_TRUE(analyze(build.capture, {}, &context));
  EXPECT_EQ(program_of(*context).parameters, 128 * 128 + 100);
}

}  // namespace
}  // namespace gf::work
