#include <memory>
#include <optional>

#include "analyze/analyze.h"
#include "cli/energy_model.h"
#include "cli/json_line.h"
#include "cli/load_capture.h"
#include "cli/output.h"
#include "cli/progress_display.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "cli/window_option.h"
#include "report/energy.h"
#include "report/html/page.h"
#include "report/json.h"

namespace gf::cli {

namespace {

struct EnergyArguments {
  InputOptions input;
  OutputOptions output;
  std::string window = "auto", model;
  std::int64_t batch = 0;
  std::optional<std::size_t> rows;
};

Result<std::string> rendered(const EnergyArguments& options, const std::string& format,
                             const Analysis& analysis, const std::optional<Context>& context) {
  if (format == "html")
    return analysis_html(analysis, context ? &*context : nullptr, PageOrder::energy);
  const EnergyReport report{EnergyReport{}.schema, analysis.source, analysis.counters_source,
                            analysis.quality,      analysis.window, analysis.energy};
  if (format == "text")
    return energy_text(report, text_style(options.output.to_file()), text_rows(options.rows));
  return json_line(report);
}

int energy_of(const EnergyArguments& out) {
  const std::string format = chosen_format(out.output);
  if (format == "html" && !out.output.to_file() && stdout_is_terminal())
    return complain("--format html wants -o FILE", kWrongUsage);
  ProgressDisplay progress;
  auto loaded = load_capture(out.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  const auto model = find_energy_model(out.model, loaded->capture);
  if (!model) return complain(model.error());
  AnalyzeOptions options;
  options.window = out.window;
  options.batch = out.batch;
  options.max_rows = other_rows(format, out.rows);
  if (*model) options.energy_model = &**model;
  options.kernel_rates = loaded->rates();
  options.progress = progress.callback();
  std::optional<Context> context;
  auto analysis = analyze(loaded->capture, options, &context);
  progress.wipe();
  if (!analysis) return complain(analysis.error(), out.input.trace, loaded->capture);
  analysis->counters_source = loaded->counters;
  if (analysis->energy.devices.empty())
    return complain(out.input.trace + ": no energy: " + analysis->energy.why_missing, kBadInput);
  return give_analysis(out.output, out.input.trace, *analysis,
                       rendered(out, format, *analysis, context));
}

}  // namespace

Verb energy_verb() {
  Verb verb{"energy",
            "where the joules of a recorded run went: static power, units and memory levels, by "
            "step, layer and kernel"};
  const auto options = std::make_shared<EnergyArguments>();
  add_input_options(verb, options->input);
  verb.option(
          "--model", options->model, "FILE",
          "energy model that `calibrate` wrote (default: the one shipped for the capture's GPU)")
      .input();
  add_window_option(
      verb, options->window,
      "span: auto (default: the steps, or all without any), all, steps, stable, step:N or "
      "START:END, such as 10ms:25ms");
  verb.option("--batch", options->batch, "N", "items of a step: gives joules per item").positive();
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output);
  verb.run = [options] { return energy_of(*options); };
  return verb;
}

}  // namespace gf::cli
