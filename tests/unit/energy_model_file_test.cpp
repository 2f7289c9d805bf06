#include <gtest/gtest.h>

#include "analyze/energy/evaluate.h"
#include "analyze/energy/model_file.h"
#include "report/json.h"

namespace gf {

namespace {

EnergyModel small_model() {
  EnergyModel m;
  m.gpu = "NVIDIA H200";
  m.static_w = 100, m.static_low = 98, m.static_high = 102;
  m.active_w = 50, m.active_low = 45, m.active_high = 55;
  m.per_celsius_w = 0.5, m.reference_celsius = 40;
  m.coefficients = {{"l1.load", "access of 32 bytes", 100, 90, 110},
                    {"l2.load", "access of 32 bytes", 700, 650, 750},
                    {"tensor.bf16.mma", "floating-point operation", 0.7, 0.6, 0.8},
                    {"tensor.bf16.wgmma", "floating-point operation", 0.6, 0.5, 0.7},
                    {"inst", "warp instruction", 20, 10, 30}};
  return m;
}

std::string text_of(const EnergyModel& m) {
  std::string json = "{\"model\":";
  to_json(json, m);
  return json + "}";
}

}  // namespace

TEST(EnergyModelFile, WhatIsWrittenReadsBack) {
  EnergyModel m = small_model();
  m.draw_columns = {"static_w", "active_w", "l1.load"};
  m.draws = {{101, 49, 95}, {99, 51, 105}};
  const auto back = parse_energy_model(text_of(m), "m.json");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(text_of(*back), text_of(m));
}

TEST(EnergyModelFile, SaysWhatIsWrong) {
  auto message = [](std::string_view text) {
    const auto m = parse_energy_model(text, "m.json");
    return m ? std::string("read") : m.error().message();
  };
  EXPECT_NE(message("").find("breaks off"), std::string::npos);
  EXPECT_NE(message("{\"model\": {\"schema\": \"gpufa").find("byte"), std::string::npos);
  EXPECT_NE(message("[]").find("no energy model of gpufathom"), std::string::npos);
  EXPECT_NE(message("{\"schema\":\"gpufathom.analysis/1\"}").find("no energy model of gpufathom"),
            std::string::npos);
  EXPECT_NE(message("{\"schema\":\"gpufathom.energy/9\"}").find("layout gpufathom.energy/9"),
            std::string::npos);
  EXPECT_NE(message("{\"schema\":\"gpufathom.energy/1\",\"static_w\":1,\"active_w\":1}")
                .find("without coefficients"),
            std::string::npos);
  EXPECT_NE(message("{\"schema\":\"gpufathom.energy/"
                    "1\",\"static_w\":\"much\",\"active_w\":1,\"coefficients\":[]}")
                .find("static power"),
            std::string::npos);
  EnergyModel m = small_model();
  m.coefficients[1].picojoules = -3;
  EXPECT_NE(message(text_of(m)).find("coefficient of l2.load"), std::string::npos);
  m = small_model();
  m.draw_columns = {"static_w"}, m.draws = {{1, 2}};
  EXPECT_NE(message(text_of(m)).find("2 numbers for 1 columns"), std::string::npos);
}

TEST(EnergyEvaluator, AddsUpByComponent) {
  const EnergyEvaluator e(small_model());
  EXPECT_EQ(e.components(), (std::vector<std::string>{"static", "active", "instructions",
                                                      "tensor.bf16", "l1", "l2"}));
  auto work = e.no_work();
  work[EnergyEvaluator::kStatic] = 2, work[EnergyEvaluator::kActive] = 1,
  work[EnergyEvaluator::kWarmth] = 20;
  work[e.column("l1.load")] = 1e12, work[e.column("tensor.bf16.mma")] = 1e12,
  work[e.column("tensor.bf16.wgmma")] = 2e12;
  const auto joules = e.by_component(work);
  EXPECT_NEAR(joules[0], 210, 1e-9);  // two seconds at 100 W, and 20 degree seconds
  EXPECT_NEAR(joules[1], 50, 1e-9);
  EXPECT_NEAR(joules[3], 1.9, 1e-9);
  EXPECT_NEAR(joules[4], 100, 1e-9);
  EXPECT_EQ(joules[5], 0);
  EXPECT_EQ(e.column("dram.read"), e.columns());
  const auto whole = e.interval_of_sum(work);  // no draws: bounds are added
  EXPECT_NEAR(whole.low, 196 + 10 + 45 + 90 + .6 + 1.0, 1e-9);
  EXPECT_NEAR(whole.high, 204 + 10 + 55 + 110 + .8 + 1.4, 1e-9);
}

TEST(EnergyEvaluator, DrawsKnowThatCoefficientsGoTogether) {
  EnergyModel m = small_model();
  m.draw_columns = {"l1.load", "l2.load"};  // one up, the other down: the sum hardly moves
  for (int i = -10; i <= 10; ++i) m.draws.push_back({100.0 + i, 700.0 - i});
  const EnergyEvaluator e(m);
  auto work = e.no_work();
  work[e.column("l1.load")] = work[e.column("l2.load")] = 1e12;
  EXPECT_NEAR(e.interval_of_sum(work).low, 800, 1e-6);
  EXPECT_NEAR(e.interval_of_sum(work).high, 800, 1e-6);
  EXPECT_LT(e.interval(work, e.component_of(e.column("l1.load"))).low, 91.01);
}

}  // namespace gf
