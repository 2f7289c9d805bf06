#include <memory>

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

}  // namespace

Verb metrics_verb() {
  Verb verb{"metrics", "list the metrics and how each source measures them"};
  const auto options = std::make_shared<MetricsArguments>();
  verb.argument("ID ...", options->filter.ids,
                "metrics (dram.read) or groups (dram) to show with their sources");
  verb.option("--level", options->filter.level, "LEVEL",
              "only this level: gpu, sm, issue, tensor, ...");
  verb.option("--chip", options->filter.chip, "CHIP",
              "only what this chip can measure: GA100, GH100, ...");
  add_output_options(verb, options->output, {"text", "json"});
  verb.run = [options] { return print_metrics(*options); };
  return verb;
}

}  // namespace gf::cli
