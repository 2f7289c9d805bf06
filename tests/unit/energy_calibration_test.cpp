// Results of a calibration beside the coefficients: voltage, caches, sensor, and how it is judged
// by kernels it has not seen.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "analyze/energy/board_facts.h"
#include "analyze/energy/calibrate.h"
#include "analyze/energy/model.h"
#include "analyze/energy/work.h"

namespace gf {

namespace {

/// Points of a GPU whose voltage falls by 1.1 of the clock's share down to 0.8, from 2000 MHz.
std::vector<EnergyPoint> throttled_points() {
  const VoltageCurve truth{2000, 1.1, 0.8};
  std::vector<EnergyPoint> points;
  for (int run = 0; run < 24; ++run)
    for (const char* bench : {"context", "fma", "tensor", "dram"}) {
      EnergyPoint point;
      point.bench = bench;
      point.group = point.bench + std::to_string(run);
      point.seconds = 1;
      point.temperature_c = 40;
      if (point.bench == "context") {
        point.sm_mhz = 2000;
      } else {
        point.sm_mhz = 1400 + 25 * (run + 1);
      }
      if (point.bench != "context") {
        point.active = 0.5 + 0.02 * run;
        point.counts["inst"] = 1e11 * (1 + run % 3);
      }
      if (point.bench == "fma") point.counts["pipe.fma"] = 1e13 * (1 + run % 5);
      if (point.bench == "tensor") point.counts["tensor.bf16.wgmma"] = 1e14 * (1 + run % 5);
      if (point.bench == "dram") point.counts["dram.read"] = 1e11 * (1 + run % 5);
      point.energy_j = 130 +
                       truth.energy_factor(point.sm_mhz) *
                           (20 * point.active +
                            1e-12 * (50 * point.counts["inst"] + 10 * point.counts["pipe.fma"] +
                                     0.7 * point.counts["tensor.bf16.wgmma"])) +
                       1e-12 * 2000 * point.counts["dram.read"];
      points.push_back(point);
    }
  return points;
}

Capture counted(std::initializer_list<std::pair<const char*, double>> kernels) {
  Capture capture;
  capture.path = "report.csv";
  for (const auto& [name, sectors] : kernels) {
    const auto row = capture.report_kernels.add();
    capture.report_kernels.name[row] = capture.strings.intern(name);
    const auto counter = capture.kernel_counters.add();
    capture.kernel_counters.kernel[counter] = static_cast<std::uint32_t>(row);
    capture.kernel_counters.metric[counter] = capture.strings.intern("dram__sectors_read.sum");
    capture.kernel_counters.value[counter] = sectors;
  }
  return capture;
}

}  // namespace

TEST(EnergyVoltage, IsFoundFromPointsAtSeveralClocks) {
  const auto model = fit_energy(throttled_points(), 5);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_NEAR(model->voltage.reference_mhz, 2000, 1e-9);
  EXPECT_NEAR(model->voltage.slope, 1.1, 0.051);
  EXPECT_NEAR(model->voltage.floor, 0.8, 0.021);
  EXPECT_NEAR(model->find("tensor.bf16.wgmma")->picojoules, 0.7, 0.02);
  EXPECT_NEAR(model->find("dram.read")->picojoules, 2000, 40);
  EXPECT_LT(model->mean_absolute_error, 0.01);
}

TEST(EnergyVoltage, OneClockTellsNothingOfIt) {
  auto points = throttled_points();
  for (auto& point : points) point.sm_mhz = 1980;
  const auto model = fit_energy(points, 0);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->voltage.slope, 0);
  EXPECT_EQ(model->voltage.energy_factor(1000), 1);
}

TEST(EnergyVoltage, NeverRisesAboveTheReferenceNorFallsBelowTheFloor) {
  const VoltageCurve voltage_curve{2000, 1.0, 0.7};
  EXPECT_EQ(voltage_curve.energy_factor(2500), 1);
  EXPECT_DOUBLE_EQ(voltage_curve.energy_factor(1800), 0.81);
  EXPECT_DOUBLE_EQ(voltage_curve.energy_factor(500), 0.7 * 0.7);
  EXPECT_EQ(voltage_curve.energy_factor(std::nan("")), 1);
}

TEST(EnergyVoltage, LowersWhatIsOnTheChipAlone) {
  EnergyModel model;
  model.static_w = 100;
  model.active_w = 10;
  model.voltage = {2000, 1.0, 0.5};
  model.coefficients = {{"l2.load", "", 700, 600, 800}, {"dram.read", "", 2000, 1900, 2100}};
  EnergyEvaluator evaluator(model);
  evaluator.bring_to_clock(1600);  // 0.8 of the voltage
  EXPECT_DOUBLE_EQ(evaluator.joules(EnergyEvaluator::kStatic), 100);
  EXPECT_DOUBLE_EQ(evaluator.joules(EnergyEvaluator::kActive), 6.4);
  EXPECT_DOUBLE_EQ(evaluator.joules(evaluator.column("l2.load")), 700e-12 * 0.64);
  EXPECT_DOUBLE_EQ(evaluator.joules(evaluator.column("dram.read")), 2000e-12);
}

TEST(EnergyUnseen, PredictsFromTheDifferenceOfTwoCounts) {
  EnergyModel model;
  model.static_w = 100;
  model.coefficients = {{"dram.read", "access of 32 bytes", 2000, 1900, 2100}};
  // Twice 4 calls: 1e9 accesses the first time, caches cold, and 3e9 for twice as many: 5e8 a call.
  const auto report = counted(
      {{"spin_kernel", 7}, {"copy", 1e9}, {"spin_kernel", 7}, {"copy", 2e9}, {"copy", 1e9}});
  const auto counts =
      count_kernels({{"copy", 2, 2 * (100 + 90), 100, 1980, 40}}, {{"copy", 4}}, report);
  ASSERT_TRUE(counts) << counts.error().message();
  const auto judged = judge_by_unseen(model, *counts);
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_NEAR(judged.front().measured_j, 0.9, 1e-12);
  EXPECT_NEAR(judged.front().predicted_j, 1.0, 1e-12);
  EXPECT_NEAR(judged.front().relative, 1 / 0.9 - 1, 1e-12);
  EXPECT_NEAR(mean_absolute_error(judged), 1 / 0.9 - 1, 1e-12);
}

TEST(EnergyUnseen, SaysWhenReportAndNamesDiffer) {
  const auto counts = count_kernels({{"copy", 2, 300, 100, 1980, 40}}, {{"copy", 4}},
                                    counted({{"spin_kernel", 7}, {"copy", 1e9}}));
  ASSERT_FALSE(counts);
  EXPECT_NE(counts.error().what.find("1 ranges, not two of each of 1"), std::string::npos);
}

TEST(BoardFacts, CachesEndWhereTheLatencyJumps) {
  std::vector<LatencyStep> steps;
  for (int quarter = 0; quarter <= 80; ++quarter) {
    const double bytes = 1024 * std::exp2(quarter / 4.0);
    steps.push_back({bytes, bytes <= 200 * 1024 ? 20.0 : bytes <= 40e6 ? 140.0 : 400.0});
  }
  const auto levels = cache_levels(steps);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].level, "L1");
  EXPECT_LE(*levels[0].bytes, 200 * 1024);
  EXPECT_GT(*levels[0].bytes, 200 * 1024 / 1.2);
  EXPECT_EQ(levels[1].level, "L2");
  EXPECT_LE(*levels[1].bytes, 40e6);
  EXPECT_GT(*levels[1].bytes, 40e6 / 1.2);
  EXPECT_EQ(levels[2].level, "DRAM");
  EXPECT_FALSE(levels[2].bytes);
  EXPECT_EQ(levels[2].ns, 400);
}

TEST(BoardFacts, SensorPeriodAndDelay) {
  EnergyPointsFile file;
  for (double phase : {0.01, 0.05, 0.09}) {
    SensorAnswer answer{0.7, 130, {}, {}};
    for (int i = 0; i < 7; ++i) {
      answer.t_s.push_back(phase + 0.1 * i);
      answer.watts.push_back(i == 0 ? 150 : 470 + i);
    }  // 130 W to 470 W: the first lies below half
    file.sensor.push_back(answer);
  }
  const auto facts = board_facts(file, {});
  ASSERT_TRUE(facts.sensor);
  EXPECT_NEAR(facts.sensor->period_s, 0.1, 1e-9);
  EXPECT_NEAR(facts.sensor->delay_s, 0.15, 1e-9);
  EXPECT_NEAR(facts.sensor->delay_low, 0.11, 1e-9);
  EXPECT_NEAR(facts.sensor->delay_high, 0.19, 1e-9);
}

TEST(BoardFacts, DivisionIsTheDifferenceOfTwoChases) {
  EnergyPointsFile file;
  auto point = [&](const char* bench, double watts, double loops, std::int64_t threads = 1024) {
    RawEnergyPoint raw;
    raw.bench = bench;
    raw.threads = threads;
    raw.blocks = 264;
    raw.seconds = 1;
    raw.energy_j = watts;
    raw.instant_w = watts;
    raw.warps = 100;
    raw.loops_per_s = loops;
    file.points.push_back(raw);
  };
  std::vector<BenchCounts> benches;
  for (const char* level : {"l1", "l2", "dram"}) {
    const std::string plain = std::string(level) + "_load";
    benches.push_back({plain, "l1.load", 0, 0, {{"l1.load", 256}}});
    benches.push_back({plain + "_div", "div", 0, 0, {{"div", 1024}}});
    const double loop = level == std::string("dram") ? 1000e-9 : 100e-9,
                 division = 1024 * 200e-12;  // joules a warp and loop
    double offset = 135;
    if (level == std::string("dram")) offset = 160;
    point(plain.c_str(), offset + 100 * 2e5 * loop, 2e5, 32);
    point(plain.c_str(), offset + 100 * 7e5 * loop, 7e5, 512);
    point(plain.c_str(), offset + 100 * 1e6 * loop, 1e6);
    point((plain + "_div").c_str(), offset + 100 * 5e5 * (loop + division), 5e5);
    // Of a warp of eight threads a quarter divides.
    point(plain.c_str(), offset + 100 * 1e5 * loop, 1e5, 8);
    point((plain + "_div").c_str(), offset + 100 * 5e4 * (loop + division / 4 * 2), 5e4, 8);
  }
  const auto facts = board_facts(file, benches);
  ASSERT_EQ(facts.divisions.size(), 6u);
  for (const auto& division : facts.divisions)
    EXPECT_NEAR(division.picojoules, division.threads == 8 ? 400 : 200, 1e-6) << division.level;
  EXPECT_NEAR(facts.divisions[4].offset_w, 160, 1e-6);
  EXPECT_NEAR(facts.division_spread, 0, 1e-6);
  EXPECT_NEAR(facts.counter_over_power, 1, 1e-12);
}

TEST(BoardFacts, MemoryShareIsAboveWhatQuietRunsRead) {
  EnergyPointsFile file;
  auto point = [&](const char* bench, double watts, double memory) {
    RawEnergyPoint raw;
    raw.bench = bench;
    raw.threads = 1024;
    raw.blocks = 132;
    raw.seconds = 1;
    raw.energy_j = watts;
    raw.instant_w = watts;
    raw.memory_end_w = memory;
    raw.warps = 1000;
    raw.loops_per_s = 1e6;
    file.points.push_back(raw);
  };
  point("context", 130, 60);  // still falling from the run before
  for (int i = 0; i < 3; ++i) point("fma", 400, 40);
  point("dram_load_wide", 530, 240);
  const auto facts =
      board_facts(file, {{"fma", "pipe.fma", 0, 0, {{"pipe.fma", 4096}}},
                         {"dram_load_wide", "dram.read", 0, 0, {{"dram.read", 200}}}});
  ASSERT_EQ(facts.memory.size(), 1u);
  EXPECT_NEAR(facts.memory[0].board_pj, 400 / 2e11 * 1e12, 1e-9);
  EXPECT_NEAR(facts.memory[0].memory_pj, 200 / 2e11 * 1e12, 1e-9);
}

TEST(EnergyLeaveOneOut, PredictsWhatTheOthersKnowAndSkipsWhatTheyDoNot) {
  auto points = throttled_points();
  const auto fma_again = points;  // a second kernel of the same kind, which costs 10 % more
  for (auto again : fma_again)
    if (again.bench == "fma") {
      again.bench = "fma_dear";
      again.energy_j = 130 + 1.1 * (again.energy_j - 130);
      points.push_back(again);
    }
  const auto judged = leave_one_out(points);
  ASSERT_EQ(judged.size(), 2u);  // tensor and DRAM have features that nothing else has
  EXPECT_EQ(judged[0].bench, "fma");
  EXPECT_EQ(judged[1].bench, "fma_dear");
  EXPECT_NEAR(judged[0].relative, 0.1, 0.03);
  EXPECT_NEAR(judged[1].relative, 1 / 1.1 - 1, 0.03);
  EXPECT_EQ(judged[1].points, 24);
}

TEST(EnergyOperands, ComparesWithRandomDataNotWithAddresses) {
  auto curve = [](const char* bench, double pj) {
    LevelCurve level_curve;
    level_curve.bench = bench;
    level_curve.threads = 1024;
    level_curve.blocks = 132;
    level_curve.picojoules = pj;
    return level_curve;
  };
  const auto effects =
      operand_effects({curve("dram_load", 3000), curve("dram_load_wide", 3600),
                       curve("dram_load_zeros", 2400), curve("fma", 14), curve("fma_zeros", 4)});
  ASSERT_EQ(effects.size(), 2u);
  EXPECT_EQ(effects[0].bench, "dram_load_wide");
  EXPECT_EQ(effects[0].zeros_pj, 2400);
  EXPECT_EQ(effects[1].random_pj, 14);
}

TEST(EnergyCounts, TakeTheFirstExpressionWhoseCountersAreThere) {
  EXPECT_EQ(evaluate_counters("a + -1 * b | a", {{"a", 5.0}, {"b", 2.0}}), 3.0);
  EXPECT_EQ(evaluate_counters("a + -1 * b | a", {{"a", 5.0}}), 5.0);
  EXPECT_EQ(evaluate_counters("a + -1 * b | a", {{"b", 5.0}}), std::nullopt);
}

}  // namespace gf
