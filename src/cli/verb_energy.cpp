#include <memory>
#include <optional>

#include "analyze/energy/clocks.h"
#include "analyze/energy/model_file.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "report/energy_cost.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/text/reports.h"
#include "session/answer.h"

namespace gf::cli {

namespace {

struct EnergyArguments {
  InputOptions input;
  Question question;
  OutputOptions output;
  EnergyFactors factors;
  std::optional<std::size_t> rows;
  bool sweep = false;
};

/// Every device at other clocks, by the model that its answer names.
std::vector<ClockSweep> sweeps_of(const EnergyUse& energy) {
  std::vector<ClockSweep> sweeps;
  if (energy.model.empty()) return sweeps;
  const auto file = read_energy_model(energy.model);
  if (!file) return sweeps;
  for (const auto& device : energy.devices)
    if (auto sweep = sweep_clocks(device, file->model)) sweeps.push_back(std::move(*sweep));
  return sweeps;
}

Result<std::string> rendered(const EnergyArguments& options, const std::string& format,
                             const Answer& answer) {
  const Analysis& analysis = answer.analysis;
  if (format == "html") return page_of(answer, PageOrder::energy);
  const EnergyReport report{EnergyReport{}.schema,
                            analysis.source,
                            analysis.counters_source,
                            analysis.quality,
                            analysis.window,
                            analysis.energy,
                            energy_costs(analysis, options.factors),
                            options.sweep ? sweeps_of(analysis.energy) : std::vector<ClockSweep>()};
  if (format == "text")
    return energy_text(report, text_style(options.output.to_file()), text_rows(options.rows));
  return json_line(report);
}

int energy_of(const EnergyArguments& out) {
  const std::string format = chosen_format(out.output);
  if (format == "html" && !out.output.to_file() && stdout_is_terminal())
    return complain("--format html requires -o FILE", kWrongUsage);
  ProgressDisplay progress;
  const auto loaded = load_capture(out.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  Question question = out.question;
  question.max_rows = other_rows(format, out.rows);
  question.progress = progress.callback();
  const auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return complain(answer.error(), out.input.trace, *loaded->capture);
  const EnergyUse& energy = answer->analysis.energy;
  if (energy.devices.empty())
    return complain(out.input.trace + ": no energy: " + energy.why_missing, kBadInput);
  return give_answer(out.output, out.input.trace, answer->missing, rendered(out, format, *answer));
}

}  // namespace

Verb energy_verb() {
  Verb verb{"energy", "attribute a run's energy to steps, layers, kernels and memory levels"};
  const auto options = std::make_shared<EnergyArguments>();
  add_input_options(verb, options->input);
  verb.option(
          "--model", options->question.model, "FILE",
          "energy model that `calibrate` wrote (default: the one shipped for the capture's GPU)")
      .input();
  add_window_option(verb, options->question.window);
  add_devices_option(verb, options->question.devices);
  verb.option("--batch", options->question.batch, "N", "items per step: adds joules per item")
      .positive();
  verb.option("--price", options->factors.price, "N",
              "price per kilowatt-hour: adds the cost of a run, step, item, token and request")
      .not_negative();
  verb.option("--co2", options->factors.co2_grams, "GRAMS",
              "grams of CO2 per kilowatt-hour: adds the emissions of the same")
      .not_negative();
  verb.option("--site-overhead", options->factors.overhead, "F",
              "joules that the site, with hosts and cooling, takes per GPU joule, for --price and "
              "--co2 (default: 1, the GPUs alone)")
      .from(1, 10);
  verb.flag("--sweep", options->sweep,
            "predict time and energy at other SM clocks, with intervals, and compare with racing "
            "to idle; sets no clock");
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output);
  verb.run = [options] { return energy_of(*options); };
  return verb;
}

}  // namespace gf::cli
