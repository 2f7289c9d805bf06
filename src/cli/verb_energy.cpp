#include <memory>
#include <optional>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
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
  std::optional<std::size_t> rows;
};

Result<std::string> rendered(const EnergyArguments& options, const std::string& format,
                             const Answer& answer) {
  const Analysis& analysis = answer.analysis;
  if (format == "html") return page_of(answer, PageOrder::energy);
  const EnergyReport report{EnergyReport{}.schema, analysis.source, analysis.counters_source,
                            analysis.quality,      analysis.window, analysis.energy};
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
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output);
  verb.run = [options] { return energy_of(*options); };
  return verb;
}

}  // namespace gf::cli
