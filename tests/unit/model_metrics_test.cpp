#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include "model/levels.h"
#include "model/metrics.h"

namespace gf {
namespace {

TEST(Metrics, IdsAndNamesAreWellFormedAndUnique) {
  std::set<std::string_view> ids, names;
  const std::regex id("[a-z0-9]+\\.[a-z0-9_]+"), name("[a-z0-9_]+");
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(ids.insert(metric.id).second) << metric.id << " stands twice";
    EXPECT_TRUE(names.insert(metric.openmetrics).second) << metric.openmetrics << " stands twice";
    EXPECT_TRUE(std::regex_match(std::string(metric.id), id)) << metric.id;
    EXPECT_TRUE(std::regex_match(std::string(metric.openmetrics), name)) << metric.openmetrics;
    EXPECT_FALSE(metric.definition.empty());
    EXPECT_EQ(metric.definition.back(), '.') << metric.id;
  }
}

TEST(Metrics, EveryInputHasAMetricAndEveryMetricAnInput) {
  std::set<std::string_view> seen;
  std::string_view last;
  for (const MetricInput& input : metric_inputs()) {
    EXPECT_NE(find_metric(input.metric), nullptr) << input.metric;
    EXPECT_NE(input.chips, 0) << input.metric;
    EXPECT_TRUE(seen.count(input.metric) == 0 || input.metric == last)
        << input.metric << ": inputs stand together";
    seen.insert(last = input.metric);
  }
  for (const Metric& metric : metrics())
    EXPECT_TRUE(seen.count(metric.id)) << metric.id << " has no input";
}

TEST(Metrics, OneExpressionForEachSourceAndChip) {
  for (const MetricInput& one : metric_inputs())
    for (const MetricInput& another : metric_inputs()) {
      if (&one == &another || one.metric != another.metric || one.source != another.source)
        continue;
      EXPECT_EQ(one.chips & another.chips, 0)
          << one.metric << ": " << one.expression << " and " << another.expression;
    }
}

TEST(Metrics, EachColumnOfALogIsOneMetric) {
  for (const CatalogueColumn& column : log_columns())
    EXPECT_NE(find_metric(column.metric), nullptr) << column.metric;
  for (const auto log : {LogKind::smi_csv, LogKind::smi_dmon, LogKind::dcgmi, LogKind::nsys}) {
    std::set<std::string_view> names;
    find_column(log, [&](std::string_view name) {
      EXPECT_TRUE(names.insert(name).second) << name << " stands twice";
      return false;
    });
    EXPECT_FALSE(names.empty());
  }
}

TEST(Levels, WhatIsShownLiveIsSampledAndSolved) {
  for (const LevelRow& row : levels_shown(kLive)) {
    const auto sampled = find_input(row.id, MetricSource::pm) ? row.id : row.stand_in;
    EXPECT_NE(find_input(sampled, MetricSource::pm), nullptr)
        << row.id << ": no row for PM sampling";
    const bool solved = find_input(sampled, MetricSource::solved) != nullptr;
    EXPECT_TRUE(solved || row.place == LevelPlace::window) << row.id << ": no solved row";
  }
}

TEST(Levels, EveryRungOfKernelsHasAFormulaThatHoldsOnAllChips) {
  for (std::size_t rung = 0; rung < kKernelLevels; ++rung) {
    const auto level = static_cast<KernelLevel>(rung);
    if (level == KernelLevel::tensor_flops || level == KernelLevel::matrix_issue ||
        row_of(level).place == LevelPlace::of_accesses)
      continue;
    EXPECT_TRUE(std::ranges::any_of(level_formulas(),
                                    [&](const LevelFormula& formula) {
                                      return formula.level == level && formula.chips == kEveryChip;
                                    }))
        << id_of(level) << ": no GF_INPUT(report) or GF_FORMULA";
    EXPECT_TRUE(row_of(level).bound.empty() || find_metric(row_of(level).bound)) << id_of(level);
    EXPECT_TRUE(row_of(level).stand_in.empty() || find_metric(row_of(level).stand_in))
        << id_of(level);
  }
}

TEST(Metrics, ChipsNameTheirOwnCounters) {
  auto expression = [](std::string_view metric, MetricSource source, ChipId chip) {
    for (const MetricInput& input : metric_inputs())
      if (input.metric == metric && input.source == source && (input.chips & bit(chip)))
        return input.expression;
    return std::string_view();
  };
  EXPECT_EQ(expression("dram.read", MetricSource::report, ChipId::GB202),
            "dram__bytes_op_read.sum");
  EXPECT_EQ(expression("dram.read", MetricSource::report, ChipId::GH100), "dram__bytes_read.sum");
  EXPECT_EQ(expression("dram.read", MetricSource::pm, ChipId::GV100), "");
}

}  // namespace
}  // namespace gf
