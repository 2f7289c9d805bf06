// Costs of compiled programs in XLA's profiles. tests/golden/work/hlo.t compares whole programs
// with XLA's own cost analysis; here are what no CPU compiles (calls of cuBLAS and cuDNN, graphs)
// and what means ill.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <protozero/pbf_writer.hpp>

#include "import/xplane/hlo_cost.h"
#include "import/xplane/xplane.h"
#include "support/xplane_writer.h"

namespace gf::xplane {
namespace {

using protozero::pbf_writer;
using Dims = std::vector<std::int64_t>;

constexpr std::uint64_t kFp32 = 11, kBf16 = 16;

std::string message(const std::function<void(pbf_writer&)>& fill) {
  std::string bytes;
  pbf_writer writer{bytes};
  fill(writer);
  return bytes;
}

std::string shape(std::uint64_t type, const Dims& dims) {
  return message([&](pbf_writer& w) {
    w.add_uint64(2, type);
    w.add_packed_int64(3, dims.begin(), dims.end());
  });
}
std::string tuple(const std::vector<std::string>& parts) {
  return message([&](pbf_writer& w) {
    w.add_uint64(2, 13);
    for (const auto& part : parts) w.add_message(4, part);
  });
}

struct Op {
  std::uint64_t id;
  std::string name, opcode, shape;
  std::vector<std::uint64_t> operands, called;
  std::function<void(pbf_writer&)> more = [](pbf_writer&) {};
};

std::string instruction(const Op& op) {
  return message([&](pbf_writer& w) {
    w.add_string(1, op.name);
    w.add_string(2, op.opcode);
    w.add_message(3, op.shape);
    w.add_uint64(35, op.id);
    w.add_packed_uint64(36, op.operands.begin(), op.operands.end());
    w.add_packed_uint64(38, op.called.begin(), op.called.end());
    op.more(w);
  });
}

struct Computation {
  std::uint64_t id;
  std::vector<Op> ops;  // the last one is the root
};

std::string program(const std::vector<Computation>& computations, std::uint64_t entry) {
  const std::string module = message([&](pbf_writer& w) {
    w.add_string(1, "jit_step");
    for (const auto& computation : computations)
      w.add_message(3, message([&](pbf_writer& c) {
                      c.add_string(1, "computation");
                      for (const auto& op : computation.ops) c.add_message(2, instruction(op));
                      c.add_uint64(5, computation.id);
                      c.add_uint64(6, computation.ops.empty() ? 0 : computation.ops.back().id);
                    }));
    w.add_uint64(5, 7);
    w.add_uint64(6, entry);
  });
  return message([&](pbf_writer& w) { w.add_message(1, module); });
}

Op parameter(std::uint64_t id, std::int64_t number, const std::string& shape) {
  return {id, "p" + std::to_string(number), "parameter", shape, {}, {}, [number](pbf_writer& w) {
            w.add_int64(9, number);
          }};
}

std::function<void(pbf_writer&)> library(std::string target, std::string config = {},
                                         std::string convolution = {}) {
  return [=](pbf_writer& w) {
    w.add_string(28, target);
    w.add_string(43, config);
    if (!convolution.empty()) w.add_message(16, convolution);
  };
}

/// Cost and bytes of the last instruction of the entry.
std::pair<HloCost, double> cost_of(const std::vector<Computation>& computations,
                                   std::uint64_t entry, std::int64_t damaged = 0) {
  const std::string bytes = program(computations, entry);
  const HloModule module = read_hlo(bytes);
  HloCosts costs(module);
  const auto* computation = module.computation(entry);
  if (!computation || computation->instructions.empty()) return {};
  const auto& last = computation->instructions.back();
  const HloCost cost = costs.of(*computation, last);
  EXPECT_EQ(module.damaged + costs.damaged(), damaged);
  return {cost, costs.bytes(*computation, last)};
}

TEST(XplanePrograms, MatrixProductsOfCublasAreReadFromTheirConfiguration) {
  const std::string config =
      R"({"gemm_backend_config":{"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],)"
      R"("rhs_contracting_dimensions":["2"],"lhs_batch_dimensions":["0"],"rhs_batch_dimensions":["0"]}}})";
  const auto [cost, bytes] = cost_of({{1,
                                       {parameter(1, 0, shape(kBf16, {4, 40, 24})),
                                        parameter(2, 1, shape(kBf16, {4, 56, 40})),
                                        {3,
                                         "gemm.1",
                                         "custom-call",
                                         tuple({shape(kBf16, {4, 24, 56}), shape(2, {1 << 25})}),
                                         {1, 2},
                                         {},
                                         library("__cublas$lt$matmul", config)}}}},
                                     1);
  EXPECT_EQ(cost.work, HloWork::product);
  ASSERT_EQ(cost.products.size(), 1u);
  EXPECT_EQ(cost.products[0].batch, 4);
  EXPECT_EQ(cost.products[0].m, 24);
  EXPECT_EQ(cost.products[0].n, 56);
  EXPECT_EQ(cost.products[0].k, 40);
  EXPECT_EQ(cost.product_flops, 2.0 * 4 * 24 * 56 * 40);
  EXPECT_EQ(cost.type, "bf16");
  EXPECT_EQ(bytes, 2.0 * 4 * (40 * 24 + 56 * 40 + 24 * 56)) << "the room to work in is no result";
}

/// Batch, channels and space of input, kernel and result: NCHW by OIHW.
std::string convolution_numbers() {
  return message([](pbf_writer& w) {
    const Dims space{2, 3};
    w.add_int64(3, 1);
    w.add_int64(4, 0);
    w.add_packed_int64(6, space.begin(), space.end());
    w.add_int64(8, 1);
    w.add_int64(10, 1);
    w.add_packed_int64(11, space.begin(), space.end());
    w.add_packed_int64(12, space.begin(), space.end());
  });
}

TEST(XplanePrograms, ConvolutionsOfCudnnCountAlikeInEveryDirection) {
  const std::string image = shape(kBf16, {8, 16, 32, 32}), kernel = shape(kBf16, {24, 16, 3, 3}),
                    result = shape(kBf16, {8, 24, 32, 32});
  const double expected = 2.0 * 8 * 32 * 32 * 24 * 16 * 9;
  struct Direction {
    const char* target;
    const std::string &left, &right, &result;
  };
  for (const auto& direction : {Direction{"__cudnn$convForward", image, kernel, result},
                                Direction{"__cudnn$convBackwardInput", result, kernel, image},
                                Direction{"__cudnn$convBackwardFilter", image, result, kernel}}) {
    const auto [cost, bytes] =
        cost_of({{1,
                  {parameter(1, 0, direction.left),
                   parameter(2, 1, direction.right),
                   {3,
                    "conv",
                    "custom-call",
                    tuple({direction.result, shape(6, {1024})}),
                    {1, 2},
                    {},
                    library(direction.target, "{}", convolution_numbers())}}}},
                1);
    EXPECT_EQ(cost.product_flops, expected) << direction.target;
    EXPECT_EQ(cost.work, HloWork::convolution);
  }
}

TEST(XplanePrograms, FusedAttentionOfCudnnRecomputesItsScoresInTheBackwardPass) {
  const std::string config =
      R"({"cudnn_fmha_backend_config":{"intermediate_tensor_shape":{"element_type":"BF16",)"
      R"("dimensions":["2","12","128","256"]}}})";
  const std::string query = shape(kBf16, {2, 128, 12, 64}), key = shape(kBf16, {2, 256, 12, 64});
  const double product = 2.0 * 2 * 12 * 128 * 256 * 64;
  for (const bool backward : {false, true}) {
    const auto [cost, bytes] = cost_of(
        {{1,
          {parameter(1, 0, query),
           parameter(2, 1, key),
           parameter(3, 2, key),
           {4,
            "attention",
            "custom-call",
            tuple({query, shape(6, {0})}),
            {1, 2, 3},
            {},
            library(backward ? "__cudnn$fmhaSoftmaxBackward" : "__cudnn$fmhaSoftmax", config)}}}},
        1);
    EXPECT_EQ(cost.product_flops, (backward ? 5 : 2) * product);
    EXPECT_EQ(cost.recomputed, backward ? product : 0);
  }
}

TEST(XplanePrograms, AFusionReadsOnlyTheSliceThatItTakesAndWritesOnlyWhatItReplaces) {
  const std::string stack = shape(kFp32, {100, 64}), row = shape(kFp32, {1, 64}), at = shape(4, {});
  const Computation slice{2,
                          {parameter(1, 0, stack),
                           parameter(2, 1, at),
                           {3, "s", "dynamic-slice", row, {1, 2}, {}},
                           {4, "n", "negate", row, {3}, {}}}};
  const auto [cost, bytes] = cost_of({slice,
                                      {1,
                                       {parameter(1, 0, stack),
                                        parameter(2, 1, at),
                                        {3, "fusion.1", "fusion", row, {1, 2}, {2}}}}},
                                     1);
  EXPECT_EQ(cost.other, 64);
  EXPECT_EQ(bytes, 256 + 4 + 256);
  const Computation update{2,
                           {parameter(1, 0, stack),
                            parameter(2, 1, row),
                            parameter(3, 2, at),
                            {4, "u", "dynamic-update-slice", stack, {1, 2, 3}, {}}}};
  const auto written = cost_of({update,
                                {1,
                                 {parameter(1, 0, stack),
                                  parameter(2, 1, row),
                                  parameter(3, 2, at),
                                  {4, "fusion.2", "fusion", stack, {1, 2, 3}, {2}}}}},
                               1);
  EXPECT_EQ(written.second, 256 + 4 + 256);
}

/// A fusion over all parameters of `fused`, called with values of their shapes.
double bytes_of_fusion(std::vector<Computation> computations, const std::string& result) {
  const Computation fused = computations.front();
  Computation entry{1, {}};
  std::vector<std::uint64_t> operands;
  for (const auto& op : fused.ops)
    if (op.opcode == "parameter") {
      operands.push_back(operands.size() + 1);
      entry.ops.push_back(
          parameter(operands.size(), static_cast<std::int64_t>(operands.size()) - 1, op.shape));
    }
  entry.ops.push_back({operands.size() + 1, "fusion.1", "fusion", result, operands, {fused.id}});
  computations.push_back(entry);
  return cost_of(computations, 1).second;
}

const std::string kTable = shape(kFp32, {100'000, 64}), kRows = shape(kFp32, {4, 64}),
                  kRowNumbers = shape(4, {4, 1}), kNumber = shape(kFp32, {});
constexpr double kTableBytes = 100'000 * 64 * 4, kRowsBytes = 4 * 64 * 4, kNumbersBytes = 16;

Computation sum_of_two() {
  return {
      3,
      {parameter(1, 0, kNumber), parameter(2, 1, kNumber), {3, "a", "add", kNumber, {1, 2}, {}}}};
}
Computation second_of_two() { return {3, {parameter(1, 0, kNumber), parameter(2, 1, kNumber)}}; }

Computation scatter_into_table(const std::vector<Op>& more) {
  Computation fused{2,
                    {parameter(1, 0, kTable),
                     parameter(2, 1, kRowNumbers),
                     parameter(3, 2, kRows),
                     {4, "n", "negate", kRows, {3}, {}},
                     {5, "s", "scatter", kTable, {1, 2, 4}, {3}}}};
  fused.ops.insert(fused.ops.end(), more.begin(), more.end());
  return fused;
}

// 25.6 MB of table, of which four rows are touched.
TEST(XplanePrograms, AFusedScatterTouchesTheRowsThatItUpdates) {
  EXPECT_EQ(bytes_of_fusion({scatter_into_table({}), sum_of_two()}, kTable),
            kNumbersBytes + 3 * kRowsBytes)
      << "rows read and written, updates read";
  EXPECT_EQ(bytes_of_fusion({scatter_into_table({}), second_of_two()}, kTable),
            kNumbersBytes + 2 * kRowsBytes)
      << "rows that are replaced are not read";
  const Op flat{6, "b", "bitcast", shape(kFp32, {6'400'000}), {5}, {}};
  EXPECT_EQ(bytes_of_fusion({scatter_into_table({flat}), sum_of_two()}, flat.shape),
            kNumbersBytes + 3 * kRowsBytes);
  const Op both{6, "t", "tuple", tuple({kTable, kRows}), {5, 4}, {}};
  EXPECT_EQ(bytes_of_fusion({scatter_into_table({both}), sum_of_two()}, both.shape),
            kNumbersBytes + 4 * kRowsBytes);
  const Op again{6, "s2", "scatter", kTable, {5, 2, 3}, {3}};
  EXPECT_EQ(bytes_of_fusion({scatter_into_table({again}), sum_of_two()}, kTable),
            kNumbersBytes + 5 * kRowsBytes)
      << "one update after the other: twice read and written, one parameter of updates";
}

TEST(XplanePrograms, ATableThatIsUsedOtherwiseIsReadAndWrittenWhole) {
  const Op scaled{6, "m", "multiply", kTable, {5, 5}, {}};
  EXPECT_EQ(bytes_of_fusion({scatter_into_table({scaled}), sum_of_two()}, kTable),
            2 * kTableBytes + kNumbersBytes + kRowsBytes)
      << "the updated table is read once more";
  const Computation from_zero{2,
                              {parameter(1, 0, kNumber),
                               parameter(2, 1, kRowNumbers),
                               parameter(3, 2, kRows),
                               {4, "z", "broadcast", kTable, {1}, {}},
                               {5, "s", "scatter", kTable, {4, 2, 3}, {3}}}};
  EXPECT_EQ(bytes_of_fusion({from_zero, sum_of_two()}, kTable),
            4 + kTableBytes + kNumbersBytes + kRowsBytes)
      << "nothing lay there before";
}

TEST(XplanePrograms, AScatterAloneReadsWhatItAddsTo) {
  const auto scatter = [](const Computation& update) {
    return cost_of({update,
                    {1,
                     {parameter(1, 0, kTable),
                      parameter(2, 1, kRowNumbers),
                      parameter(3, 2, kRows),
                      {4, "scatter.1", "scatter", kTable, {1, 2, 3}, {3}}}}},
                   1)
        .second;
  };
  EXPECT_EQ(scatter(sum_of_two()), kNumbersBytes + 3 * kRowsBytes);
  EXPECT_EQ(scatter(second_of_two()), kNumbersBytes + 2 * kRowsBytes);
}

TEST(XplanePrograms, AFusionReadsOnlyWhatItsResultNeeds) {
  const std::string narrow = shape(kBf16, {100'000, 64});
  const Computation look_up{2,
                            {parameter(1, 0, narrow),
                             parameter(2, 1, kRowNumbers),
                             {3, "c", "convert", kTable, {1}, {}},
                             {4, "g", "gather", kRows, {3, 2}, {}},
                             {5, "n", "negate", kRows, {4}, {}}}};
  EXPECT_EQ(bytes_of_fusion({look_up}, kRows), kRowsBytes / 2 + kNumbersBytes + kRowsBytes)
      << "converted are the rows that are looked up";
  const Computation sums{2,
                         {parameter(1, 0, kTable),
                          parameter(2, 1, kNumber),
                          {3, "e", "exponential", kTable, {1}, {}},
                          {4, "r", "reduce", shape(kFp32, {64}), {3, 2}, {3}}}};
  EXPECT_EQ(bytes_of_fusion({sums, sum_of_two()}, shape(kFp32, {64})), kTableBytes + 4 + 256);
}

/// A loop over products of 8 x 8, whose condition compares one number.
std::vector<Computation> loop_of(const std::string& config, const std::string& caller) {
  const std::string square = shape(kFp32, {8, 8}), carried = tuple({square, kNumber}),
                    contracting = message([](pbf_writer& w) {
                      const Dims left{1};
                      w.add_packed_int64(1, left.begin(), left.end());
                    });
  const Computation body{
      3,
      {parameter(1, 0, carried),
       {2, "x", "get-tuple-element", square, {1}, {}},
       {3, "d", "dot", square, {2, 2}, {}, [=](pbf_writer& w) { w.add_message(30, contracting); }},
       {4, "i", "get-tuple-element", kNumber, {1}, {}},
       {5, "n", "add", kNumber, {4, 4}, {}},
       {6, "t", "tuple", carried, {3, 5}, {}}}};
  const Computation condition{4,
                              {parameter(1, 0, carried),
                               {2, "i", "get-tuple-element", kNumber, {1}, {}},
                               {3, "c", "compare", shape(1, {}), {2, 2}, {}}}};
  const Op loop{2, "while.1", "while", carried, {1}, {3, 4}, library("", config)};
  if (caller.empty()) return {body, condition, {1, {parameter(1, 0, carried), loop}}};
  return {body,
          condition,
          {2, {parameter(1, 0, carried), loop}},
          {1, {parameter(1, 0, carried), {2, "c", caller, carried, {1}, {2}}}}};
}

TEST(XplanePrograms, ALoopDoesTheWorkOfAllItsRounds) {
  for (const char* caller : {"", "fusion", "call"}) {
    for (const std::string config :
         {R"({"known_trip_count":{"n":"5"},"known_init_step":{"init":"0","step":"1"}})",
          R"({"operation_queue_id":"0", "known_trip_count": { "n": "5" }})"}) {
      const auto cost = cost_of(loop_of(config, caller), 1).first;
      EXPECT_EQ(cost.work, HloWork::product) << caller;
      EXPECT_EQ(cost.product_flops, 5.0 * 2 * 8 * 8 * 8) << caller;
      EXPECT_EQ(cost.other, 5 + 6) << "the condition is asked once more";
      ASSERT_EQ(cost.products.size(), 1u);
      EXPECT_EQ(cost.products[0].batch, 5);
    }
    const auto none = cost_of(loop_of(R"({"known_trip_count":{}})", caller), 1).first;
    EXPECT_EQ(none.work, HloWork::elementwise);
    EXPECT_EQ(none.product_flops, 0);
    EXPECT_EQ(none.other, 1);
  }
}

TEST(XplanePrograms, ALoopOfUnknownLengthIsUnknown) {
  for (const char* caller : {"", "fusion", "call"})
    for (const char* config :
         {"", "{}", R"({"known_trip_count":null})", R"({"known_trip_count":{"n":"-1"}})",
          R"({"known_trip_count":{"n":"many"}})", R"({"known_trip_count":{"n)",
          R"({"known_trip_count")", R"({"known_trip_count":{"m":"5"}})",
          R"({"known_trip_count":{"n":"99999999999999999999"}})"})
      EXPECT_EQ(cost_of(loop_of(config, caller), 1).first.work, HloWork::unknown) << config;
}

/// A profile of one GPU in which kernels of these operations of the program ran.
Result<Capture> profile_of(const std::string& program, const std::vector<std::string>& operations) {
  const std::string metadata = message([&](pbf_writer& w) {
    w.add_uint64(1, 7);
    w.add_string(2, "jit_step(7)");
    w.add_message(5, message([&](pbf_writer& stat) {
                    stat.add_uint64(1, 1);
                    stat.add_string(6, program);
                  }));
  });
  const std::string programs = message([&](pbf_writer& w) {
    w.add_string(2, "/host:metadata");
    w.add_message(4, message([&](pbf_writer& entry) {
                    entry.add_uint64(1, 7);
                    entry.add_message(2, metadata);
                  }));
    w.add_message(5, test::entry(1, "Hlo Proto"));
  });
  std::vector<std::string> kernels;
  std::vector<std::string> stats{test::entry(1, "kernel_details"), test::entry(2, "regs:32"),
                                 test::entry(3, "hlo_op"), test::entry(4, "program_id")};
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const auto name = 10 + i;
    stats.push_back(test::entry(name, operations[i]));
    kernels.push_back(
        test::event(1, static_cast<std::int64_t>(i) * 10'000, 7'000,
                    {test::ref_stat(1, 2), test::ref_stat(3, name), test::number_stat(4, 7)}));
  }
  const std::string gpu =
      test::plane("/device:GPU:0", {test::line(14, "Stream #14(Compute)", test::kEpoch, kernels)},
                  {test::entry(1, "kernel")}, stats);
  return load_bytes(test::space({gpu, programs}), "x", {});
}

TEST(XplanePrograms, ALoopThatIsOneKernelIsNotToldAsOneRound) {
  const std::string config = R"({"known_trip_count":{"n":"5"}})";
  const auto bare = profile_of(program(loop_of(config, ""), 1), {"d", "while.1"});
  ASSERT_TRUE(bare) << bare.error().message();
  EXPECT_NE(bare->activities.program_op[0], kNoRow);
  EXPECT_EQ(bare->activities.program_op[1], kNoRow) << "its work is not known";
  for (const bool known : {true, false}) {
    const auto c = profile_of(program(loop_of(known ? config : "", "fusion"), 1), {"c"});
    ASSERT_TRUE(c) << c.error().message();
    const auto row = c->activities.program_op[0];
    ASSERT_NE(row, kNoRow);
    EXPECT_EQ(c->text(c->program_ops.kind[row]), known ? "product" : "");
    if (known)
      EXPECT_EQ(c->program_ops.product_flops[row], 5 * 1024);
    else
      EXPECT_TRUE(std::isnan(c->program_ops.product_flops[row]));
  }
}

TEST(XplanePrograms, EachKernelOfARoundDoesTheWorkOfOne) {
  const auto c = profile_of(program(loop_of(R"({"known_trip_count":{"n":"5"}})", ""), 1),
                            {"d", "c", "d", "c", "d", "c", "d", "c", "d", "c", "c"});
  ASSERT_TRUE(c) << c.error().message();
  double product = 0, other = 0;
  for (const auto row : c->activities.program_op) {
    ASSERT_NE(row, kNoRow);
    product += c->program_ops.product_flops[row];
    other += c->program_ops.other_flops[row];
  }
  EXPECT_EQ(product, 5 * 1024);
  EXPECT_EQ(other, 6);
}

TEST(XplanePrograms, WhatNobodyKnowsIsUnknown) {
  const auto [cost, bytes] = cost_of(
      {{1, {{1, "mine", "custom-call", shape(kFp32, {8}), {}, {}, library("my_kernel")}}}}, 1);
  EXPECT_EQ(cost.work, HloWork::unknown);
}

TEST(XplanePrograms, ComputationsThatCallThemselvesEnd) {
  const auto self = cost_of({{1, {{1, "f", "fusion", shape(kFp32, {8}), {}, {1}}}}}, 1, 1);
  EXPECT_EQ(self.first.work, HloWork::unknown);
  std::vector<Computation> chain;
  for (std::uint64_t id = 1; id <= 200; ++id)
    chain.push_back({id, {{1, "f", "fusion", shape(kFp32, {8}), {}, {id + 1}}}});
  EXPECT_EQ(cost_of(chain, 1, 1).first.work, HloWork::unknown);
  // Each calls the next one many times: known once, added up.
  std::vector<Computation> many;
  for (std::uint64_t id = 1; id <= 40; ++id) {
    Computation computation{id, {}};
    for (std::uint64_t call = 1; call <= 20; ++call)
      computation.ops.push_back({call, "f", "fusion", shape(kFp32, {8}), {}, {id + 1}});
    many.push_back(computation);
  }
  many.push_back({41, {{1, "a", "negate", shape(kFp32, {8}), {}, {}}}});
  const HloModule module = read_hlo(program(many, 1));
  HloCosts costs(module);
  (void)costs.of(module.computations[0], module.computations[0].instructions[0]);
  EXPECT_GT(costs.damaged(), 0) << "20^39 operations are no program";
}

TEST(XplanePrograms, SizesThatNoMachineHasAreDamage) {
  for (const Dims& dims : {Dims{INT64_MAX, INT64_MAX}, Dims{-1}, Dims(65, 1)}) {
    const HloModule module =
        read_hlo(program({{1, {{1, "a", "add", shape(kFp32, dims), {}, {}}}}}, 1));
    EXPECT_EQ(module.damaged, 1);
    EXPECT_TRUE(module.computations[0].instructions.empty());
  }
  std::string nested = shape(kFp32, {1});
  for (int depth = 0; depth < 1000; ++depth) nested = tuple({nested});
  EXPECT_EQ(read_hlo(program({{1, {{1, "a", "add", nested, {}, {}}}}}, 1)).damaged, 1);
}

TEST(XplanePrograms, CutBytesNeverEndTheReading) {
  const std::string whole = program({{1,
                                      {parameter(1, 0, shape(kFp32, {8, 8})),
                                       {2, "n", "negate", shape(kFp32, {8, 8}), {1}, {}},
                                       {3, "f", "fusion", shape(kFp32, {8, 8}), {2}, {1}}}}},
                                    1);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    const HloModule module = read_hlo(cut);
    HloCosts costs(module);
    for (const auto& computation : module.computations)
      for (const auto& op : computation.instructions) {
        (void)costs.of(computation, op);
        (void)costs.bytes(computation, op);
      }
  }
}

}  // namespace
}  // namespace gf::xplane
