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
  for (const Metric& m : metrics()) {
    EXPECT_TRUE(ids.insert(m.id).second) << m.id << " stands twice";
    EXPECT_TRUE(names.insert(m.openmetrics).second) << m.openmetrics << " stands twice";
    EXPECT_TRUE(std::regex_match(std::string(m.id), id)) << m.id;
    EXPECT_TRUE(std::regex_match(std::string(m.openmetrics), name)) << m.openmetrics;
    EXPECT_FALSE(m.definition.empty());
    EXPECT_EQ(m.definition.back(), '.') << m.id;
  }
}

TEST(Metrics, EveryInputHasAMetricAndEveryMetricAnInput) {
  std::set<std::string_view> seen;
  std::string_view last;
  for (const MetricInput& i : metric_inputs()) {
    EXPECT_NE(find_metric(i.metric), nullptr) << i.metric;
    EXPECT_NE(i.chips, 0) << i.metric;
    EXPECT_TRUE(seen.count(i.metric) == 0 || i.metric == last)
        << i.metric << ": inputs stand together";
    seen.insert(last = i.metric);
  }
  for (const Metric& m : metrics()) EXPECT_TRUE(seen.count(m.id)) << m.id << " has no input";
}

TEST(Metrics, OneExpressionForEachSourceAndChip) {
  for (const MetricInput& a : metric_inputs())
    for (const MetricInput& b : metric_inputs()) {
      if (&a == &b || a.metric != b.metric || a.source != b.source) continue;
      EXPECT_EQ(a.chips & b.chips, 0)
          << a.metric << ": " << a.expression << " and " << b.expression;
    }
}

TEST(Metrics, ExpressionByChip) {
  EXPECT_EQ(metric_expression("dram.read", MetricSource::report, ChipId::GB202),
            "dram__bytes_op_read.sum");
  EXPECT_EQ(metric_expression("dram.read", MetricSource::report, ChipId::GH100),
            "dram__bytes_read.sum");
  EXPECT_EQ(metric_expression("dram.read", MetricSource::pm, ChipId::GV100), "");
  EXPECT_EQ(metric_expression("no.such", MetricSource::pm, ChipId::GH100), "");
}

}  // namespace
}  // namespace gf
