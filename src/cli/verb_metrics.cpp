#include <CLI/CLI.hpp>
#include <memory>

#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "report/reference/catalogue.h"

namespace gf::cli {

namespace {

struct Options {
  MetricFilter filter;
  OutputOptions output;
};

int print_metrics(const Options& o) {
  const auto entries = select_metrics(o.filter);
  if (!entries) return complain(entries.error());
  const bool json = chosen_format(o.output) == "json";
  const auto answer =
      json ? metrics_json(*entries)
           : metrics_text(*entries, text_style(o.output.to_file()), !o.filter.ids.empty());
  if (const auto written = write_answer(o.output, answer); !written)
    return complain(written.error());
  return kWhole;
}

}  // namespace

void add_metrics(CLI::App& app, int& exit_code) {
  auto* verb =
      app.add_subcommand("metrics", "what every metric means and how each source measures it");
  auto o = std::make_shared<Options>();
  verb->add_option("ID", o->filter.ids,
                   "metrics (dram.read) or groups (dram) to show with their sources")
      ->option_text("ID ...");
  verb->add_option("--level", o->filter.level, "only this level: gpu, sm, issue, tensor, ...")
      ->option_text("LEVEL");
  verb->add_option("--chip", o->filter.chip, "only what this chip can measure: GA100, GH100, ...")
      ->option_text("CHIP");
  add_output_options(*verb, o->output, {"text", "json"});
  verb->callback([o, &exit_code] { exit_code = print_metrics(*o); });
}

}  // namespace gf::cli
