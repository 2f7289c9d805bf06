#include <memory>
#include <optional>

#include "analyze/analyze.h"
#include "cli/energy_model.h"
#include "cli/load_capture.h"
#include "cli/output.h"
#include "cli/progress_display.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "report/energy.h"
#include "report/html/page.h"
#include "report/json.h"

namespace gf::cli {

namespace {

struct Options {
  InputOptions input;
  OutputOptions output;
  std::string window = "all", model;
  std::int64_t batch = 0;
  std::optional<std::size_t> rows;
};

Result<std::string> rendered(const Options& o, const std::string& format, const Analysis& a,
                             const std::optional<Context>& context) {
  if (format == "html") return analysis_html(a, context ? &*context : nullptr);
  const EnergyReport report{
      EnergyReport{}.schema, a.source, a.counters_source, a.quality, a.window, a.energy};
  if (format == "text")
    return energy_text(report, text_style(o.output.to_file()), text_rows(o.rows));
  std::string json;
  to_json(json, report);
  return json += '\n';
}

int energy_of(const Options& o) {
  const std::string format = chosen_format(o.output);
  if (format == "html" && !o.output.to_file() && stdout_is_terminal())
    return complain("--format html wants -o FILE", kWrongUsage);
  ProgressDisplay progress;
  auto loaded = load_capture(o.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  const auto model = find_energy_model(o.model, loaded->capture);
  if (!model) return complain(model.error());
  AnalyzeOptions options;
  options.window = o.window;
  options.batch = o.batch;
  options.max_rows = other_rows(format, o.rows);
  options.energy_model = *model ? &**model : nullptr;
  options.progress = progress.callback();
  std::optional<Context> context;
  auto analysis = analyze(loaded->capture, options, &context);
  progress.wipe();
  if (!analysis) return complain(analysis.error(), o.input.trace, loaded->capture);
  analysis->counters_source = loaded->counters;
  if (analysis->energy.devices.empty())
    return complain(o.input.trace + ": no energy: " + analysis->energy.why_missing, kBadInput);
  return give_analysis(o.output, o.input.trace, *analysis, rendered(o, format, *analysis, context));
}

}  // namespace

Verb energy_verb() {
  Verb verb{"energy",
            "where the joules of a recorded run went: static power, units and memory levels, by "
            "step, layer and kernel"};
  const auto o = std::make_shared<Options>();
  add_input_options(verb, o->input);
  verb.option(
          "--model", o->model, "FILE",
          "energy model that `calibrate` wrote (default: the one shipped for the capture's GPU)")
      .input();
  verb.option("--window", o->window, "W",
              "span: all (default), steps, stable, step:N or START:END, such as 10ms:25ms");
  verb.option("--batch", o->batch, "N", "items of a step: gives joules per item").positive();
  add_rows_option(verb, o->rows);
  add_output_options(verb, o->output);
  verb.run = [o] { return energy_of(*o); };
  return verb;
}

}  // namespace gf::cli
