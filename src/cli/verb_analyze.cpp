#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/report_alone.h"
#include "cli/answer_ranks.h"
#include "cli/energy_model.h"
#include "cli/json_line.h"
#include "cli/load_capture.h"
#include "cli/output.h"
#include "cli/peers.h"
#include "cli/progress_display.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "cli/window_option.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/text/analysis.h"

namespace gf::cli {

namespace {

struct AnalyzeArguments {
  InputOptions input;
  std::vector<std::string> more;   // captures of other ranks
  std::vector<std::string> peers;  // the same, to tell waiting apart in the answer for this one
  OutputOptions output;
  std::string window = "auto";
  std::int64_t batch = 0;  // 0: not known
  std::string model;       // energy model, empty: the shipped one
  std::optional<std::size_t> rows;
  bool brief = false;
};

Result<std::string> rendered(const AnalyzeArguments& options, const std::string& format,
                             const Analysis& analysis, const std::optional<Context>& context) {
  if (options.brief) return brief_text(analysis, text_style(options.output.to_file()));
  if (format == "text")
    return analysis_text(analysis, text_style(options.output.to_file()), text_rows(options.rows));
  if (format == "html") return analysis_html(analysis, context ? &*context : nullptr);
  return json_line(analysis);
}

int analyze_files(const AnalyzeArguments& out) {
  const std::string format = chosen_format(out.output);
  if (out.brief && format != "text") return complain("--brief is a form of text", kWrongUsage);
  if (format == "html" && !out.output.to_file() && stdout_is_terminal())
    return complain("--format html wants -o FILE", kWrongUsage);
  ProgressDisplay progress;
  auto loaded = load_capture(out.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  const bool report_alone = holds_only_report(loaded->capture);
  if (report_alone && !out.peers.empty())
    return complain("--ranks wants a trace, not a counter report alone", kWrongUsage);
  if (report_alone) lay_out_report(loaded->capture);
  AnalyzeOptions options;
  options.window = report_alone ? "all" : out.window;
  options.batch = out.batch;
  options.max_rows = other_rows(format, out.rows);
  options.progress = progress.callback();
  const auto model = find_energy_model(out.model, loaded->capture);
  if (!model) return complain(model.error());
  if (*model) options.energy_model = &**model;
  options.kernel_rates = loaded->rates();
  const auto waiting = find_waiting(out.peers, out.input, loaded->capture, options.progress);
  progress.wipe();
  if (!waiting) return complain(waiting.error());
  if (*waiting) options.waiting = &**waiting;
  std::optional<Context> context;
  auto analysis = analyze(loaded->capture, options, &context);
  progress.wipe();
  if (!analysis) return complain(analysis.error(), out.input.trace, loaded->capture);
  analysis->counters_source = loaded->counters;
  if (report_alone) forget_time_line(*analysis);
  const int exit_code = give_analysis(out.output, out.input.trace, *analysis,
                                      rendered(out, format, *analysis, context));
  if (out.input.power.empty() || !analysis->energy.devices.empty()) return exit_code;
  return complain(out.input.trace + ": the answer is not whole: no energy from " + out.input.power +
                      ": " + analysis->energy.why_missing,
                  kBadInput);
}

/// Several captures, or a folder of them, are the ranks of a job: the question is another one.
int analyze_ranks_of(const AnalyzeArguments& options) {
  if (!options.peers.empty())
    return complain("--ranks wants the one capture that is analysed before it", kWrongUsage);
  if (chosen_format(options.output) == "html")
    return complain("several captures are analysed as the ranks of a job, as text or json",
                    kWrongUsage);
  if (!options.input.counters.empty() || !options.input.power.empty())
    return complain("--counters and --power want one capture", kWrongUsage);
  RankInputs input{{options.input.trace}, options.input.max_bytes, options.input.threads};
  input.paths.insert(input.paths.end(), options.more.begin(), options.more.end());
  return answer_ranks(input, options.output, options.rows);
}

}  // namespace

Verb analyze_verb() {
  Verb verb{"analyze", "how deep a recorded run used its GPU"};
  const auto options = std::make_shared<AnalyzeArguments>();
  add_input_options(verb, options->input);
  verb.argument("MORE", options->more,
                "captures of the other ranks of a job: the answer is that of `ranks`")
      .input();
  add_peers_option(verb, options->peers);
  add_window_option(verb, options->window);
  verb.option("--batch", options->batch, "N", "items of a step: gives times and energy per item")
      .positive();
  verb.option(
          "--model", options->model, "FILE",
          "energy model that `calibrate` wrote (default: the one shipped for the capture's GPU)")
      .input();
  verb.flag("--brief", options->brief, "what fits one screen: headline, levels, three findings");
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output);
  verb.run = [options] {
    const bool several = !options->more.empty() || is_folder_of_ranks(options->input.trace);
    return several ? analyze_ranks_of(*options) : analyze_files(*options);
  };
  return verb;
}

}  // namespace gf::cli
