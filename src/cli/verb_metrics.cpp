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

Verb metrics_verb() {
  Verb verb{"metrics", "what every metric means and how each source measures it"};
  const auto o = std::make_shared<Options>();
  verb.argument("ID ...", o->filter.ids,
                "metrics (dram.read) or groups (dram) to show with their sources");
  verb.option("--level", o->filter.level, "LEVEL", "only this level: gpu, sm, issue, tensor, ...");
  verb.option("--chip", o->filter.chip, "CHIP",
              "only what this chip can measure: GA100, GH100, ...");
  add_output_options(verb, o->output, {"text", "json"});
  verb.run = [o] { return print_metrics(*o); };
  return verb;
}

}  // namespace gf::cli
