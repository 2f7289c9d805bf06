#include <gtest/gtest.h>

#include <random>

#include "analyze/energy/calibration.h"

namespace gf {

namespace {

/// Points of a GPU whose energies are known, with `noise` relative error.
std::vector<EnergyPoint> known_points(double noise) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, noise);
  std::vector<EnergyPoint> points;
  for (int run = 0; run < 12; ++run)
    for (const char* bench : {"context", "l1", "l2", "dram", "fma"}) {
      EnergyPoint point;
      point.bench = bench;
      point.group = point.bench + std::to_string(run % 4);
      point.seconds = 1.0 + 0.1 * run;
      point.temperature_c = 40;
      point.sm_mhz = 1980;
      const double rate = (1 + run % 4) * 1e11 * point.seconds;
      if (point.bench != "context") {
        point.active = 1;
        point.counts["inst"] = rate;
      }
      if (point.bench == "l1" || point.bench == "l2" || point.bench == "dram")
        point.counts["l1.load"] = 8 * rate * (1 + run % 3);
      if (point.bench == "l2" || point.bench == "dram")
        point.counts["l2.load"] = point.counts["l1.load"];
      if (point.bench == "dram") point.counts["dram.read"] = point.counts["l1.load"];
      if (point.bench == "fma") point.counts["pipe.fma"] = 32 * rate * (1 + run % 3);
      point.energy_j = point.seconds * (130 + 20 * point.active) +
                       1e-12 * (50 * point.counts["inst"] + 100 * point.counts["l1.load"] +
                                700 * point.counts["l2.load"] + 2000 * point.counts["dram.read"] +
                                10 * point.counts["pipe.fma"]);
      point.energy_j *= 1 + normal(random);
      points.push_back(point);
    }
  return points;
}

const std::map<std::string, double> kTruth{
    {"inst", 50}, {"l1.load", 100}, {"l2.load", 700}, {"dram.read", 2000}, {"pipe.fma", 10}};

}  // namespace

TEST(EnergyFit, RecoversKnownCoefficientsExactly) {
  const auto model = fit_energy(known_points(0), 20);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_NEAR(model->static_w, 130, 1e-6);
  EXPECT_NEAR(model->active_w, 20, 1e-6);
  for (const auto& [feature, pj] : kTruth) {
    ASSERT_NE(model->find(feature), nullptr) << feature;
    EXPECT_NEAR(model->find(feature)->picojoules, pj, 1e-6 * pj) << feature;
    EXPECT_TRUE(model->find(feature)->identified) << feature;
  }
  EXPECT_LT(model->mean_absolute_error, 1e-9);
}

TEST(EnergyFit, IntervalsHoldTheTruthUnderNoise) {
  const auto model = fit_energy(known_points(0.01), 300);
  ASSERT_TRUE(model);
  for (const char* feature : {"l2.load", "dram.read", "pipe.fma"}) {
    const auto* coefficient = model->find(feature);
    EXPECT_LE(coefficient->low, kTruth.at(feature)) << feature;
    EXPECT_GE(coefficient->high, kTruth.at(feature)) << feature;
    EXPECT_LT(coefficient->high - coefficient->low, 0.5 * coefficient->picojoules) << feature;
  }
}

TEST(EnergyFit, SaysWhenPointsAreTooFew) {
  auto points = known_points(0);
  points.resize(6);
  const auto model = fit_energy(points);
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().what.find("too few points"), std::string::npos);
  EXPECT_FALSE(fit_energy({}));
}

TEST(EnergyFit, ColumnsThatMoveTogetherAreNotIdentified) {
  auto points = known_points(0);
  for (auto& point : points)
    if (point.counts.count("dram.read")) point.counts["twin"] = 2 * point.counts["dram.read"];
  const auto model = fit_energy(points, 10);
  ASSERT_TRUE(model);
  EXPECT_FALSE(model->find("twin")->identified && model->find("dram.read")->identified);
}

TEST(EnergyChecks, FindKernelsThatMissTheirLevel) {
  BenchCounts good{"l1_load",
                   "l1.load",
                   1024,
                   264,
                   {{"l1.load", 256}},
                   false,
                   {{"l1.load", 256.5}, {"l2.load", 1}}};
  BenchCounts wrong_count{"fma", "pipe.fma",          1024, 132, {{"pipe.fma", 4096}},
                          false, {{"pipe.fma", 2048}}};
  BenchCounts misses{"l2_load",
                     "l2.load",
                     1024,
                     264,
                     {{"l2.load", 256}},
                     false,
                     {{"l2.load", 256}, {"dram.read", 30}}};
  const auto findings = check_counts({good, wrong_count, misses});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].bench, "fma");
  EXPECT_EQ(findings[1].what, "11.7 % of its loads miss L2");
}

TEST(EnergyCurves, SlopeIsEnergyAboveIdlePerAccess) {
  BenchCounts bench{"l1_load", "l1.load", 0, 0, {{"l1.load", 256}}};
  RawEnergyPoint point;
  point.bench = "l1_load";
  point.threads = 1024;
  point.blocks = 264;
  point.warps = 8448;
  point.loops_per_s = 1000;
  for (int i = 0; i <= 12; ++i) {
    point.edge_t_s.push_back(0.1 * i);
    point.edge_energy_j.push_back(0.1 * i * (130 + 256.0 * 8448 * 1000 * 150e-12));
  }
  const auto curves = level_curves({point}, {bench}, 130);
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_NEAR(curves[0].picojoules, 150, 1e-6);
  EXPECT_NEAR(curves[0].r2, 1, 1e-12);
  EXPECT_EQ(curves[0].points, 12);
}

}  // namespace gf
