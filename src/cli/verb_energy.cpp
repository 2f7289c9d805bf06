#include <memory>
#include <optional>

#include "analyze/energy/clocks.h"
#include "analyze/energy/model_file.h"
#include "cli/one_capture.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "report/energy_cost.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/text/reports.h"
#include "session/answer.h"
#include "session/job_energy.h"

namespace gf::cli {

namespace {

struct EnergyArguments {
  InputOptions input;
  std::vector<std::string> more;  // captures of the job's other ranks
  Question question;
  OutputOptions output;
  EnergyFactors factors;
  std::optional<std::size_t> rows;
  bool sweep = false;
};

/// Every device at other clocks, by the model that its answer names.
std::vector<ClockSweep> sweeps_of(const EnergyUse& energy, const EnergyFactors& factors) {
  std::vector<ClockSweep> sweeps;
  if (energy.model.empty()) return sweeps;
  const auto file = read_energy_model(energy.model);
  if (!file) return sweeps;
  for (const auto& device : energy.devices)
    if (auto sweep = sweep_clocks(device, file->model, factors.price_of_joule()))
      sweeps.push_back(std::move(*sweep));
  return sweeps;
}

Result<std::string> rendered(const EnergyArguments& options, const std::string& format,
                             const Answer& answer) {
  const Analysis& analysis = answer.analysis;
  if (format == "html") return page_of(answer, PageOrder::energy);
  const EnergyReport report{
      EnergyReport{}.schema,
      analysis.source,
      analysis.counters_source,
      analysis.quality,
      analysis.window,
      analysis.energy,
      energy_costs(analysis, options.factors),
      options.sweep ? sweeps_of(analysis.energy, options.factors) : std::vector<ClockSweep>()};
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

/// Several captures, or a folder of them, are the ranks of a job.
int energy_of_job(const EnergyArguments& out, const std::vector<std::string>& paths) {
  const std::string format = chosen_format(out.output);
  if (format == "html")
    return complain("several captures are the ranks of a job: take text or json", kWrongUsage);
  if (!out.input.counters.empty() || out.sweep)
    return complain("--counters and --sweep require a single capture", kWrongUsage);
  JobEnergyQuestion question;
  question.input = out.input;
  question.ranks = {paths, out.input.max_bytes, out.input.threads};
  question.ranks.graphs = out.input.graphs;
  question.ranks.devices = out.question.devices;
  question.ranks.window = out.question.window;
  question.model = out.question.model;
  question.batch = out.question.batch;
  ProgressDisplay progress;
  const auto answer = measure_job_energy(question, progress.callback());
  progress.wipe();
  if (!answer) return complain(answer.error());
  for (const auto& path : answer->left_out) complain(path + ": skipped: not a capture", kWhole);
  const JobEnergyReport report{JobEnergyReport{}.schema, answer->energy,
                               energy_costs(answer->energy, out.factors)};
  const std::string text =
      format == "json"
          ? json_line(report)
          : job_energy_text(report, text_style(out.output.to_file()), text_rows(out.rows));
  return give_answer(out.output, out.input.trace, answer->missing, text);
}

}  // namespace

Verb energy_verb() {
  Verb verb{"energy", "attribute a run's energy to steps, layers, kernels and memory levels"};
  const auto options = std::make_shared<EnergyArguments>();
  add_input_options(verb, options->input);
  verb.argument("MORE", options->more,
                "captures of the job's other ranks, or their folder instead of FILE: energy of the "
                "job, its ranks and steps, and of waiting for other ranks")
      .input();
  verb.option(
          "--model", options->question.model, "FILE",
          "energy model that `calibrate` wrote (default: the one shipped for the capture's GPU)")
      .input();
  add_window_option(verb, options->question.window);
  add_devices_option(verb, options->question.devices);
  verb.option("--batch", options->question.batch, "N",
              "items per step, of all ranks together: adds joules per item")
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
      .with("--price")
      .with("--co2")
      .from(1, 10);
  verb.flag("--sweep", options->sweep,
            "predict time and energy at other SM clocks, with intervals, and compare with racing "
            "to idle; sets no clock");
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output);
  verb.run = [options] {
    const auto chosen = choose_captures("energy", options->more, options->input);
    if (!chosen.wrong.empty()) return complain(chosen.wrong, kWrongUsage);
    if (chosen.files.size() > 1) return energy_of_job(*options, chosen.paths);
    options->input.trace = chosen.files.front();
    say_earlier(chosen);
    return energy_of(*options);
  };
  return verb;
}

}  // namespace gf::cli
