#include "analyze/sweep/sweep.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gf {
namespace {

SweepInput run_of(std::string precision, std::int64_t batch, double seconds) {
  SweepInput input;
  input.run.model = "net";
  input.run.mode = "eager";
  input.run.precision = std::move(precision);
  input.run.batch = batch;
  input.step_seconds = {seconds};
  return input;
}

TEST(Sweep, AxesAreReadFromNames) {
  SweepRun run;
  read_axes_from_name("/data/resnet50_jax_xla_amp_b256.run2.gpf", run);
  EXPECT_EQ(run.model, "resnet50");
  EXPECT_EQ(run.framework, "jax");
  EXPECT_EQ(run.mode, "xla");
  EXPECT_EQ(run.precision, "amp");
  EXPECT_EQ(run.batch, 256);
  SweepRun known;
  known.framework = "pytorch";
  read_axes_from_name("bert-large-tf32-bs8-compiled-h100.json.gz", known);
  EXPECT_EQ(known.model, "bert large");
  EXPECT_EQ(known.framework, "pytorch");
  EXPECT_EQ(known.mode, "compile");
  EXPECT_EQ(known.gpu, "H100");
  EXPECT_EQ(known.batch, 8);
}

TEST(Sweep, RepeatsOfOneSettingAreOneRun) {
  auto first = run_of("fp32", 8, 0.010), second = run_of("fp32", 8, 0.012);
  first.run.levels = {{"gpu.busy", 0.5}};
  second.run.levels = {{"gpu.busy", 0.7}};
  const Sweep sweep = make_sweep({first, second}, {});
  ASSERT_EQ(sweep.runs.size(), 1u);
  EXPECT_EQ(sweep.runs[0].repeats, 2);
  EXPECT_EQ(sweep.runs[0].step_ns, 11'000'000);
  EXPECT_NEAR(*sweep.runs[0].spread, 2.0 / 11, 1e-12);
  EXPECT_NEAR(*level_of(sweep.runs[0], "gpu.busy"), 0.6, 1e-12);
  EXPECT_EQ(sweep.runs[0].fastest_ns, 10'000'000);
  EXPECT_EQ(sweep.runs[0].slowest_ns, 12'000'000);
  EXPECT_EQ(sweep.runs[0].levels[0].least, 0.5);
  EXPECT_EQ(sweep.runs[0].levels[0].most, 0.7);
  EXPECT_FALSE(sweep.runs[0].deviation);  // two runs have none
  const Sweep thrice = make_sweep({first, second, run_of("fp32", 8, 0.011)}, {});
  EXPECT_NEAR(*thrice.runs[0].deviation, 1.0 / 11, 1e-12);
}

TEST(Sweep, SaturationIsTheSmallestBatchNearTheHighestThroughput) {
  // 100, 190, 200, 201 items per second.
  const Sweep sweep = make_sweep({run_of("fp32", 64, 0.3184), run_of("fp32", 1, 0.01),
                                  run_of("fp32", 16, 0.08), run_of("fp32", 4, 0.021)},
                                 {"batch"});
  ASSERT_EQ(sweep.series.size(), 1u);
  EXPECT_EQ(sweep.series[0].saturation_batch, 16);
  EXPECT_EQ(sweep.runs[static_cast<std::size_t>(sweep.series[0].representative)].batch, 16);
  const Sweep rising =
      make_sweep({run_of("fp32", 1, 0.01), run_of("fp32", 2, 0.011), run_of("fp32", 4, 0.012)}, {});
  EXPECT_FALSE(rising.series[0].saturation_batch);
}

TEST(Sweep, PackedArithmeticIsNoMatrixInstruction) {
  auto run = run_of("amp", 8, 0.01);
  run.kernels = {{50, 100, {{"tensor.active", 0.0}, {"tensor.issue", 0.0}}},
                 {30, 500, {{"tensor.active", 0.0222}, {"tensor.issue", 0.0109}}},  // HFMA2.MMA
                 {20, 400, {{"tensor.active", 0.04}, {"tensor.issue", 0.01}}}};     // mma
  const Sweep counted = make_sweep({run}, {});
  EXPECT_NEAR(*counted.series[0].instances_without_tensor, 0.8, 1e-12);
  EXPECT_NEAR(*counted.series[0].instances_without_tensor_instructions, 0.5, 1e-12);
  EXPECT_NEAR(*counted.series[0].time_without_tensor, 0.6, 1e-12);
  EXPECT_NEAR(*counted.series[0].packed_instructions, 5.45 / 9.45, 1e-12);

  // Without instructions only the pipe's time tells.
  run.kernels = {{60, 100, {{"tensor.active", 0.029}}}, {40, 900, {{"tensor.active", 0.03}}}};
  const Sweep sampled = make_sweep({run}, {});
  EXPECT_NEAR(*sampled.series[0].instances_without_tensor, 0.6, 1e-12);
  EXPECT_FALSE(sampled.series[0].instances_without_tensor_instructions);
}

TEST(Sweep, OperationsAgainstThePeakOfThePrecision) {
  auto mixed = run_of("amp", 100, 0.1), full = run_of("fp32", 100, 0.1);
  for (auto* input : {&mixed, &full}) {
    input->run.gpu = "NVIDIA H200";
    input->flops_per_item = 98.94e9;
  }
  const Sweep sweep = make_sweep({mixed, full}, {});
  EXPECT_NEAR(*sweep.runs[0].flops, 98.94e12, 1e6);
  EXPECT_NEAR(*sweep.runs[0].mfu, 0.1, 1e-3);  // of 989.4 TFLOP/s
  EXPECT_GT(*sweep.runs[1].mfu, 1.0);          // more than the CUDA cores have
  mixed.run.gpu = "a GPU that nobody knows";
  EXPECT_FALSE(make_sweep({mixed}, {}).runs[0].mfu);
}

TEST(Sweep, KernelsTellWhatTheRunDoesNot) {
  auto run = run_of("amp", 8, 0.01);
  run.run.levels = {{"gpu.busy", 0.5}, {"tensor.active", 0.3}};
  run.kernels = {{1, 300, {{"tensor.issue", 0.04}, {"tensor.active", 0.9}}},
                 {1, 100, {{"tensor.issue", 0.0}, {"tensor.active", 0.0}}}};
  const Sweep sweep = make_sweep({run}, {});
  EXPECT_NEAR(*level_of(sweep.runs[0], "tensor.issue"), 0.5 * 0.03, 1e-12);
  EXPECT_NEAR(*level_of(sweep.runs[0], "tensor.active"), 0.3, 1e-12);
}

TEST(Sweep, TheCurveHoldsAllKernelTime) {
  auto run = run_of("amp", 8, 0.01);
  run.kernels = {{1, 300, {{"tensor.active", 0.5}}},
                 {1, 100, {{"tensor.active", 0.0}}},
                 {1, 600, {{"tensor.active", 0.5}}}};
  const Sweep sweep = make_sweep({run}, {});
  const auto& curve = sweep.series[0].tensor_curve;
  ASSERT_EQ(curve.size(), 2u);
  EXPECT_NEAR(curve[0].time_share, 0.1, 1e-12);
  EXPECT_NEAR(curve[1].time_share, 1.0, 1e-12);
  EXPECT_EQ(sweep.series[0].curve_level, "tensor.active");
}

SweepInput joules_of(std::string precision, std::int64_t batch, std::vector<double> joules,
                     double doubt = 0) {
  auto input = run_of(std::move(precision), batch, 0.01);
  input.step_joules = std::move(joules);
  input.joules_doubt = doubt;
  return input;
}

TEST(SweepEnergy, TheCheapestHasAnIntervalAndIsToldFromTheNextOrNot) {
  // 1, 0.5 and 0.51 J an item, each known to 3 %.
  const Sweep sweep =
      make_sweep({joules_of("fp32", 64, {64}, 0.03), joules_of("amp", 64, {32}, 0.03),
                  joules_of("amp", 128, {65.28}, 0.03)},
                 {});
  ASSERT_EQ(sweep.cheapest.size(), 1u);
  const auto& least = sweep.cheapest[0];
  const auto& run = sweep.runs[static_cast<std::size_t>(least.run)];
  EXPECT_EQ(run.precision, "amp");
  EXPECT_EQ(run.batch, 64);
  EXPECT_NEAR(*run.joules_per_item, 0.5, 1e-12);
  EXPECT_NEAR(*run.joules_low, 0.485, 1e-12);
  EXPECT_NEAR(*run.joules_high, 0.515, 1e-12);
  EXPECT_EQ(sweep.runs[static_cast<std::size_t>(least.next)].batch, 128);
  EXPECT_NEAR(*least.next_low, 1.02 * (1 - std::hypot(0.03, 0.03)), 1e-12);
  ASSERT_EQ(least.alike, std::vector<std::int64_t>{least.next});
  // Known to 0.3 % they are told apart.
  const Sweep sharp =
      make_sweep({joules_of("amp", 64, {32}, 0.003), joules_of("amp", 128, {65.28}, 0.003)}, {});
  EXPECT_TRUE(sharp.cheapest[0].alike.empty());
  EXPECT_GT(*sharp.cheapest[0].next_low, 1);
}

TEST(SweepEnergy, RepeatsNarrowItAndWithoutEitherItIsNotKnown) {
  const Sweep repeats = make_sweep({joules_of("amp", 10, {9.9}), joules_of("amp", 10, {10.1}),
                                    joules_of("amp", 10, {10.0}), joules_of("amp", 20, {40})},
                                   {});
  ASSERT_EQ(repeats.runs.size(), 2u);
  const auto& run = repeats.runs[0];
  EXPECT_NEAR(*run.joules_per_item, 1, 1e-12);
  // 4.303 standard errors of three.
  EXPECT_NEAR(*run.joules_high, 1 + 4.303 * 0.01 / std::sqrt(3.0), 1e-4);
  EXPECT_FALSE(repeats.runs[1].joules_low);  // one number of a table
  ASSERT_EQ(repeats.cheapest.size(), 1u);
  EXPECT_FALSE(repeats.cheapest[0].next_low);
  EXPECT_TRUE(repeats.cheapest[0].alike.empty());
  // One run is not cheaper than another; without a batch there is no item.
  EXPECT_TRUE(make_sweep({joules_of("amp", 10, {9.9})}, {}).cheapest.empty());
}

TEST(SweepEnergy, OtherBoardsHaveOtherSensors) {
  auto one = joules_of("amp", 64, {32}, 0.001), other = joules_of("fp32", 64, {33}, 0.001);
  one.boards = {"GPU-1"};
  other.boards = {"GPU-1"};
  EXPECT_TRUE(make_sweep({one, other}, {}).cheapest[0].alike.empty());
  other.boards = {"GPU-2"};  // 3 % more, and each may be 5 % off
  EXPECT_EQ(make_sweep({one, other}, {}).cheapest[0].alike.size(), 1u);
}

}  // namespace
}  // namespace gf
