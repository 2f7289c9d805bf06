// Attribution: operations, forward operations, modules, phases, layer types.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "analyze/analyze.h"
#include "analyze/attribution/attribution.h"
#include "analyze/call_tree.h"
#include "analyze/layers/layer_type.h"
#include "analyze/layers/layers.h"
#include "import/importer.h"
#include "model/launches.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

Context analysed(const Capture& capture) {
  std::optional<Context> context;
  EXPECT_TRUE(analyze(capture, {}, &context).has_value());
  return std::move(*context);
}

std::string_view op_name(const Context& context, std::uint32_t row) {
  if (row == kNoRow) return "";
  return context.capture.text(context.capture.host_ops.name[row]);
}

struct Training : test::CaptureBuilder {
  // A convolution under a module, its backward on the autograd thread, an optimizer step.
  std::uint32_t forward, backward, step, memset_kernel;
  void sequence(std::uint32_t op, std::int64_t number, std::int32_t forward_thread) {
    capture.host_ops.sequence[op] = number;
    capture.host_ops.forward_thread[op] = forward_thread;
  }
  Training() {
    python("nn.Module: Net_0", 0, 100);
    python("torch/nn/modules/module.py(1): _call_impl", 1, 99);
    python("nn.Module: Conv2d_3", 2, 60);
    sequence(op("aten::to", 3, 4), 7, 0);  // shares the number, made no node
    sequence(op("aten::conv2d", 5, 50), 7, 0);
    sequence(op("aten::convolution", 6, 49), 7, 0);
    op("aten::cudnn_convolution", 8, 40);
    forward = launch("sm90_xmma_fprop", {10, 12}, {100, 200});
    sequence(op("autograd::engine::evaluate_function: ConvolutionBackward0", 200, 300, 101), 7, 1);
    sequence(op("ConvolutionBackward0", 201, 299, 101), 7, 1);
    op("aten::convolution_backward", 202, 298, 101);
    backward = launch("sm90_xmma_dgrad", {210, 212}, {220, 260}, 7, 0, 101);
    mark("Optimizer.step#SGD.step", 400, 500);
    op("aten::_foreach_add_", 401, 450);
    step = launch("multi_tensor_apply_kernel", {410, 412}, {420, 430});
  }
};

TEST(Attribution, ForwardBackwardAndOptimiser) {
  const Training training;
  const Context context = analysed(training.capture);
  const auto& attribution = context.attribution;
  EXPECT_EQ(op_name(context, attribution.op[training.forward]), "aten::cudnn_convolution");
  EXPECT_EQ(op_name(context, attribution.op[training.backward]), "aten::convolution_backward");
  EXPECT_EQ(op_name(context, attribution.forward_op[training.backward]), "aten::convolution")
      << "of the operations with one number the last to start made the node";
  EXPECT_EQ(attribution.forward_op[training.forward], kNoRow);
  EXPECT_EQ(attribution.modules[attribution.module[training.forward]], "Net_0.Conv2d_3");
  EXPECT_EQ(attribution.module[training.backward], attribution.module[training.forward]);
  EXPECT_EQ(attribution.module[training.step], 0u);
  EXPECT_EQ(attribution.phase[training.forward], 1);
  EXPECT_EQ(attribution.phase[training.backward], 2);
  EXPECT_EQ(attribution.phase[training.step], 3);
  EXPECT_EQ(attribution.layer[training.forward], LayerType::convolution);
  EXPECT_EQ(attribution.layer[training.backward], LayerType::convolution);
  EXPECT_EQ(attribution.layer[training.step], LayerType::optimiser);
  NamingOperations naming(training.capture, context.names, attribution);
  EXPECT_EQ(op_name(context, naming.of(attribution.op[training.forward])), "aten::conv2d");
  EXPECT_EQ(op_name(context, naming.of(attribution.op[training.backward])),
            "aten::convolution_backward");
  EXPECT_EQ(naming.of(kNoRow), kNoRow);
}

TEST(Attribution, AnOptimizersClosureRunsTheForwardPass) {
  test::CaptureBuilder b;
  b.mark("Optimizer.step#AdamW.step", 0, 500);
  const auto product = b.op("aten::linear", 10, 50);
  b.capture.host_ops.sequence[product] = 7;
  b.op("aten::addmm", 12, 40);
  const auto forward = b.launch("gemm", {20, 22}, {100, 200});
  b.op("aten::_foreach_add_", 401, 450);
  const auto update = b.launch("multi_tensor_apply_kernel", {410, 412}, {420, 430});
  const Context context = analysed(b.capture);
  EXPECT_EQ(context.attribution.phase[forward], 1);
  EXPECT_EQ(context.attribution.phase[update], 3);
}

TEST(Attribution, ParentsSkipPythonFrames) {
  test::CaptureBuilder builder;
  const auto outer = builder.op("outer", 0, 100);
  const auto frame = builder.python("nn.Module: A_0", 10, 90);
  const auto inner = builder.op("inner", 20, 80);
  const auto after = builder.op("after", 100, 110);
  const auto other_thread = builder.op("elsewhere", 30, 40, 7);
  builder.kernel("k", 0, 1);
  const Context context = analysed(builder.capture);
  EXPECT_EQ(context.attribution.op_parent[outer], kNoRow);
  EXPECT_EQ(context.attribution.op_parent[frame], outer);
  EXPECT_EQ(context.attribution.op_parent[inner], outer);
  EXPECT_EQ(context.attribution.op_parent[after], kNoRow)
      << "half-open: a span that ends at 100 is over at 100";
  EXPECT_EQ(context.attribution.op_parent[other_thread], kNoRow);
}

TEST(Attribution, ExternalIdWhereNoLaunchIsRecorded) {
  test::CaptureBuilder builder;
  const auto op = builder.op("aten::mm", 10, 20);
  builder.capture.host_ops.external_id[op] = 42;
  const auto kernel = builder.kernel("gemm", 100, 110);
  builder.capture.activities.external_id[kernel] = 42;
  const Context context = analysed(builder.capture);
  EXPECT_EQ(context.attribution.op[kernel], op);
  EXPECT_EQ(context.attribution.phase[kernel], 1);
  EXPECT_EQ(context.attribution.layer[kernel], LayerType::matmul);
}

TEST(Attribution, KernelsOfAGraphShareTheLaunch) {
  test::CaptureBuilder builder;
  const auto op = builder.op("replay", 0, 50);
  builder.call(ApiKind::graph_launch, "cudaGraphLaunch", 10, 20, 5);
  const auto k1 = builder.activity(ActivityKind::kernel, "a", 30, 40, 5),
             k2 = builder.activity(ActivityKind::kernel, "b", 40, 50, 5);
  const Context context = analysed(builder.capture);
  EXPECT_EQ(context.attribution.op[k1], op);
  EXPECT_EQ(context.attribution.op[k2], op);
}

TEST(Attribution, SeveralForwardThreadsAreToldApartByArrows) {
  test::CaptureBuilder builder;
  auto seq = [&](std::uint32_t op, std::int32_t forward_thread) {
    builder.capture.host_ops.sequence[op] = 3;
    builder.capture.host_ops.forward_thread[op] = forward_thread;
    return op;
  };
  auto arrow = [&](std::int64_t id, std::int64_t tid, Nanos time, bool finish) {
    const auto flows = builder.capture.flows.add();
    builder.capture.flows.id[flows] = id;
    builder.capture.flows.thread[flows] = builder.thread(tid);
    builder.capture.flows.time_ns[flows] = time;
    builder.capture.flows.finish[flows] = finish;
  };
  const auto one = seq(builder.op("aten::mm", 0, 10, 1), 0),
             two = seq(builder.op("aten::mm", 0, 10, 2), 0);
  arrow(1, 1, 0, false);
  arrow(2, 2, 0, false);
  seq(builder.op("autograd::engine::evaluate_function: MmBackward0", 20, 30, 9), 5);
  const auto k_two = builder.launch("gemm", {21, 22}, {23, 24}, 7, 0, 9);
  seq(builder.op("autograd::engine::evaluate_function: MmBackward0", 40, 50, 9), 4);
  const auto k_one = builder.launch("gemm", {41, 42}, {43, 44}, 7, 0, 9);
  arrow(2, 9, 20, true);
  arrow(1, 9, 40, true);
  const Context context = analysed(builder.capture);
  EXPECT_EQ(context.attribution.forward_op[k_two], two);
  EXPECT_EQ(context.attribution.forward_op[k_one], one);
}

TEST(Attribution, AScopeNamesItsPartUnlessItIsAroundMostOfTheWork) {
  test::CaptureBuilder builder;
  builder.mark("ProfilerStep#3", 0, 1000);
  builder.mark("whole step", 1, 999);
  builder.mark("encoder", 10, 100);
  const auto inside = builder.launch("a", {20, 21}, {30, 40});
  std::vector<std::uint32_t> outside;
  for (Nanos time = 200; time < 800; time += 100)
    outside.push_back(builder.launch("b", {time, time + 1}, {time + 10, time + 20}));
  const Context context = analysed(builder.capture);
  EXPECT_EQ(context.attribution.modules[context.attribution.module[inside]], "whole step.encoder");
  for (const auto kernel : outside) EXPECT_EQ(context.attribution.module[kernel], 0u);
}

// The profiler writes by itself which operation was open at a launch (External id) and which
// forward operation a backward one belongs to (arrows): independent checks of the nesting by time
// and of the sequence numbers.
TEST(Attribution, AgreesWithTheSourcesOwnLinks) {
  for (const std::string name : {"resnet50_amp_eager_b64", "resnet50_amp_compile_b64",
                                 "bert_amp_eager_b32", "lenet_train_b64", "lenet_inf_b1"}) {
    auto capture = import_file("examples/" + name + ".json.gz");
    ASSERT_TRUE(capture.has_value()) << capture.error().message();
    const Context context = analysed(*capture);
    const auto& ops = capture->host_ops;
    using Place = std::pair<std::uint32_t, Nanos>;  // thread and time
    std::map<std::int64_t, Place> tails;
    std::map<Place, std::int64_t> heads;
    for (std::size_t i = 0; i < capture->flows.size(); ++i) {
      const Place place{capture->flows.thread[i], capture->flows.time_ns[i]};
      if (capture->flows.finish[i])
        heads[place] = capture->flows.id[i];
      else
        tails[capture->flows.id[i]] = place;
    }
    std::map<std::int64_t, std::int64_t>
        arrow_of_sequence;  // an arrow ends at the operation inside evaluate_function
    for (std::uint32_t op = 0; op < ops.size(); ++op)
      if (const auto head = heads.find({ops.thread[op], ops.start_ns[op]});
          head != heads.end() && ops.forward_thread[op] > 0)
        arrow_of_sequence[ops.sequence[op]] = head->second;
    std::size_t linked = 0, backward = 0, arrows = 0;
    for (std::uint32_t activity = 0; activity < capture->activities.size(); ++activity) {
      const auto op = context.attribution.op[activity],
                 forward = context.attribution.forward_op[activity];
      if (capture->activities.external_id[activity] > 0) {
        ++linked;
        ASSERT_NE(op, kNoRow) << name;
        EXPECT_EQ(ops.external_id[op], capture->activities.external_id[activity]) << name;
      }
      if (context.attribution.phase[activity] != 2) continue;
      ++backward;
      ASSERT_NE(forward, kNoRow) << name;
      auto above = op;
      while (above != kNoRow && (ops.sequence[above] < 0 || ops.forward_thread[above] <= 0))
        above = context.attribution.op_parent[above];
      ASSERT_NE(above, kNoRow) << name;
      if (!arrow_of_sequence.contains(ops.sequence[above])) continue;
      ++arrows;
      EXPECT_EQ(tails.at(arrow_of_sequence[ops.sequence[above]]),
                (Place{ops.thread[forward], ops.start_ns[forward]}))
          << name;
    }
    EXPECT_EQ(linked, capture->activities.size()) << name;
    EXPECT_EQ(backward > 0, name != "lenet_inf_b1") << name;
    EXPECT_EQ(arrows, backward) << name;
  }
}

TEST(Attribution, RecomputedKernelsBelongToTheModuleThatRunsAgain) {
  test::CaptureBuilder b;
  auto sequence = [&](std::uint32_t op, std::int64_t number, std::int32_t forward_thread) {
    b.capture.host_ops.sequence[op] = number;
    b.capture.host_ops.forward_thread[op] = forward_thread;
  };
  b.python("nn.Module: Wrapper_0", 0, 50);
  sequence(b.op("CheckpointFunction", 5, 45), 3, 0);
  sequence(b.op("autograd::engine::evaluate_function: CheckpointFunctionBackward", 100, 400, 101),
           3, 1);
  b.python("nn.Module: Linear_4", 110, 200, 101);
  sequence(b.op("aten::addmm", 120, 150, 101), 9, 0);
  const auto again = b.launch("gemm", {130, 135}, {140, 160}, 7, 0, 101);
  sequence(b.op("autograd::engine::evaluate_function: AddmmBackward0", 210, 300, 101), 9, 2);
  const auto backward = b.launch("gemm_backward", {230, 235}, {240, 260}, 7, 0, 101);
  const Context c = analysed(b.capture);
  const auto& a = c.attribution;
  EXPECT_EQ(a.modules[a.module[again]], "Linear_4");
  EXPECT_EQ(static_cast<TrainingPhase>(a.phase[again]), TrainingPhase::recompute);
  EXPECT_EQ(static_cast<TrainingPhase>(a.phase[backward]), TrainingPhase::backward);
}

TEST(Attribution, FillsInsideAnOperationMakeNoBackwardNode) {
  test::CaptureBuilder b;
  auto sequence = [&](std::uint32_t op, std::int32_t forward_thread) {
    b.capture.host_ops.sequence[op] = 7;
    b.capture.host_ops.forward_thread[op] = forward_thread;
  };
  sequence(b.op("aten::index_add", 5, 50), 0);
  sequence(b.op("aten::zero_", 10, 20), 0);
  sequence(b.op("autograd::engine::evaluate_function: IndexAddBackward0", 100, 200, 101), 1);
  const auto backward = b.launch("index", {110, 112}, {120, 160}, 7, 0, 101);
  const Context c = analysed(b.capture);
  EXPECT_EQ(op_name(c, c.attribution.forward_op[backward]), "aten::index_add");
}

TEST(LayerTypes, AFusedLayerThatMultipliesIsNoActivation) {
  test::CaptureBuilder b;
  b.op("conv1 + relu1", 0, 100);
  const auto fused = b.launch("sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_execute_kernel_trt",
                              {10, 12}, {20, 60});
  b.op("relu2", 200, 300);
  const auto alone = b.launch("generatedNativePointwise", {210, 212}, {220, 260});
  const Context c = analysed(b.capture);
  EXPECT_EQ(c.attribution.layer[fused], LayerType::convolution);
  EXPECT_EQ(c.attribution.layer[alone], LayerType::activation);
}

TEST(LayerTypes, Tables) {
  EXPECT_EQ(layer_of_operation("aten::cudnn_convolution"), LayerType::convolution);
  EXPECT_EQ(layer_of_operation("autograd::engine::evaluate_function: NativeBatchNormBackward0"),
            LayerType::normalisation);
  EXPECT_EQ(layer_of_operation("aten::addmm"), LayerType::matmul);
  EXPECT_EQ(layer_of_operation("aten::add_"), LayerType::elementwise);
  EXPECT_EQ(layer_of_operation("aten::_scaled_dot_product_cudnn_attention_backward"),
            LayerType::attention);
  EXPECT_EQ(layer_of_operation("aten::nll_loss_backward"), LayerType::loss);
  EXPECT_EQ(layer_of_operation("aten::_log_softmax"), LayerType::softmax);
  EXPECT_EQ(layer_of_operation("aten::max_pool2d_with_indices"), LayerType::pooling);
  EXPECT_EQ(layer_of_operation("aten::clamp_min_"), LayerType::activation);
  EXPECT_EQ(layer_of_operation("aten::copy_"), LayerType::copy);
  EXPECT_EQ(layer_of_operation("aten::embedding_dense_backward"), LayerType::embedding);
  EXPECT_EQ(layer_of_operation("aten::native_dropout"), LayerType::random);
  EXPECT_EQ(layer_of_operation(
                "triton_poi_fused__native_batch_norm_legit_functional_convolution_backward_26"),
            LayerType::normalisation);
  EXPECT_EQ(layer_of_operation("triton_poi_fused__to_copy_81"), LayerType::copy);
  EXPECT_EQ(layer_of_operation("my_library::frobnicate"), LayerType::other);
  EXPECT_EQ(layer_of_kernel("sm90_xmma_dgrad_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc"),
            LayerType::convolution);
  EXPECT_EQ(layer_of_kernel("nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NNN"), LayerType::matmul);
  EXPECT_EQ(layer_of_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), LayerType::communication);
  // The arguments of a kernel say nothing about its work.
  EXPECT_EQ(layer_of_kernel("render(vec3 *, int, Camera **, curandStateXORWOW *)"),
            LayerType::other);
  EXPECT_EQ(layer_of_kernel("void curand_init<(int)4>(curandStateXORWOW *)"), LayerType::random);
  EXPECT_EQ(layer_of_kernel("Cijk_Ailk_Bljk_BBS_BH_MT128x128x32"), LayerType::matmul);
  EXPECT_EQ(layer_of_kernel("void flash_fwd_kernel<Flash_fwd_kernel_traits<64>>"),
            LayerType::attention);
  EXPECT_EQ(layer_of_kernel("triton_tem_fused_mm_3"), LayerType::matmul);
  EXPECT_EQ(layer_of_kernel("void fbgemm_gpu::permute_2D_data_kernel<long>"),
            LayerType::data_movement);
  EXPECT_EQ(layer_of_kernel("void fbgemm_gpu::split_embedding_backward_sgd_kernel<float>"),
            LayerType::embedding);
  EXPECT_EQ(layer_of_kernel("rotary_embedding_kernel"), LayerType::elementwise);
  EXPECT_EQ(layer_of_kernel("store_kvcache_kernel"), LayerType::data_movement);
  EXPECT_EQ(layer_of_kernel("SubTensorOpWithScalar1d"), LayerType::elementwise);
  EXPECT_EQ(layer_of_kernel("_sage_attn_kernel"), LayerType::attention);
  EXPECT_EQ(layer_of_operation("aten::_foreach_copy_"), LayerType::copy);
  EXPECT_EQ(layer_of_operation("triton_poi_fused__to_copy_view_3"), LayerType::copy);
  EXPECT_EQ(layer_of_operation("triton_poi_fused__to_copy_add_mul_3"), LayerType::elementwise)
      << "arithmetic that begins with a cast";
  EXPECT_EQ(layer_of_module("Server_0.MHATokenToKVPool_0"), LayerType::other);
  EXPECT_EQ(layer_of_module("Net_0.BatchNorm2d_12"), LayerType::normalisation);
  EXPECT_TRUE(outer_decides(LayerType::attention, LayerType::matmul));
  EXPECT_FALSE(outer_decides(LayerType::convolution, LayerType::copy));
}

/// Operations nested by `parent`, each of which launches one kernel, classified and named.
struct Nest {
  Capture capture;
  Attribution attribution;
  explicit Nest(const std::vector<std::pair<std::uint32_t, std::string_view>>& parent_and_name) {
    test::CaptureBuilder builder;
    for (const auto& [parent, name] : parent_and_name) {
      attribution.op_parent.push_back(parent);
      attribution.op.push_back(builder.op(name, 0, 1));
      builder.kernel("k", 0, 1);
    }
    const std::size_t name = parent_and_name.size();
    attribution.forward_op.assign(name, kNoRow);
    attribution.module.assign(name, 0);
    attribution.phase.assign(name, 1);
    capture = std::move(builder.capture);
    attribution.layer = classify_layers(capture, Names(capture), attribution);
  }
};

// Kernels of a library that no table knows, in a job of two ranks: on the stream of known
// communication, or long and small in an operation that sends.
TEST(LayerTypes, CommunicationWithoutAKnownName) {
  for (const std::string_view ranks : {"2", "1"}) {
    test::CaptureBuilder builder;
    Attribution attribution;
    auto kernel = [&](std::string_view name, std::string_view operation, Nanos duration,
                      std::int64_t stream, std::int32_t blocks) {
      const auto op = builder.op(operation, 0, 1);
      attribution.op_parent.push_back(kNoRow);
      attribution.op.push_back(op);
      const auto row = builder.activity(ActivityKind::kernel, name, 0, duration, -1, stream);
      builder.capture.activities.grid_x[row] = blocks;
      return row;
    };
    kernel("ncclDevKernel_AllReduce", "outer", 900'000, 20, 16);
    const auto beside = kernel("fabric_push", "my::op", 400'000, 20, 16);
    const auto wide = kernel("fabric_pack", "my::op", 400'000, 20, 1056);
    const auto product = kernel("sgemm", "aten::mm", 900'000, 7, 16);
    const auto unknown = kernel("fabric_push", "my::op", 400'000, 7, 16);
    const auto sent = kernel("fabric_push", "moe::dispatch", 400'000, 7, 20);
    const auto sorted = kernel("moe_layout", "moe::dispatch", 3'000, 7, 20);
    attribution.forward_op.assign(7, kNoRow);
    attribution.module.assign(7, 0);
    attribution.phase.assign(7, 1);
    const auto fact = builder.capture.metadata.add();
    builder.capture.metadata.key[fact] =
        builder.capture.strings.intern("distributedInfo.world_size");
    builder.capture.metadata.value[fact] = builder.capture.strings.intern(ranks);
    const auto layers = classify_layers(builder.capture, Names(builder.capture), attribution);
    const auto expected = ranks == "2" ? LayerType::communication : LayerType::other;
    EXPECT_EQ(layers[beside], expected) << ranks;
    EXPECT_EQ(layers[sent], expected) << ranks;
    EXPECT_EQ(layers[wide], LayerType::other);
    EXPECT_EQ(layers[product], LayerType::matmul);
    EXPECT_EQ(layers[unknown], LayerType::other) << "on a stream that computes";
    EXPECT_NE(layers[sorted], LayerType::communication) << "short";
  }
}

TEST(LayerTypes, NestsAgreeWithTheClimbFromInsideOut) {
  constexpr std::string_view kNames[] = {
      "aten::add",     "aten::mm",
      "aten::conv2d",  "aten::scaled_dot_product_attention",
      "aten::softmax", "aten::layer_norm",
      "Wrapper",       "autograd::engine::evaluate_function: MmBackward0",
      "aten::copy_",   "aten::cross_entropy_loss",
      "my::op"};
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<std::uint32_t, std::string_view>> ops;
    for (std::uint32_t i = 0; i < 40; ++i)
      ops.emplace_back(
          i == 0 || random() % 8 == 0 ? kNoRow : static_cast<std::uint32_t>(random() % i),
          kNames[random() % std::size(kNames)]);
    Nest nest(ops);
    const Names names(nest.capture);
    NamingOperations naming(nest.capture, names, nest.attribution);
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      LayerType type = LayerType::other;
      for (auto op = i; op != kNoRow; op = ops[op].first) {
        const auto here = layer_of_operation(ops[op].second);
        if (type == LayerType::other || outer_decides(here, type)) type = here;
        const auto outer = ops[op].first;
        if (ops[op].second == "aten::add" && outer != kNoRow &&
            ops[outer].second.starts_with("autograd::engine::evaluate_function"))
          break;  // a sum of gradients, which is not of the function beside it
      }
      ASSERT_EQ(nest.attribution.layer[i], type) << round << " " << i;
      auto library = [](std::string_view name) {
        return name.find("::") != name.npos && !name.starts_with("autograd::");
      };
      std::uint32_t named = i;
      for (auto op = ops[i].first; op != kNoRow && library(ops[op].second); op = ops[op].first)
        named = op;
      ASSERT_EQ(naming.of(i), named) << round << " " << i;
    }
  }
}

// A climb from each of these operations would take 45 thousand million steps.
TEST(LayerTypes, DeepNestsTakeTimeInProportion) {
  std::vector<std::pair<std::uint32_t, std::string_view>> ops;
  for (std::uint32_t i = 0; i < 300'000; ++i)
    ops.emplace_back(i == 0 ? kNoRow : i - 1, i % 3 ? "aten::add" : "aten::mm");
  Nest nest(ops);
  EXPECT_EQ(nest.attribution.layer.back(), LayerType::matmul);
  const Names names(nest.capture);
  NamingOperations naming(nest.capture, names, nest.attribution);
  for (std::uint32_t i = 0; i < ops.size(); ++i) ASSERT_EQ(naming.of(i), 0u);
}

// The executor of a function launches the kernels of all its layers.
TEST(LayerTypes, NameScopesOfTensorFlowGoBeforeItsExecutor) {
  test::CaptureBuilder b;
  b.op("ExecutorState::Process", 0, 100);
  const auto kernel = b.launch("EigenMetaKernel", {10, 20}, {30, 80});
  b.capture.activities.scope[kernel] =
      b.capture.strings.intern("replica_1/bert/dense/MatMul:MatMul");
  const auto name = [&] { return analyze(b.capture, {})->layers.front().name; };
  EXPECT_EQ(name(), "ExecutorState::Process");
  b.capture.framework = "tensorflow";
  EXPECT_EQ(name(), "bert/dense");
  const Context context = analysed(b.capture);
  const auto tree = call_tree(context, *analyze(b.capture, {}));
  const auto named = [&](std::string_view wanted) {
    return std::ranges::any_of(tree, [&](const CallNode& node) {
      return node.view == TreeView::modules && node.name == wanted;
    });
  };
  EXPECT_TRUE(named("dense"));
  EXPECT_TRUE(named("MatMul"));
}

}  // namespace
}  // namespace gf
