#include <memory>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "report/catalogue.h"

namespace gf::cli {

namespace {

struct MetricsArguments {
  MetricFilter filter;
  OutputOptions output;
};

int print_metrics(const MetricsArguments& options) {
  const auto entries = select_metrics(options.filter);
  if (!entries) return complain(entries.error());
  const bool json = chosen_format(options.output) == "json";
  const auto answer = json ? metrics_json(*entries)
                           : metrics_text(*entries, text_style(options.output.to_file()),
                                          !options.filter.ids.empty());
  if (const auto written = write_answer(options.output, answer); !written)
    return complain(written.error());
  return kWhole;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const auto& metric : metrics()) names.emplace_back(metric.id);
  return names;
}

std::vector<std::string> level_names() {
  std::vector<std::string> names;
  for (std::size_t level = 0; level < kMetricLevels; ++level)
    names.emplace_back(name_of(static_cast<MetricLevel>(level)));
  return names;
}

}  // namespace

Verb metrics_verb() {
  Verb verb{"metrics", "list the metrics and how each source measures them"};
  const auto options = std::make_shared<MetricsArguments>();
  verb.argument("ID ...", options->filter.ids,
                "metrics (dram.read) or groups (dram) to show with their sources")
      .suggest(metric_names());
  verb.option("--level", options->filter.level, "LEVEL",
              "only this level: gpu, sm, issue, tensor, ...")
      .suggest(level_names());
  verb.option("--chip", options->filter.chip, "CHIP",
              "only what this chip can measure: GA100, GH100, ...")
      .suggest(chip_names());
  add_output_options(verb, options->output, {"text", "json"});
  verb.run = [options] { return print_metrics(*options); };
  return verb;
}

}  // namespace gf::cli
