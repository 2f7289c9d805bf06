#include <gtest/gtest.h>

#include <cmath>

#include "analyze/energy/clocks.h"
#include "analyze/energy/population.h"

namespace gf {

namespace {

constexpr double kIdle = 130, kMhz = 1980;
/// Picojoules of one on the mean board.
const std::map<std::string, double> kMeanBoard{
    {"inst", 100}, {"l1.load", 150}, {"l2.load", 800}, {"dram.read", 2500}, {"pipe.fma", 9}};

struct Bench {
  const char* name;
  std::map<std::string, double> counts;  // a warp and loop
};
const std::vector<Bench> kBenches{
    {"l1", {{"inst", 10}, {"l1.load", 100}}},
    {"l2", {{"inst", 10}, {"l1.load", 50}, {"l2.load", 50}}},
    {"dram", {{"inst", 10}, {"l1.load", 30}, {"l2.load", 30}, {"dram.read", 30}}},
    {"dram_more", {{"inst", 4}, {"l1.load", 30}, {"l2.load", 30}, {"dram.read", 60}}},
    {"fma", {{"inst", 40}, {"pipe.fma", 1000}}},
    {"mix", {{"inst", 100}, {"pipe.fma", 300}, {"l1.load", 20}}},
};

/// A board whose chip takes `gain` and whose DRAM takes `dram` times the mean board's energy.
BoardEvidence board(const char* uuid, double gain, double dram) {
  BoardEvidence out;
  out.raw.board = {"Any GPU", uuid, "1", "2026-11-29"};
  for (const auto& bench : kBenches)
    out.benches.push_back({bench.name, "", 0, 0, bench.counts, false});
  for (int run = 0; run < 4; ++run) {
    RawEnergyPoint idle;
    idle.bench = "context";
    idle.seconds = 1;
    idle.energy_j = kIdle;
    idle.temperature_c = 40;
    idle.sm_mhz = kMhz;
    idle.repeat = run;
    out.raw.points.push_back(idle);
  }
  for (const auto& bench : kBenches)
    for (int run = 0; run < 3; ++run) {
      RawEnergyPoint point;
      point.bench = bench.name;
      point.threads = 1024;
      point.blocks = 132;
      point.repeat = run;
      point.seconds = 1;
      point.sm_mhz = kMhz;
      point.temperature_c = 40;
      point.warps = 4224;
      point.active_sms = 132;
      point.loops_per_s = 1e6 * (run + 1);
      double joules = kIdle;
      for (const auto& [feature, count] : bench.counts)
        joules += count * point.warps * point.loops_per_s * kMeanBoard.at(feature) * 1e-12 *
                  (on_chip(feature) ? gain : gain * dram);
      point.energy_j = joules;
      out.raw.points.push_back(point);
    }
  return out;
}

double picojoules(const EnergyModel& model, const char* feature) {
  return model.find(feature)->picojoules;
}

}  // namespace

TEST(EnergyPopulation, FindsTheMeanBoardAndHowBoardsDiffer) {
  const auto model = fit_population({board("a", 1.03, 1), board("b", 0.97, 1), board("c", 1, 1)});
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ(model->population.boards.size(), 3u);
  // Drawn towards the mean board a little.
  EXPECT_NEAR(model->population.boards[0].gain / model->population.boards[1].gain, 1.03 / 0.97,
              0.03);
  for (const auto& [feature, pj] : kMeanBoard)
    EXPECT_NEAR(picojoules(*model, feature.c_str()), pj, 0.06 * pj) << feature;
  EXPECT_TRUE(model->uuid.empty()) << "of no board";
  EXPECT_FALSE(model->population.quick.empty());
  EXPECT_EQ(model->draws.front().size(), model->draw_columns.size());
}

TEST(EnergyPopulation, ABoardIsToldFromItsQuickRuns) {
  const auto model = fit_population({board("a", 1.02, 1), board("b", 0.98, 1), board("c", 1, 1)});
  ASSERT_TRUE(model) << model.error().message();
  const auto own = adapt_to_board(*model, board("d", 1.05, 0.85).raw, kQuickSeconds);
  ASSERT_TRUE(own) << own.error().message();
  EXPECT_EQ(own->uuid, "d");
  EXPECT_NEAR(own->static_w, kIdle, 1e-9);
  EXPECT_NEAR(picojoules(*own, "pipe.fma") / picojoules(*model, "pipe.fma"), 1.05, 0.03);
  EXPECT_NEAR(picojoules(*own, "dram.read") / picojoules(*model, "dram.read"), 0.89, 0.05);
  // Two runs in a spread of 3 % leave less than the spread.
  const auto* one = own->find("l2.load");
  EXPECT_LT(std::log(one->high / one->low), 2 * 1.96 * 0.03);
}

TEST(EnergyPopulation, SaysWhatIsMissing) {
  EXPECT_FALSE(fit_population({board("a", 1, 1)}));
  const auto model = fit_population({board("a", 1, 1), board("b", 1, 1)});
  ASSERT_TRUE(model);
  EnergyPointsFile none;
  EXPECT_NE(adapt_to_board(*model, none, 0.5).error().what.find("idle"), std::string::npos);
  auto few = board("d", 1, 1).raw;
  few.points.resize(6);  // four of idle, two of one run
  EXPECT_NE(adapt_to_board(*model, few, 0.5).error().what.find("three are needed"),
            std::string::npos);
}

TEST(EnergyPopulation, KernelsHaveFamilies) {
  EXPECT_EQ(kernel_family("matmul_bf16_512"), kernel_family("linear_relu_fp16_256"));
  EXPECT_EQ(kernel_family("conv_bf16"), kernel_family("depthwise_conv_bf16"));
  EXPECT_EQ(kernel_family("gelu_fp32"), "gelu");
}

TEST(EnergyDram, IsAwakeInProportionBelowARate) {
  EXPECT_DOUBLE_EQ(dram_awake_ns(0, 2), 0);
  EXPECT_DOUBLE_EQ(dram_awake_ns(6.25e9, 2), 1e9);
  EXPECT_DOUBLE_EQ(dram_awake_ns(1e12, 2), 2e9);
}

TEST(EnergyClocks, WeighTimeAgainstVoltage) {
  EnergyModel model;
  model.voltage = {2000, 1, 0.5};
  model.sm_mhz_low = 1000;
  model.sm_mhz_high = 2000;
  DeviceEnergy energy;
  energy.nj = 100'000'000'000;
  energy.sm_mhz = 2000;
  auto part = [](const char* id, std::int64_t joules) {
    EnergyPart one;
    one.component = id;
    one.nj = one.low_nj = one.high_nj = joules * 1'000'000'000;
    return one;
  };
  energy.parts = {part("static", 20), part("l2", 80)};
  const auto sweep = sweep_clocks(energy, model);
  ASSERT_TRUE(sweep);
  const auto& slow = sweep->clocks.back();
  EXPECT_EQ(slow.mhz, 1000);
  // A quarter of the chip's energy; static power for as long, or twice as long.
  EXPECT_NEAR(slow.joules_low, 20 + 20, 1e-9);
  EXPECT_NEAR(slow.joules_high, 40 + 20, 1e-9);
  EXPECT_NEAR(slow.race_high, 120, 1e-9);
  EXPECT_NEAR(sweep->clocks.front().joules_low, 100, 1e-9);
  model.voltage = {};
  EXPECT_FALSE(sweep_clocks(energy, model)) << "no voltage is known";
}

}  // namespace gf
