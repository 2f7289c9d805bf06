// The vocabulary of names: every row can be reached, and the finder of rows finds what a plain loop
// over all of them does.
#include "analyze/vocabulary.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/traits.h"
#include "core/text.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

constexpr std::array kKinds{NameKind::host, NameKind::call, NameKind::kernel, NameKind::module,
                            NameKind::fused};

NameWord by_plain_loop(NameKind kind, std::string_view text) {
  NameWord traits = 0;
  auto layer = LayerType::other;
  for (const auto& row : name_rows(kind)) {
    if (!name_matches(row.pattern, text)) continue;
    traits |= row.traits;
    if (layer == LayerType::other) layer = row.layer;
  }
  return traits | static_cast<NameWord>(layer) << kTraitBits;
}

/// The shortest text that a pattern matches.
std::string shortest(std::string_view pattern) {
  std::string text;
  for (const char letter : pattern)
    if (letter != '*' && letter != '~') text += letter;
  return text;
}

TEST(Vocabulary, EveryRowMatchesWhatItSays) {
  for (const auto kind : kKinds)
    for (const auto& row : name_rows(kind)) {
      EXPECT_TRUE(name_matches(row.pattern, shortest(row.pattern))) << row.pattern;
      EXPECT_FALSE(row.seen.empty()) << row.pattern;
      EXPECT_TRUE(row.traits != 0 || row.layer != LayerType::other) << row.pattern;
      for (const char letter : row.pattern)
        EXPECT_FALSE(letter >= 'A' && letter <= 'Z') << row.pattern;
    }
}

// Of rows with a layer type the first decides: a row behind one that matches all that it does says
// nothing.
TEST(Vocabulary, NoRowIsShadowed) {
  for (const auto kind : kKinds) {
    std::set<std::pair<std::string_view, NameWord>> patterns;
    std::vector<NameRow> before;
    for (const auto& row : name_rows(kind)) {
      EXPECT_TRUE(patterns.insert({row.pattern, 0}).second) << row.pattern << " twice";
      if (row.layer == LayerType::other) continue;
      for (const auto& earlier : before)
        EXPECT_FALSE(glob_match(earlier.pattern, row.pattern))
            << row.pattern << " behind " << earlier.pattern;
      before.push_back(row);
    }
  }
}

/// Texts like those of captures: pieces of patterns, put together, cut and changed.
std::string random_text(std::mt19937& random, NameKind kind) {
  const auto rows = name_rows(kind);
  std::string text;
  for (auto pieces = random() % 4; pieces-- > 0;) {
    std::string piece = shortest(rows[random() % rows.size()].pattern);
    if (!piece.empty() && random() % 3 == 0) piece.erase(random() % piece.size(), 1);
    text += piece;
    if (random() % 4 == 0) text += "_:<* "[random() % 5];
  }
  for (auto more = random() % 4; more-- > 0;) text += static_cast<char>(random() % 256);
  for (auto underlines = random() % 3; underlines-- > 0;) text += '_';
  return text;
}

TEST(Vocabulary, FinderEqualsAPlainLoop) {
  std::mt19937 random(11);
  for (const auto kind : kKinds) {
    for (const auto& row : name_rows(kind)) {
      const auto text = shortest(row.pattern);
      EXPECT_EQ(word_of(kind, text), by_plain_loop(kind, text)) << text;
    }
    for (int i = 0; i < 4'000; ++i) {
      const auto text = random_text(random, kind);
      EXPECT_EQ(word_of(kind, text), by_plain_loop(kind, text)) << text;
    }
  }
}

TEST(Vocabulary, Operators) {
  EXPECT_TRUE(host_word("aten::select") & host_is::view);
  EXPECT_TRUE(host_word("aten::add_") & host_is::adds);
  EXPECT_FALSE(host_word("aten::address") & host_is::adds);
  EXPECT_TRUE(host_word("aten::index_put_") & host_is::puts);
  EXPECT_TRUE(host_word("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__") &
              host_is::input);
  EXPECT_TRUE(host_word("ProfilerStep#5") & host_is::step);
  EXPECT_TRUE(host_word("Optimizer.step#SGD.step") & host_is::mark);
  EXPECT_TRUE(host_word("torch/_dynamo/convert_frame.py(44): compile") & host_is::one_off);
  EXPECT_FALSE(host_word("torch/_inductor/graph.py(12): run") & host_is::one_off);
  EXPECT_TRUE(host_word("gloo:all_reduce") & host_is::host_transport);
}

TEST(Vocabulary, ScopesOfTheUser) {
  for (const std::string_view scope : {"encoder", "my scope"})
    EXPECT_FALSE(host_word(scope) & host_is::no_scope) << scope;
  for (const std::string_view none :
       {"", "train 12", "step#3", "ProfilerStep#1", "Optimizer.step#SGD.step", "[pl][profile]run",
        "nn.Module: Linear_0", "aten::linear", "## forward ##"})
    EXPECT_TRUE(host_word(none) & host_is::no_scope) << none;
}

TEST(Vocabulary, Calls) {
  EXPECT_TRUE(call_word("cuModuleLoadDataEx") & call_is::one_off);
  EXPECT_TRUE(call_word("cudaGraphInstantiate_v12000") & call_is::instantiates);
  EXPECT_TRUE(call_word("hipStreamWaitEvent") & call_is::stream_wait);
  EXPECT_TRUE(call_word("cuLaunchKernel") & call_is::driver_launch);
  EXPECT_FALSE(call_word("cudaLaunchKernel") & call_is::driver_launch);
}

TEST(Vocabulary, Kernels) {
  for (const std::string_view sends :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "mcclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",
        "hcom_broadcast__158_0_1", "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)",
        "oneccl_allreduce_pcie<sycl::half>", "EpDispatchIntraNodeKernel_bf16",
        "void mori::moe::EpCombineInterNodeKernel<hip_bfloat16>(int)",
        "tensorrt_llm::kernels::mnnvl_throughput::moeA2ADispatchKernel(int const*)",
        "void (anonymous namespace)::multimem_all_gather_kernel<16>(char*)",
        "void stream_executor::gpu::(anonymous namespace)::RaggedAllToAllKernelImpl<long>()"})
    EXPECT_TRUE(communicates(kernel_word(sends))) << sends;
  for (const std::string_view local :
       {"void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)",
        "moeA2APrepareCombineKernel", "triton_poi_fused_all_gather_copy_0", "StepDispatch"})
    EXPECT_FALSE(communicates(kernel_word(local))) << local;
  EXPECT_TRUE(kernel_word("triton_poi_fused_add_0") & kernel_is::compiler_made);
  EXPECT_TRUE(kernel_word("cupy_add__float64") & kernel_is::fp64);
  // The types of parameters say nothing of what a kernel does, nor does a library's name.
  EXPECT_FALSE(kernel_word("render(gemm_params *)") & kernel_is::product);
  EXPECT_FALSE(kernel_word("void fbgemm_gpu::permute_2D_data_kernel<long>") & kernel_is::product);
  EXPECT_EQ(layer_in(kernel_word("triton_poi_fused__to_copy_view_3")), LayerType::copy);
}

// Of a mixture of experts most kernels move tokens; the namespace of one library is
// cutlass_kernels.
TEST(Vocabulary, KernelsBesideTheProductsOfExperts) {
  const std::pair<std::string_view, LayerType> known[] = {
      {"void tensorrt_llm::kernels::cutlass_kernels::expandInputRowsKernel<__nv_bfloat16>",
       LayerType::data_movement},
      {"void tensorrt_llm::cutlass_kernels::finalizeMoeRoutingKernel<__nv_bfloat16>",
       LayerType::data_movement},
      {"void tensorrt_llm::cutlass_kernels::doActivationKernel<__nv_bfloat16>",
       LayerType::activation},
      {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<int>>", LayerType::matmul},
      {"void sgl_kernel::moe_align_block_size_kernel<int>", LayerType::data_movement},
      {"void per_token_group_quant_8bit_kernel<c10::BFloat16>", LayerType::copy},
      {"_lora_shrink_kernel", LayerType::matmul},
      {"_row_id_map_pass_1_kernel", LayerType::data_movement},
      {"chunk_scaled_dot_kkt_fwd_kernel", LayerType::recurrent},
      {"void soft_max_f32<true, 1024, 1024>", LayerType::softmax},
      {"triton_for_fused_0", LayerType::elementwise},
      {"triton_spl_fused_cumsum_exp_sub_3", LayerType::reduction},
      {"void wvSplitK_hf_sml_<__hip_bfloat16, 64>", LayerType::matmul},
      {"void tensorrt_llm::kernels::fusedQKNormRopeKernel<128>", LayerType::elementwise}};
  for (const auto& [name, layer] : known) EXPECT_EQ(layer_in(kernel_word(name)), layer) << name;
}

TEST(Vocabulary, WordsOfACapture) {
  test::CaptureBuilder builder;
  builder.op("aten::item", 0, 10);
  builder.call(ApiKind::sync, "cudaStreamWaitEvent", 1, 2, 1);
  builder.kernel("sgemm", 3, 4);
  const Names names(builder.capture);
  EXPECT_TRUE(names.host(builder.capture.host_ops.name[0]) & host_is::waits);
  EXPECT_TRUE(names.call(builder.capture.api_calls.name[0]) & call_is::stream_wait);
  EXPECT_TRUE(names.kernel(builder.capture.activities.name[0]) & kernel_is::product);
}

}  // namespace
}  // namespace gf
