#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyze/energy/model.h"
#include "analyze/energy/model_file.h"
#include "report/json.h"

namespace gf {

namespace {

EnergyModel small_model() {
  EnergyModel model;
  model.gpu = "NVIDIA H200";
  model.static_w = 100;
  model.static_low = 98;
  model.static_high = 102;
  model.active_w = 50;
  model.active_low = 45;
  model.active_high = 55;
  model.per_celsius_w = 0.5;
  model.reference_celsius = 40;
  model.coefficients = {{"l1.load", "access of 32 bytes", 100, 90, 110},
                        {"l2.load", "access of 32 bytes", 700, 650, 750},
                        {"tensor.bf16.mma", "floating-point operation", 0.7, 0.6, 0.8},
                        {"tensor.bf16.wgmma", "floating-point operation", 0.6, 0.5, 0.7},
                        {"inst", "warp instruction", 20, 10, 30}};
  return model;
}

std::string text_of(const EnergyModel& model) {
  std::string json = "{\"model\":";
  to_json(json, model);
  return json + "}";
}

}  // namespace

TEST(EnergyModelFile, WhatIsWrittenReadsBack) {
  EnergyModel model = small_model();
  model.draw_columns = {"static_w", "active_w", "l1.load"};
  model.draws = {{101, 49, 95}, {99, 51, 105}};
  const auto back = parse_energy_model(text_of(model), "m.json");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(text_of(*back), text_of(model));
}

TEST(EnergyModelFile, SaysWhatIsWrong) {
  auto message = [](std::string_view text) {
    const auto model = parse_energy_model(text, "m.json");
    return model ? std::string("read") : model.error().message();
  };
  EXPECT_NE(message("").find("truncated"), std::string::npos);
  EXPECT_NE(message("{\"model\": {\"schema\": \"gpufa").find("truncated"), std::string::npos);
  EXPECT_NE(message("[]").find("not an energy model of gpufathom"), std::string::npos);
  EXPECT_NE(
      message("{\"schema\":\"gpufathom.analysis/1\"}").find("not an energy model of gpufathom"),
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
  EnergyModel model = small_model();
  model.coefficients[1].picojoules = -3;
  EXPECT_NE(message(text_of(model)).find("coefficient of l2.load"), std::string::npos);
  model = small_model();
  model.draw_columns = {"static_w"};
  model.draws = {{1, 2}};
  EXPECT_NE(message(text_of(model)).find("2 numbers for 1 columns"), std::string::npos);
}

// Updates behind the first were once seen late: no run is as long as it looked.
TEST(EnergyPoints, UpdatesThatWereSeenLate) {
  const auto points = [](double late) {
    std::string lines;
    for (int run = 0; run < 10; ++run) {
      std::string edges = R"({"t_s":0,"energy_j":0})";
      for (int i = 1; i <= 5; ++i)
        edges += fmt::format(R"(,{{"t_s":{},"energy_j":{}}})", 0.1 * i + late, 40 * i);
      lines += fmt::format(
          R"({{"bench":"fma_fp32","threads":1024,"blocks":132,"seconds":{},"energy_j":200,"edges":[{}]}})"
          "\n",
          0.5 + late, edges);
    }
    return parse_energy_points(lines, "x")->points;
  };
  for (const double late : {0.0, 0.02})
    for (const auto& point : points(late)) {
      EXPECT_NEAR(point.seconds, 0.5, 1e-9);
      EXPECT_NEAR(point.edge_t_s[1], 0.1, 1e-9);
      EXPECT_NEAR(point.edge_t_s[5], 0.5, 1e-9);
    }
  EXPECT_NEAR(points(-0.02)[0].seconds, 0.48, 1e-9) << "not earlier than they were seen";
}

TEST(EnergyEvaluator, AddsUpByComponent) {
  const EnergyEvaluator evaluator(small_model());
  EXPECT_EQ(evaluator.components(), (std::vector<std::string>{"static", "active", "instructions",
                                                              "tensor.bf16", "l1", "l2"}));
  auto work = evaluator.no_work();
  work[EnergyEvaluator::kStatic] = 2;
  work[EnergyEvaluator::kActive] = 1;
  work[EnergyEvaluator::kWarmth] = 20;
  work[evaluator.column("l1.load")] = 1e12;
  work[evaluator.column("tensor.bf16.mma")] = 1e12;
  work[evaluator.column("tensor.bf16.wgmma")] = 2e12;
  const auto joules = evaluator.by_component(work);
  EXPECT_NEAR(joules[0], 210, 1e-9);  // two seconds at 100 W, and 20 degree seconds
  EXPECT_NEAR(joules[1], 50, 1e-9);
  EXPECT_NEAR(joules[3], 1.9, 1e-9);
  EXPECT_NEAR(joules[4], 100, 1e-9);
  EXPECT_EQ(joules[5], 0);
  EXPECT_EQ(evaluator.column("dram.read"), evaluator.columns());
  const auto whole = evaluator.interval_of_sum(work);  // no draws: bounds are added
  EXPECT_NEAR(whole.low, 196 + 10 + 45 + 90 + .6 + 1.0, 1e-9);
  EXPECT_NEAR(whole.high, 204 + 10 + 55 + 110 + .8 + 1.4, 1e-9);
}

TEST(EnergyEvaluator, IntervalsHoldWhatOneBoardCannotKnow) {
  EnergyModel model = small_model();
  model.spread = {0.03, 0.1, 0.03, 0.09, 0.2};
  EnergyEvaluator plain(model), own(model), other(model), sampled(model);
  own.allow_for_spread(true, false);
  other.allow_for_spread(false, false);
  sampled.allow_for_spread(false, true);
  EnergyWork work = plain.no_work();
  work[EnergyEvaluator::kStatic] = 1;
  for (std::size_t i = EnergyEvaluator::kFeatures; i < work.size(); ++i) work[i] = 1e9;
  const auto width = [&](const EnergyEvaluator& evaluator) {
    const auto interval = evaluator.interval_of_sum(work);
    return interval.high - interval.low;
  };
  EXPECT_LT(width(plain), width(own));
  EXPECT_LT(width(own), width(other)) << "another board";
  EXPECT_LT(width(other), width(sampled)) << "sampled counts";
  // Static power is known on the model's own board, and not better than 3 % on another one.
  const auto idle = own.interval(work, own.component_of(EnergyEvaluator::kStatic));
  const auto there = other.interval(work, other.component_of(EnergyEvaluator::kStatic));
  EXPECT_NEAR(there.high - model.static_w, model.static_w * 0.0606, model.static_w * 0.02);
  EXPECT_LT(idle.high - idle.low, there.high - there.low);
}

TEST(EnergyEvaluator, DrawsKnowThatCoefficientsGoTogether) {
  EnergyModel model = small_model();
  model.draw_columns = {"l1.load", "l2.load"};  // one up, the other down: the sum hardly moves
  for (int i = -10; i <= 10; ++i) model.draws.push_back({100.0 + i, 700.0 - i});
  const EnergyEvaluator evaluator(model);
  auto work = evaluator.no_work();
  work[evaluator.column("l1.load")] = work[evaluator.column("l2.load")] = 1e12;
  EXPECT_NEAR(evaluator.interval_of_sum(work).low, 800, 1e-6);
  EXPECT_NEAR(evaluator.interval_of_sum(work).high, 800, 1e-6);
  EXPECT_LT(evaluator.interval(work, evaluator.component_of(evaluator.column("l1.load"))).low,
            91.01);
}

}  // namespace gf
