#include <gtest/gtest.h>

#include <protozero/pbf_reader.hpp>
#include <set>
#include <string>

#include "report/openmetrics.h"

namespace gf {
namespace {

/// Names of the metrics of an OTLP request that have points, with their attributes' texts.
std::set<std::string> texts_of(const std::string& request) {
  std::set<std::string> texts;
  const auto walk = [&](const auto& self, protozero::pbf_reader message, int depth) -> void {
    while (message.next()) {
      if (message.wire_type() != protozero::pbf_wire_type::length_delimited) {
        message.skip();
        continue;
      }
      const auto view = message.get_view();
      texts.emplace(view.data(), view.size());
      try {
        if (depth < 9) self(self, protozero::pbf_reader(view), depth + 1);
      } catch (const protozero::exception&) {
        continue;  // a text
      }
    }
  };
  walk(walk, protozero::pbf_reader(request), 0);
  return texts;
}

TEST(ServingSeries, PrometheusAndOpenTelemetryHaveTheSame) {
  LiveTable table;
  LiveServing program;
  program.pid = 4711;
  program.name = "engine\xff";
  program.time_ns = 1'700'000'000'500'000'000;
  program.values = {{"tokens_per_second", 5000}, {"between_tokens_seconds_p90", 0.0125}};
  program.kinds = {{"decode", {{"share", 0.75}, {"step_seconds_p50", 0.002}}}};
  table.serving = {program};
  const std::string page = open_metrics(table, {});
  for (const char* line :
       {"gpufathom_serving_tokens_per_second{pid=\"4711\",process=\"engine\xef\xbf\xbd\"} 5000\n",
        "gpufathom_serving_between_tokens_seconds{pid=\"4711\",process=\"engine\xef\xbf\xbd\","
        "quantile=\"0.9\"} 0.0125\n",
        "gpufathom_serving_time_ratio{pid=\"4711\",process=\"engine\xef\xbf\xbd\",kind=\"decode\"} "
        "0.75\n",
        "kind=\"decode\",quantile=\"0.5\"} 0.002\n"})
    EXPECT_NE(page.find(line), std::string::npos) << line << page;
  EXPECT_EQ(page.find("first_token"), std::string::npos);
  const auto texts = texts_of(otlp_metrics(table));
  for (const char* text :
       {"gpufathom.serving.tokens_per_second", "gpufathom.serving.between_tokens_seconds",
        "gpufathom.serving.time_ratio", "gpufathom.serving.step_seconds",
        "gpufathom.serving.window_end_seconds", "4711", "engine\xef\xbf\xbd", "decode", "0.9"})
    EXPECT_TRUE(texts.contains(text)) << text;
  EXPECT_FALSE(texts.contains("gpufathom.serving.first_token_seconds"));
}

}  // namespace
}  // namespace gf
