#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analyze/work/kernel_traits.h"
#include "analyze/work/rules.h"
#include "support/capture_builder.h"

namespace gf::work {
namespace {

/// The work of a call as the profiler would have recorded it.
struct Recorded {
  const char *name, *shapes, *types, *values = "", *strides = "";
};

std::optional<Work> work_of(const Recorded& call, const Program& program = {}) {
  test::CaptureBuilder build;
  const auto op = build.op(call.name, 0, 10);
  auto& ops = build.capture.host_ops;
  ops.shapes[op] = build.capture.strings.intern(call.shapes);
  auto& strings = build.capture.strings;
  ops.types[op] = strings.intern(call.types);
  ops.values[op] = strings.intern(call.values);
  ops.strides[op] = strings.intern(call.strides);
  const auto read = call_of(build.capture, op);
  const Rule* rule = rule_of(call.name);
  if (!read || !rule) return std::nullopt;
  return rule->work(*read, program);
}

constexpr const char* kBf16Pair = R"(["c10::BFloat16","c10::BFloat16"])";

TEST(WorkRules, Products) {
  const auto mm = work_of({"aten::mm", "[[4, 3], [3, 5]]", kBf16Pair});
  ASSERT_TRUE(mm);
  EXPECT_EQ(mm->flops, 2 * 4 * 3 * 5);
  EXPECT_EQ(mm->bytes, 2 * (12 + 15 + 20));
  const auto addmm = work_of({"aten::addmm", "[[5], [4, 3], [3, 5], [], []]",
                              R"(["float","float","float","Scalar","Scalar"])"});
  ASSERT_TRUE(addmm);
  EXPECT_EQ(addmm->flops, 120);
  EXPECT_EQ(addmm->bytes, 4 * (5 + 12 + 15 + 20));
  const auto bmm = work_of({"aten::bmm", "[[2, 4, 3], [2, 3, 5]]", kBf16Pair});
  ASSERT_TRUE(bmm);
  EXPECT_EQ(bmm->flops, 2 * 120);
}

TEST(WorkRules, AConvolutionOfComplexNumbersIsFourOfRealOnes) {
  const auto forward = [](const char* types) {
    return work_of({"aten::convolution", "[[2, 8, 6, 6], [4, 8, 3, 3], [], [], [], [], [], [], []]",
                    types, R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])"});
  };
  const auto backward = [](const char* types) {
    return work_of(
        {"aten::convolution_backward",
         "[[2, 4, 6, 6], [2, 8, 6, 6], [4, 8, 3, 3], [], [], [], [], [], [], [], []]", types,
         R"(["","","","[0]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"])"});
  };
  const double real = 2.0 * 2 * 4 * 6 * 6 * 8 * 9;
  constexpr const char* kComplex =
      R"(["c10::complex<float>","c10::complex<float>","c10::complex<float>"])";
  const auto one = forward(R"(["float","float"])"), four = forward(kComplex);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(one->flops, real);
  EXPECT_EQ(four->flops, 4 * real);
  const auto back = backward(kComplex);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->flops, 2 * 4 * real);
}

// A 1x1 filter with stride 2 meets a quarter of the input.
TEST(WorkRules, WideStridesReadLess) {
  const auto bytes = [](const char* stride, const char* filter) {
    const auto shapes =
        fmt::format("[[2, 8, 6, 6], [4, 8, {0}, {0}], [], [], [], [], [], [], []]", filter);
    const auto values =
        fmt::format(R"(["","","","[{0}, {0}]","[0, 0]","[1, 1]","False","[0, 0]","1"])", stride);
    const auto conv = work_of({"aten::convolution", shapes.c_str(),
                               R"(["float","float","","","","","","",""])", values.c_str()});
    return conv ? conv->bytes : 0;
  };
  EXPECT_EQ(bytes("1", "1"), 4 * (2 * 8 * 36 + 32 + 2 * 4 * 36));
  EXPECT_EQ(bytes("2", "1"), 4 * (2 * 8 * 9 + 32 + 2 * 4 * 9));
  EXPECT_EQ(bytes("3", "2"), 4 * (2 * 8 * 16 + 128 + 2 * 4 * 4));
  EXPECT_EQ(bytes("2", "2"), 4 * (2 * 8 * 36 + 128 + 2 * 4 * 9));
}

// As profilers write it that break lines inside lists.
TEST(WorkRules, TextsOfSeveralLines) {
  const auto conv = work_of(
      {"aten::convolution", "[\n [1, 3,\n 8, 8\n],\n [4, 3, 3, 3],\n [], [], [], [], [], [], []]",
       "[\n\"float\",\n\"float\", \"\", \"ScalarList\", \"ScalarList\", \"ScalarList\", "
       "\"Scalar\", "
       "\"ScalarList\", \"Scalar\"]",
       "[\"\", \"\", \"\",\n\"[1, 1]\", \"[1, 1]\", \"[1, 1]\", \"False\", \"[0, 0]\", \"1\"\n]"});
  ASSERT_TRUE(conv);
  EXPECT_EQ(conv->flops, 2.0 * 64 * 4 * 27);
}

TEST(WorkRules, SizesThatDoNotFitAreNoProduct) {
  EXPECT_FALSE(work_of({"aten::mm", "[[4, 3], [4, 5]]", kBf16Pair}));
  EXPECT_FALSE(work_of({"aten::mm", "[[4, 3]]", kBf16Pair}));
  EXPECT_FALSE(work_of({"aten::mm", "[[4, 3], [3", kBf16Pair}));
  EXPECT_FALSE(work_of({"aten::mm", "", kBf16Pair}));
}

// ResNet-50's stem: 112 x 112 positions, 64 filters of 7 x 7 x 3.
TEST(WorkRules, ConvolutionForwardAndBackward) {
  const char* types = R"(["float","float","","ScalarList","ScalarList","ScalarList",)"
                      R"("Scalar","ScalarList","Scalar"])";
  const auto stem =
      work_of({"aten::convolution", "[[1, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []]",
               types, R"(["","","","[2, 2]","[3, 3]","[1, 1]","False","[0, 0]","1"])"});
  ASSERT_TRUE(stem);
  EXPECT_EQ(stem->flops, 2.0 * 118'013'952);
  EXPECT_EQ(stem->bytes, 4.0 * (3 * 224 * 224 + 64 * 147 + 64 * 112 * 112));

  const char* backward_types =
      R"(["float","float","float","","ScalarList","ScalarList","ScalarList",)"
      R"("Scalar","ScalarList","Scalar","ScalarList"])";
  const char* shapes =
      "[[1, 64, 112, 112], [1, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], [], []]";
  const auto weight_only = work_of(
      {"aten::convolution_backward", shapes, backward_types,
       R"(["","","","","[2, 2]","[3, 3]","[1, 1]","False","[0, 0]","1","[False, True, False]"])"});
  ASSERT_TRUE(weight_only);
  EXPECT_EQ(weight_only->flops, 2.0 * 118'013'952);
  const auto both = work_of(
      {"aten::convolution_backward", shapes, backward_types,
       R"(["","","","","[2, 2]","[3, 3]","[1, 1]","False","[0, 0]","1","[True, True, False]"])"});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->flops, 4.0 * 118'013'952);
}

TEST(WorkRules, ConvolutionOfGroupsAndTransposed) {
  const char* types = R"(["float","float","","ScalarList","ScalarList","ScalarList",)"
                      R"("Scalar","ScalarList","Scalar"])";
  const auto depthwise =
      work_of({"aten::convolution", "[[2, 8, 6, 6], [8, 1, 3, 3], [], [], [], [], [], [], []]",
               types, R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","8"])"});
  ASSERT_TRUE(depthwise);
  EXPECT_EQ(depthwise->flops, 2.0 * 2 * 36 * 8 * 9);
  const auto up =
      work_of({"aten::convolution", "[[2, 8, 6, 6], [8, 4, 2, 2], [], [], [], [], [], [], []]",
               types, R"(["","","","[2, 2]","[0, 0]","[1, 1]","True","[0, 0]","1"])"});
  ASSERT_TRUE(up);
  EXPECT_EQ(up->flops, 2.0 * 2 * 36 * 8 * 4 * 4);
  EXPECT_EQ(up->bytes, 4.0 * (2 * 8 * 36 + 8 * 4 * 4 + 2 * 4 * 12 * 12));
}

TEST(WorkRules, ConvolutionWithoutRecordedStrideIsNotGuessed) {
  EXPECT_FALSE(
      work_of({"aten::convolution", "[[1, 3, 224, 224], [64, 3, 7, 7]]", R"(["float","float"])"}));
}

// The figures of docs/work.md: a layer of BERT-base and one of Llama 2 7B.
TEST(WorkRules, AttentionByHand) {
  const char* types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])";
  const auto bert = work_of({"aten::_scaled_dot_product_flash_attention",
                             "[[1, 12, 128, 64], [1, 12, 128, 64], [1, 12, 128, 64]]", types});
  ASSERT_TRUE(bert);
  EXPECT_EQ(bert->flops, 50'331'648);
  const auto llama =
      work_of({"aten::_scaled_dot_product_cudnn_attention",
               "[[1, 32, 4096, 128], [1, 32, 4096, 128], [1, 32, 4096, 128]]", types});
  ASSERT_TRUE(llama);
  EXPECT_EQ(llama->flops, 274'877'906'944);
  const auto backward =
      work_of({"aten::_scaled_dot_product_flash_attention_backward",
               "[[1, 12, 128, 64], [1, 12, 128, 64], [1, 12, 128, 64], [1, 12, 128, 64]]",
               R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16"])"});
  ASSERT_TRUE(backward);
  EXPECT_EQ(backward->flops, 2.5 * 50'331'648);
  EXPECT_EQ(backward->recomputed, 0.5 * 50'331'648);
}

double product(std::int64_t m, std::int64_t k, std::int64_t n) {
  const auto shapes = fmt::format("[[{}, {}], [{}, {}]]", m, k, k, n);
  const auto work = work_of({"aten::mm", shapes.c_str(), kBf16Pair});
  return work ? work->flops : NAN;
}

double attention(std::int64_t heads, std::int64_t tokens, std::int64_t width) {
  const auto one = fmt::format("[1, {}, {}, {}]", heads, tokens, width);
  const auto shapes = fmt::format("[{0}, {0}, {0}]", one);
  const auto work = work_of({"aten::_scaled_dot_product_flash_attention", shapes.c_str(),
                             R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])"});
  return work ? work->flops : NAN;
}

// The sums of docs/work.md, each layer out of its operators as PyTorch calls them.
TEST(WorkRules, LayersByHand) {
  const double bert = 4 * product(128, 768, 768) + attention(12, 128, 64) +
                      product(128, 768, 3072) + product(128, 3072, 768);
  EXPECT_EQ(bert, 1'862'270'976);
  const double llama = 4 * product(4096, 4096, 4096) + attention(32, 4096, 128) +
                       2 * product(4096, 4096, 11008) + product(4096, 11008, 4096);
  EXPECT_EQ(llama, 1'932'735'283'200);
}

TEST(WorkRules, BroadcastsLieInMemoryOnce) {
  const auto add = work_of({"aten::add", "[[8, 16], [8, 16], []]", R"(["float","float","Scalar"])",
                            "", "[[16, 1], [0, 1], []]"});
  ASSERT_TRUE(add);
  EXPECT_EQ(add->bytes, 4.0 * (128 + 16 + 128));
  EXPECT_EQ(add->other_flops, 128);
}

TEST(WorkRules, InPlaceNamesAndOptimisers) {
  EXPECT_EQ(rule_of("aten::add_"), rule_of("aten::add"));
  EXPECT_NE(rule_of("aten::copy_"), nullptr);
  EXPECT_EQ(rule_of("aten::linear"), nullptr);
  const auto adam =
      work_of({"aten::_fused_adamw_", "[[], []]", R"(["TensorList","TensorList"])"}, {1000, 4000});
  ASSERT_TRUE(adam);
  EXPECT_EQ(adam->bytes, 7 * 4000);
}

TEST(WorkRules, GeneratedKernels) {
  const auto fused = work_of({"triton_poi_fused_add_relu_48", "[[64, 32], [64, 32], []]",
                              R"(["c10::BFloat16","c10::BFloat16","Scalar"])"});
  ASSERT_TRUE(fused);
  EXPECT_EQ(fused->bytes, 2 * 2 * 64 * 32);
  EXPECT_EQ(fused->other_flops, 2 * 64 * 32);
  const auto product = work_of({"triton_tem_fused_addmm_3", "[[16], [8, 4], [4, 16], [8, 16]]",
                                R"(["float","float","float","float"])"});
  ASSERT_TRUE(product);
  EXPECT_EQ(product->flops, 2 * 8 * 4 * 16);
}

TEST(WorkRules, TilesOfKernels) {
  const auto tile = tile_of("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT");
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->m, 256);
  EXPECT_EQ(tile->n, 128);
  EXPECT_EQ(tile->k, 64);
  EXPECT_EQ(tile_of("sm80_xmma_gemm_f32f32_tilesize128x64x8_stage3")->k, 8);
  EXPECT_FALSE(tile_of("vectorized_elementwise_kernel<4, at::native>"));
  // 300 x 100 under tiles of 256 x 128: two by one, or, turned, three by one of 128 x 256.
  const Product product{1, 300, 100, 64};
  EXPECT_EQ(covered_flops(product, *tile), 2.0 * std::min(512 * 128, 384 * 256) * 64);
  EXPECT_TRUE(
      multiplies(kernel_word("cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_64x3_nn_align2")));
  EXPECT_FALSE(multiplies(kernel_word("void splitKreduce_kernel<32, 16, int, float>")));
}

TEST(WorkRules, NumberTypesOfProducts) {
  EXPECT_EQ(number_type(Element::fp32, kernel_word("sm80_xmma_gemm_f32f32_tf32f32_f32")),
            Element::tf32);
  EXPECT_EQ(number_type(Element::fp32, kernel_word("ampere_sgemm_128x64_tn")), Element::fp32);
  EXPECT_EQ(number_type(Element::bf16, kernel_word("nvjet_tst")), Element::bf16);
  EXPECT_EQ(number_type(Element::int64, kernel_word("gemm")), Element::none);
}

// Sizes that no program has must not trap.
TEST(WorkRules, HostileSizes) {
  for (const char* shapes :
       {"[[9223372036854775807, 9223372036854775807], [9223372036854775807, 2]]",
        "[[-1, -5], [-5, -1]]", "[[1e9, 2], [2, 3]]", "[[[[[[[[1]]]]]]]]", "[", "[[],[]]"}) {
    const auto work = work_of({"aten::mm", shapes, kBf16Pair});
    if (work) {
      EXPECT_GE(work->bytes, 0);
    }
  }
  (void)work_of({"aten::convolution", "[[1, 3, 4611686018427387904, 2], [64, 3, 7, 7]]",
                 R"(["float","float","","","","","","",""])",
                 R"(["","","","[0, -3]","[4611686018427387904, 1]","[1, 1]","x","[0]","-1"])"});
}

}  // namespace
}  // namespace gf::work
