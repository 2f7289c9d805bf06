#include <memory>
#include <optional>

#include "analyze/analyze.h"
#include "analyze/work/host_work.h"
#include "analyze/work/work.h"
#include "cli/ceilings_file.h"
#include "cli/energy_model.h"
#include "cli/json_line.h"
#include "cli/load_capture.h"
#include "cli/output.h"
#include "cli/peers.h"
#include "cli/progress_display.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "cli/window_option.h"
#include "report/json.h"
#include "report/text/work.h"

namespace gf::cli {

namespace {

struct WorkArguments {
  InputOptions input;
  OutputOptions output;
  std::vector<std::string> peers;  // captures of other ranks
  std::string window = "auto", ceilings;
  std::int64_t batch = 0;  // 0: not known
  std::optional<std::size_t> rows;
};

std::string rendered(const WorkArguments& asked, const std::string& format, const WorkUse& use) {
  if (format == "text")
    return work_text(use, text_style(asked.output.to_file()), text_rows(asked.rows));
  return json_line(use);
}

int work_of_file(const WorkArguments& asked) {
  const std::string format = chosen_format(asked.output);
  if (format == "html") return complain("work gives text or json", kWrongUsage);
  ProgressDisplay progress;
  auto loaded = load_capture(asked.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  AnalyzeOptions options;
  options.window = asked.window;
  options.batch = asked.batch;
  options.max_rows = other_rows(format, asked.rows);
  options.progress = progress.callback();
  const auto ceilings = find_ceilings(asked.ceilings, loaded->capture);
  if (!ceilings) return complain(ceilings.error());
  const auto waiting = find_waiting(asked.peers, asked.input, loaded->capture, options.progress);
  progress.wipe();
  if (!waiting) return complain(waiting.error());
  if (*waiting) options.waiting = &**waiting;
  if (has_host_work_alone(loaded->capture)) {
    const auto use = measure_host_work(loaded->capture, options);
    if (!use) return complain(use.error());
    const auto written = write_answer(asked.output, rendered(asked, format, *use));
    return written ? kWhole : complain(written.error());
  }
  const auto model = find_energy_model({}, loaded->capture);
  if (!model) return complain(model.error());
  if (*model) options.energy_model = &**model;
  options.kernel_rates = loaded->rates();
  std::optional<Context> context;
  auto analysis = analyze(loaded->capture, options, &context);
  progress.wipe();
  if (!analysis) return complain(analysis.error(), asked.input.trace, loaded->capture);
  analysis->counters_source = loaded->counters;
  const WorkUse use = measure_work(*context, *analysis, *ceilings ? &**ceilings : nullptr);
  return give_analysis(asked.output, asked.input.trace, *analysis, rendered(asked, format, use));
}

}  // namespace

Verb work_verb() {
  Verb verb{"work", "how many operations and bytes a run needed, and where the peak went"};
  const auto options = std::make_shared<WorkArguments>();
  add_input_options(verb, options->input);
  add_peers_option(verb, options->peers);
  add_window_option(verb, options->window);
  verb.option("--batch", options->batch, "N", "items of a step; without it shapes tell them")
      .positive();
  verb.option("--ceilings", options->ceilings, "FILE",
              "what `ceilings -o` measured (default: the shipped file for the capture's GPU)")
      .input();
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output);
  verb.run = [options] { return work_of_file(*options); };
  return verb;
}

}  // namespace gf::cli
