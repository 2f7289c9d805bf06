#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "analyze/analyze.h"
#include "analyze/energy/attribute.h"
#include "analyze/window.h"
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
  std::size_t rows = 0;
};

/// A recording without kernels knows no steps, layers or kernels; its energy still has components.
Result<Analysis> analyze_samples(const Capture& capture, const Options& o, const EnergyModelFile* model) {
  Analysis analysis;
  analysis.source = {capture.path, capture.format, capture.framework, capture.events, capture.bytes};
  for (std::size_t i = 0; i < capture.quality.size(); ++i)
    analysis.quality.push_back({std::string(capture.text(capture.quality.code[i])), capture.quality.count[i], std::string(capture.text(capture.quality.detail[i]))});
  const auto known = sampled_span(capture);
  if (!known) {
    analysis.energy = measure_energy(capture, {0, 0}, model);
    return analysis;
  }
  Interval span = *known;
  if (o.window != "all") {
    if (o.window.find(':') == std::string::npos || o.window.starts_with("step:"))
      return fail("--window " + o.window + ": the capture holds no kernels and so no steps", capture.path, -1, "use all or START:END, or record with --kernels");
    const auto asked = parse_span(capture.path, o.window, span);
    if (!asked) return tl::unexpected(asked.error());
    span = *asked;
  }
  analysis.window.kind = o.window == "all" ? "all" : "range";
  analysis.window.start_ns = span.start, analysis.window.end_ns = span.end, analysis.window.duration_ns = span.length();
  analysis.window.step_source = "none";
  analysis.energy = measure_energy(capture, span, model);
  return analysis;
}

Result<std::string> rendered(const Options& o, const std::string& format, const Analysis& a, const std::optional<Context>& context) {
  if (format == "html") return analysis_html(a, context ? &*context : nullptr);
  const EnergyReport report{EnergyReport{}.schema, a.source, a.counters_source, a.quality, a.window, a.energy};
  if (format == "text") return energy_text(report, text_style(o.output.to_file()), o.rows ? o.rows : 12);
  std::string json;
  to_json(json, report);
  return json += '\n';
}

int energy_of(const Options& o) {
  const std::string format = chosen_format(o.output);
  if (format == "html" && !o.output.to_file() && stdout_is_terminal()) return complain("--format html wants -o FILE", kWrongUsage);
  ProgressDisplay progress;
  auto loaded = load_capture(o.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  const auto model = find_energy_model(o.model, loaded->capture);
  if (!model) return complain(model.error());
  AnalyzeOptions options;
  options.window = o.window;
  options.batch = o.batch;
  options.max_rows = format == "text" ? 0 : o.rows;
  options.energy_model = *model ? &**model : nullptr;
  options.progress = progress.callback();
  std::optional<Context> context;
  auto analysis = loaded->capture.activities.empty() ? analyze_samples(loaded->capture, o, options.energy_model) : analyze(loaded->capture, options, &context);
  progress.wipe();
  if (!analysis) return complain(analysis.error());
  analysis->counters_source = loaded->counters;
  if (analysis->energy.devices.empty()) return complain(o.input.trace + ": no energy: " + analysis->energy.why_missing, kBadInput);
  return give_analysis(o.output, o.input.trace, *analysis, rendered(o, format, *analysis, context));
}

}  // namespace

void add_energy(CLI::App& app, int& exit_code) {
  auto* verb = app.add_subcommand("energy", "where the joules of a recorded run went: static power, units and memory levels, by step, layer and kernel");
  auto o = std::make_shared<Options>();
  add_input_options(*verb, o->input);
  verb->add_option("--model", o->model, "energy model that `calibrate` wrote (default: the one shipped for the capture's GPU)")->option_text("FILE");
  verb->add_option("--window", o->window, "span: all, steps, stable, step:N or START:END")->option_text("W");
  verb->add_option("--batch", o->batch, "items of a step: gives joules per item")->check(CLI::PositiveNumber)->option_text("N");
  verb->add_option("--rows", o->rows, "rows of a table (default: 12 in text, all in the other formats)")->check(CLI::PositiveNumber)->option_text("N");
  add_output_options(*verb, o->output);
  verb->callback([o, &exit_code] { exit_code = energy_of(*o); });
}

}  // namespace gf::cli
