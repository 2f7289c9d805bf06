#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

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
