// Pages of Nsight Compute: what columns and rows of rules are beside the metrics changes no metric.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "import/formats.h"
#include "support/ncu_page.h"
#include "support/report_view.h"

namespace gf {
namespace {

std::string random_text(const char* letters, std::size_t most) {
  return *rc::gen::resize(static_cast<int>(most), rc::gen::container<std::string>(
                                                      rc::gen::elementOf(std::string(letters))));
}

/// As ncu prints numbers: whole or with two decimals, with separators of thousands.
std::string random_value() {
  const auto whole = *rc::gen::inRange(0, 2'000'000);
  std::string text = std::to_string(whole);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  const auto cents = *rc::gen::inRange(0, 200);
  if (cents < 100) text += "." + std::string(cents < 10 ? "0" : "") + std::to_string(cents);
  return text;
}

std::vector<test::NcuKernel> random_kernels() {
  std::vector<test::NcuKernel> kernels(*rc::gen::inRange<std::size_t>(1, 5));
  for (auto& kernel : kernels) {
    kernel.name = "k" + random_text("ab<>,\"():; ", 8);
    const auto metrics = *rc::gen::inRange(1, 8);
    for (int i = 0; i < metrics; ++i)
      kernel.metrics.push_back(
          {*rc::gen::element<std::string>("Duration", "Elapsed Cycles", "L2 Hit Rate",
                                          "Achieved Occupancy", "Registers Per Thread", "a__b.sum"),
           *rc::gen::element<std::string>("us", "cycle", "%", ""), random_value(),
           *rc::gen::element<std::string>("Occupancy", "Launch Statistics")});
    const auto rules = *rc::gen::inRange(0, 4);
    for (int i = 0; i < rules; ++i)
      kernel.rules.push_back({"Occupancy", "R" + std::to_string(i),
                              *rc::gen::element<std::string>("OPT", "INF", "WRN"),
                              random_text("ab ,\"\n.%", 20),
                              *rc::gen::element<std::string>("", "global", "local"),
                              *rc::gen::element<std::string>("", "50", "81.25")});
  }
  return kernels;
}

using Metrics = std::vector<std::map<std::string, test::CounterCell>>;

Metrics metrics_of(const Capture& capture) {
  Metrics out;
  for (std::uint32_t kernel = 0; kernel < capture.report_kernels.size(); ++kernel)
    out.push_back(test::counters_of(capture, kernel));
  return out;
}

RC_GTEST_PROP(NcuCsv, APageWithRulesHasTheMetricsOfOneWithout, ()) {
  const auto kernels = random_kernels();
  std::size_t rules = 0;
  for (const auto& kernel : kernels) rules += kernel.rules.size();
  const auto read = [&](const test::NcuStyle& style) {
    auto capture = ncu::parse_csv(test::ncu_details(kernels, style), "page.csv");
    RC_ASSERT(capture.has_value());
    RC_ASSERT(!test::quality_of(*capture).contains("bad_row"));
    RC_ASSERT(!test::quality_of(*capture).contains("truncated"));
    return std::move(*capture);
  };
  const Capture plain = read({.rules = false});
  RC_ASSERT(plain.report_kernels.size() == kernels.size());
  const Metrics metrics = metrics_of(plain);
  for (const test::NcuStyle style :
       {test::NcuStyle{}, test::NcuStyle{.padded = true}, test::NcuStyle{.by_metric = true}}) {
    const Capture other = read(style);
    RC_ASSERT(metrics_of(other) == metrics);
    RC_ASSERT(other.kernel_rules.size() == rules);
  }
}

}  // namespace
}  // namespace gf
